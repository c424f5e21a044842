"""What a comparison of an answer with a gold decides, before it becomes a judgement."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Decision:
    """Whether the answer is right, the equality that decided, how the answer was read, the disputed rule.

    ``debatable`` is the rule's short name; with the rule the other way, the verdict would be the other one.
    """

    right: bool
    comparison: str
    debatable: str = ""
    read_answer: str = ""

    def by(self, comparison: str) -> Decision:
        """Return the decision with a right answer's comparison told more closely."""
        return replace(self, comparison=comparison) if self.right else self

    def noted(self, *rules: str) -> Decision:
        """Return a right answer's decision with the first of these rules named, unless one is named already.

        A wrong answer stays as it is: a rule that let it pass would have to be told to ``decided``.
        """
        if not self.right or self.debatable:
            return self
        return replace(self, debatable=next((rule for rule in rules if rule), ""))


def decided(right: bool, comparison: str, *rules: str) -> Decision:
    """Return a decision; the first rule that is not empty is named: it would turn the verdict."""
    return Decision(right, comparison, next((rule for rule in rules if rule), ""))
