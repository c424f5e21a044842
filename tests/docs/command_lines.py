"""Lines of shell in; the commands of ours in them, and what is wrong with each, out: nothing is run."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
OURS = ("lm-eval-strict", "lm_eval", "make")
OPERATORS = re.compile(r"[|&;<>()]+|!|if|while|then|do|else|\{|\}")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
# A variable stands for one word that is also a number; RUN_OPTIONS-like lists are checked where they are set.
VARIABLE = re.compile(r"\$\{?\w+\}?")
HERE_DOCUMENT = re.compile(r"<<'(\w+)'.*?^\1$", re.DOTALL | re.MULTILINE)
REDIRECTION = re.compile(r"""\d?(?:>>?|<)\s*(?:&\d|"[^"]*"|[^\s;|]+)""")


def simple_commands(shell: str) -> Iterator[list[str]]:
    """Yield the words of each simple command of a shell text, those inside $(...) too."""
    for inner in re.findall(r"\$\(([^()]*)\)", shell):
        yield from simple_commands(inner)
    text = re.sub(r"\$\([^()]*\)", "1", HERE_DOCUMENT.sub("", shell).replace("\\\n", " "))
    for line in REDIRECTION.sub("", VARIABLE.sub("1", text)).split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if not OPERATORS.fullmatch(word):
                words.append(word)
                continue
            if words:
                yield words
            words = []


def commands_of_ours(shell: str) -> list[list[str]]:
    """List the simple commands that call this pack, lm_eval or make; the program's path is cut off."""
    found = []
    for words in simple_commands(shell):
        while words and ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]
        if words and Path(words[0]).name in OURS:
            found.append([Path(words[0]).name, *words[1:]])
    return found


def fault_of(words: list[str]) -> str:
    """Say what is wrong with a command, empty where each command, option, value and target exists."""
    if words[0] == "make":
        targets = {word for word in words[1:] if not word.startswith("-") and "=" not in word}
        return "".join(f"no target {name}" for name in sorted(targets - make_targets()))
    if words[0] == "lm_eval":
        return _fault_of_lm_eval(words[1:])
    if not words[1:] or words[1] == "run":
        return _fault_of_lm_eval([word for word in words[2:] if word not in ("--dry-run", "--help")])
    command = _commands().get(words[1])
    if command is None:
        return f"no command {words[1]}"
    try:
        command.make_context(words[1], [word for word in words[2:] if word != "--help"])
    except Exception as fault:
        return f"{words[1]}: {fault}"
    return ""


def make_targets() -> set[str]:
    """Name the targets of the Makefile that are meant for people."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


@functools.cache
def _commands() -> dict[str, Any]:
    from typer.main import get_command

    from lm_eval_strict.report.cli import build_app

    group: Any = get_command(build_app())
    return dict(group.commands)


@functools.cache
def _lm_eval_options() -> set[str]:
    """Name the options of ``lm_eval run``: its own parser would exit, and print, at a wrong one."""
    from lm_eval._cli import HarnessCLI

    run = HarnessCLI()._subparsers.choices["run"]
    return {option for action in run._actions for option in action.option_strings}


def _fault_of_lm_eval(words: list[str]) -> str:
    options = {word.split("=")[0] for word in words if re.match(r"-[-a-zA-Z]", word)}
    unknown = sorted(options - _lm_eval_options())
    return f"lm_eval has no {', '.join(unknown)}" if unknown else ""
