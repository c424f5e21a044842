from __future__ import annotations

import re

import pytest
import yaml

from lm_eval_strict.filters.task_spec import UnknownTask, read_task, task_names, tasks_folder

FROZEN = [name for name in task_names() if re.search(r"_v\d+$", name)]
ALIASES = [name for name in task_names() if name not in FROZEN]


def resolved(name: str) -> dict:
    from lm_eval.tasks._yaml_loader import load_yaml

    return load_yaml(tasks_folder() / f"{name}.yaml", resolve_func=False)


@pytest.mark.parametrize("name", task_names())
def test_file_name_is_task_name(name: str) -> None:
    assert resolved(name)["task"] == name


@pytest.mark.parametrize("name", ALIASES)
def test_alias_adds_nothing_to_its_frozen_major(name: str) -> None:
    frozen = resolved(read_task(name).frozen_name)
    assert {**resolved(name), "task": None} == {**frozen, "task": None}


@pytest.mark.parametrize("name", ALIASES)
def test_alias_stands_for_the_newest_major(name: str) -> None:
    majors = [int(frozen.rpartition("_v")[2]) for frozen in FROZEN if frozen.rpartition("_v")[0] == name]
    assert read_task(name).frozen_name == f"{name}_v{max(majors)}"


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_task_names_itself_to_the_loader(name: str) -> None:
    assert resolved(name)["dataset_kwargs"]["strict_task"] == name


@pytest.mark.parametrize("name", task_names())
def test_replies_equal_repeats(name: str) -> None:
    declared = resolved(name)
    assert declared["dataset_kwargs"]["strict_replies"] == declared["repeats"]


@pytest.mark.parametrize("name", task_names())
def test_version_is_a_quoted_three_part_string(name: str) -> None:
    version = resolved(name)["metadata"]["version"]
    assert isinstance(version, str) and re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert read_task(name).frozen_name.endswith(f"_v{version.split('.')[0]}")


@pytest.mark.parametrize("name", task_names())
def test_nothing_is_left_to_lm_evals_defaults(name: str) -> None:
    declared = resolved(name)
    assert declared["num_fewshot"] == 0
    assert declared["generation_kwargs"]["until"], (
        "some servers refuse an empty list, lm-eval adds its own to none"
    )
    assert "unsafe_code" not in declared
    assert len(declared["generation_kwargs"]["until"]) <= 4, "OpenAI-style servers take at most 4 stops"
    sampled = declared["repeats"] > 1
    assert declared["generation_kwargs"]["do_sample"] is sampled


@pytest.mark.parametrize("name", task_names())
def test_declared_metrics_are_those_that_scoring_returns(name: str) -> None:
    from lm_eval_strict.filters.glue import score_document

    spec = read_task(name)
    doc = {"task_id" if spec.kind == "code" else "unique_id": "x"}
    doc["strict"] = {"task": spec.frozen_name, "replies": spec.replies}
    rows = [{"verdict": "raised" if spec.kind == "code" else "wrong"}] * spec.replies
    declared = [metric["metric"] for metric in resolved(name)["metric_list"]]
    assert list(score_document(doc, [rows])) == declared == sorted(declared)


def test_duplicate_keys_are_not_in_any_yaml() -> None:
    """The last duplicate key would win, silently."""

    def keys_once(node: yaml.Node) -> None:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        keys = [key.value for key, _ in pairs]
        assert len(keys) == len(set(keys)), f"{path.name}: {keys}"
        for child in [value for _, value in pairs] or (node.value if isinstance(node.value, list) else []):
            if isinstance(child, yaml.Node):
                keys_once(child)

    for path in tasks_folder().glob("*.yaml"):
        keys_once(yaml.compose(path.read_text(), Loader=yaml.SafeLoader))


def test_no_python_stands_beside_a_yaml() -> None:
    assert [path.name for path in tasks_folder().glob("*.py")] == ["__init__.py"]
    assert not re.search(r"^(import|from) ", (tasks_folder() / "__init__.py").read_text(), flags=re.MULTILINE)


def test_unknown_task_names_its_neighbours() -> None:
    with pytest.raises(UnknownTask, match="humaneval_strict"):
        read_task("humanevl_strict")


def test_every_yaml_is_loaded_by_lm_eval() -> None:
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(tasks_folder()), include_defaults=False)
    assert set(task_names()) <= set(manager.all_tasks)


def test_yaml_without_our_tag_is_plain_data() -> None:
    for path in tasks_folder().glob("*.yaml"):
        tags = set(re.findall(r"!\S+", path.read_text()))
        assert tags <= {"!function"}, path.name
        yaml.safe_load(path.read_text().replace("!function", ""))
