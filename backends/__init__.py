"""Who answers: language models that lm-eval does not ship."""

from .register import register_backends

__all__ = ["register_backends"]
