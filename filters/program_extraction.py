"""A raw reply comes in; the program that it hands in goes out, with the rule that found it.

The order of the rules: the last code block that defines the function in full (a later one corrects an
earlier one); code outside fences; code inside JSON, an escaped text or an indented passage; a body that goes
on with the prompt. A stub that restates the prompt is handed on only where there is nothing else. Model text
is parsed and never run.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .assemble_program import assemble
from .chat_markup import own_turns
from .code_blocks import Block, find_blocks
from .continuation import complete
from .continued_blocks import join_continued
from .entry_point import Definition, definition_of, method_binding
from .markup_text import indented_passage, late_start, strip_tags, without_fences, written_strings
from .patched_blocks import apply_patches
from .rows import ExtractedProgram, Truncated
from .statements import Source, read_source
from .thinking import cut_thinking

MODES = ("chat", "base", "gen_prefix")
_NESTING = 3
# Rules under which the program defines the function in full.
_DEFINING = frozenset(
    {"fenced_block", "unfenced_code", "indented_code", "written_string", "continuation", "body_only"}
)
# Prose that introduces a block as what not to do, unless it speaks of an earlier one.
_WARNS = re.compile(
    r"\b(?:(?:do not|don't|never|avoid) (?:write|writing|use|using|do|doing|implement|code|try)"
    r"|(?:mistake|pitfall)s?\b.*\b(?:is|are|would be)|mistakes?:"
    r"|(?:incorrect|wrong|buggy|bad|broken) "
    r"(?:version|way|approach|solution|implementation|code|example|answer))\b",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\b(?:correct(?:ed|ion)?|fix(?:ed|es)?|instead|final|better|improved|updated|above|previous|earlier|that|my)\b",
    re.IGNORECASE,
)


def extract_program(reply: str, *, prompt: str, entry_point: str, mode: str = "chat") -> ExtractedProgram:
    """Find the program that ``reply`` hands in for the function ``entry_point`` of ``prompt``.

    ``mode`` is how the model was asked: ``chat`` (a reply of its own), ``base`` (text that goes on where the
    prompt ends) or ``gen_prefix`` (the same inside a code fence that was opened for it). Never raises for any
    text of a reply. Raises ValueError for an unknown mode.
    """
    if mode not in MODES:
        raise ValueError(f"mode={mode!r} is not one of {', '.join(MODES)}")
    task = _Task(prompt, entry_point)
    visible, unclosed = cut_thinking(reply) if mode != "base" else (reply, False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = task.read(own_turns(visible), mode)
    return replace(found, truncated=Truncated.LIKELY) if unclosed else found


@dataclass(frozen=True)
class _Found:
    """What defines the function: the index of its source and, for a method, the line that binds it."""

    index: int
    binding: str | None


@dataclass(frozen=True)
class _Task:
    prompt: str
    entry_point: str

    def read(self, texts: Sequence[str], mode: str) -> ExtractedProgram:
        """Read the first of ``texts`` that hands in the function, else the first."""
        results = []
        for text in texts:
            try:
                found = self.from_chat(text) if mode == "chat" else self.from_continuation(text, mode)
            except (RecursionError, MemoryError):
                found = ExtractedProgram(text or None, "unread_text", ("too_deep",))
            if found.rule in _DEFINING:
                return found
            results.append(found)
        return results[0]

    def from_chat(self, text: str, depth: int = 0) -> ExtractedProgram:
        """Read a reply that stands for itself."""
        blocks, outside = find_blocks(text)
        blocks = apply_patches(join_continued(blocks))
        cut_off = Truncated.LIKELY if blocks and not blocks[-1].closed else Truncated.NO
        sources = [read_source(block.text, open_end=not block.closed) for block in blocks]
        for candidates, rule in self._readings(text, blocks, sources):
            found = self._find(candidates, self._warned(blocks) if rule == "fenced_block" else frozenset())
            if found is not None:
                if rule == "fenced_block":
                    candidates = [read_source(outside), *candidates]
                    found = replace(found, index=found.index + 1)
                return replace(self._assemble(candidates, found, rule), truncated=cut_off)
        if depth < _NESTING:
            for inner in written_strings(text, [block.text for block in blocks], self.entry_point):
                program = self.from_chat(inner, depth + 1)
                if program.rule in ("fenced_block", "unfenced_code", "written_string"):
                    return replace(program, rule="written_string")
        return replace(self._last_resorts(text, blocks, sources), truncated=cut_off)

    def _readings(
        self, text: str, blocks: Sequence[Block], sources: list[Source]
    ) -> Iterator[tuple[list[Source], str]]:
        """Yield the ways to read the reply, the most trusted first."""
        pairs = zip(blocks, sources, strict=True)
        yield [s if b.names_python else _empty(s) for b, s in pairs], "fenced_block"
        yield sources, "fenced_block"
        yield [read_source(strip_tags(text), open_end=True)], "unfenced_code"
        passage = indented_passage(text, self.entry_point)
        if passage:
            yield [read_source(passage, open_end=True)], "indented_code"
        if blocks or "`" in text:
            yield [read_source(without_fences(text), open_end=True)], "unfenced_code"
        late = late_start(text, self.entry_point)
        if late:
            yield [read_source(late, open_end=True)], "unfenced_code"

    @staticmethod
    def _warned(blocks: Sequence[Block]) -> frozenset[int]:
        """Find the blocks, but for the first, that the text before them calls wrong."""
        lines = [(index, block.introduction) for index, block in enumerate(blocks) if index]
        return frozenset(i for i, line in lines if _WARNS.search(line) and not _CORRECTS.search(line))

    def _find(self, sources: Sequence[Source], warned: frozenset[int] = frozenset()) -> _Found | None:
        """Find the last source that defines the function in full; a cut-off or a warned one only alone."""
        second: _Found | None = None
        for index in range(len(sources) - 1, -1, -1):
            found = self._find_in(sources, index)
            if found is None:
                continue
            if index not in warned and not self._is_cut(sources[index]):
                return found
            second = second or found
        return second

    def _find_in(self, sources: Sequence[Source], index: int) -> _Found | None:
        statements = sources[index].statements
        if any(definition_of(s, self.entry_point) is Definition.FULL for s in statements):
            return _Found(index, None)
        for statement in reversed(statements):
            binding = method_binding(statement, self.entry_point)
            if binding:
                return _Found(index, binding)
        return None

    def _is_cut(self, source: Source) -> bool:
        """Tell whether the text was cut off inside the function."""
        return (
            source.trimmed
            and bool(source.statements)
            and self.entry_point in source.statements[-1].names.binds
        )

    def _assemble(self, sources: Sequence[Source], found: _Found, rule: str) -> ExtractedProgram:
        program, repairs = assemble(
            sources, found.index, prompt=self.prompt, entry_point=self.entry_point, binding=found.binding
        )
        source = sources[found.index]
        cut = Truncated.LIKELY if source.trimmed else Truncated.NO
        return ExtractedProgram(program, rule, (*source.mends, *repairs), cut)

    def from_continuation(self, text: str, mode: str) -> ExtractedProgram:
        """Read a reply that goes on where the prompt ends."""
        done = complete(self.prompt, text)
        if mode == "gen_prefix" and not re.match(r"\s*(?:`{3}|~{3})", text):
            text = "```python\n" + text  # the fence that the prompt opened
        chat = None if done and mode == "base" else self.from_chat(text)
        fenced = chat is not None and chat.rule == "fenced_block"
        if done is None:
            return chat or ExtractedProgram(None, "nothing")
        sources = [read_source(done.text), read_source(done.rest, open_end=True)]
        if self._find(sources[:1]) is None or fenced:
            if chat is None:
                chat = self.from_chat(text)
            if chat.program is not None and chat.rule in ("fenced_block", "unfenced_code"):
                return chat
        program, repairs = assemble(sources, 0, prompt="", entry_point=self.entry_point, corrections=False)
        rule = "continuation" if self._find(sources[:1]) else "stub"
        cut = Truncated.LIKELY if done.trimmed else Truncated.NO
        return ExtractedProgram(program, rule, (*done.mends, *repairs), cut)

    def _last_resorts(
        self, text: str, blocks: Sequence[Block], sources: Sequence[Source]
    ) -> ExtractedProgram:
        """Read a body without its head, a broken definition, a stub, or code without the function."""
        for body in [*(block.text for block in reversed(blocks)), text]:
            done = complete(self.prompt, body) if re.search(r"\b(?:return|yield)\b", body) else None
            own = [read_source(done.text)] if done is not None else []
            if done is not None and self._find(own):
                program, repairs = assemble(own, 0, prompt="", entry_point=self.entry_point)
                return ExtractedProgram(program, "body_only", (*done.mends, *repairs))
        every = [*sources, read_source(strip_tags(text), open_end=True)]
        for source in reversed(every):
            for broken in source.broken:
                if re.search(rf"\bdef[ \t]+{re.escape(self.entry_point)}\b", broken):
                    return ExtractedProgram(source.text, "broken_code", source.mends)
        for index, source in enumerate(every):
            if any(definition_of(s, self.entry_point) is Definition.STUB for s in source.statements):
                program, repairs = assemble(every, index, prompt=self.prompt, entry_point=self.entry_point)
                return ExtractedProgram(program, "stub", repairs)
        for block, source in zip(blocks, sources, strict=True):
            if block.names_python and source.statements:
                return ExtractedProgram(source.text, "other_code", source.mends)
        if any(s.source.startswith(("def ", "class ")) for s in every[-1].statements):
            return ExtractedProgram("\n".join(s.source for s in every[-1].statements) + "\n", "other_code")
        return ExtractedProgram(None, "nothing")


def _empty(source: Source) -> Source:
    return replace(source, statements=(), broken=())
