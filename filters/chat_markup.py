"""A visible reply comes in; its own turn goes out, without special tokens and turns the model made up."""

from __future__ import annotations

import re

from .source_lines import scan_line

_LONG_LINE = 1000

# Tokens that begin a turn or a text: what stands before the first answer is no part of it.
_OPENERS = re.compile(
    r"<\|(?:im_start|start_header_id|begin_of_text|startoftext|start|header_start)\|>(?:\s*(?:assistant|model)\b)?"
    r"|<[｜|]begin[▁_]of[▁_]sentence[｜|]>|<\|end_header_id\|>|<\|header_end\|>|<\|message\|>"
    r"|<start_of_turn>(?:model)?|<\|(?:assistant|ASSISTANT)\|>|<[｜|]Assistant[｜|]>|<BOS_TOKEN>|<bos>"
    r"|<\|(?:START_RESPONSE|START_OF_TURN_TOKEN|CHATBOT_TOKEN)\|>|<s>(?=\s*\S)|<\|python_tag\|>"
)
# Tokens that end the turn: nothing after them was meant for the reader.
_ENDERS = re.compile(
    r"<\|(?:im_end|endoftext|eot_id|end_of_text|end|return|eom_id|eot|user|system|fim_pad|END_RESPONSE"
    r"|END_OF_TURN_TOKEN|fim_end|fim_middle|file_sep|file_separator)\|>|<file_sep>|<EOT>|<filename>|<reponame>|<fim_\w{3,6}>"
    r"|<[｜|]end[▁_]of[▁_]sentence[｜|]>|<[｜|](?:User|EOT)[｜|]>|<\|EOT\|>|<end_of_turn>|<eos>|<EOS_TOKEN>|</s>"
    r"|\[/?INST\]|<<SYS>>"
)
# A made-up next turn: a template's headline on a line of its own.
_NEXT_TURN = re.compile(
    r"^(?:#{2,4} ?(?:Instructions?|Input|User|Human|Question|Problem|Task|Exercise)\b ?\d*:?[ \t]*$"
    r"|(?:\*\*)?(?:Human|User|USER|HUMAN|Instruction|Q)(?:\*\*)?:(?:\*\*)?(?:[ \t]|$))",
    re.MULTILINE,
)
_OWN_TURN = re.compile(r"^#{2,4} ?(?:Response|Answer|Assistant|Output|Solution):?[ \t]*$", re.MULTILINE)


def own_turns(text: str) -> list[str]:
    """Return what may be the model's own first turn: cut at a made-up next turn, then without that cut."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith("[INST]"):
        text = text.partition("[/INST]")[2] or text
    text = _OPENERS.sub(lambda match: match.group() if _in_string(match) else "", text)
    ended = _cut(text, _ENDERS)
    return list(dict.fromkeys([_cut(ended, _NEXT_TURN), ended, text]))


def _in_string(match: re.Match[str]) -> bool:
    """Tell whether a token stands in a string of a program: there it is data."""
    text = match.string
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    line = text[start : end if end >= 0 else len(text)]
    if len(line) > _LONG_LINE:
        return False
    place = match.start() - start
    for begin, stop in scan_line(line).spans:
        if begin < place < stop - 1:
            return line[begin] != "#" and line[begin] == line[stop - 1]
    return False


def _cut(text: str, mark: re.Pattern[str]) -> str:
    """Cut ``text`` at the first ``mark`` that has something before it; a leading mark is only dropped."""
    begin = 0
    for match in mark.finditer(text):
        if _in_string(match):
            continue
        if re.search(r"\w", _OWN_TURN.sub("", text[begin : match.start()])):
            return text[: match.start()]
        begin = match.end()
    return text
