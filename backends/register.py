"""lm-eval's table of models goes in; it leaves with `anthropic-batches` in it."""

from __future__ import annotations

NAME = "anthropic-batches"
TARGET = "lm_eval_strict.backends.anthropic_batches:AnthropicBatches"


def register_backends() -> None:
    """Make ``--model anthropic-batches`` known to lm-eval in this process; calling it twice is harmless.

    The SDK is imported only when the model is made.
    """
    # lm-eval fills its table by this import, and later only while the table is empty: its models come first.
    import lm_eval.models  # noqa: F401
    from lm_eval.api.registry import model_registry

    if NAME not in model_registry:
        model_registry.register(NAME, target=TARGET)
