"""Find secrets in the lines that a commit would add.

Only unmistakable formats are searched for, because a scan with false alarms gets switched off. Lines that the
repository already contains are not searched, so existing test keys block no commit.
"""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

from journeyman.access.redaction import Redactor

PATCH = ("-r", "-p", "-a", "-U0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv",
         "--output-indicator-new=>", "--output-indicator-old=<")  # fmt: skip
"""How git has to write the patch: with these marks no line of a file can pass for a line of the patch."""

_KINDS = {
    "a private key": r"-----BEGIN (?:[A-Z]+ ){0,2}PRIVATE KEY(?: BLOCK)?-----",
    "an AWS access key": r"\b(?:AKIA|ASIA)(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}\b",
    "a GitHub token": r"\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{60,}",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "an Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{30,}",
    "an OpenAI key": r"\bsk-(?:proj|svcacct|admin)-[\w-]{40,}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
    "a Google key": r"\bAIza[A-Za-z0-9_-]{35}",
    "a Slack token": r"\bxox[abeoprs]-(?:[0-9]+-)+[A-Za-z0-9]{16,}",
}
_KNOWN = "a secret of this server"
_PATTERN = re.compile("|".join(f"({pattern})" for pattern in _KINDS.values()))
_FILE = "\n+++ "
_HUNK = re.compile(r"\n@@ -\S+ \+(\d+)\S* @@")


@dataclass(frozen=True)
class FoundSecret:
    path: bytes
    line: int
    kind: str


def find_secrets(patch: bytes, known: Iterable[str] = ()) -> list[FoundSecret]:
    """The secrets in the added lines of a patch that was made with `PATCH`."""
    text = "\n" + patch.decode("latin-1")  # a character for each byte, so that any file can be looked at
    kinds = tuple(_KINDS)
    places = [(found.start(), kinds[(found.lastindex or 1) - 1]) for found in _PATTERN.finditer(text)]
    places += [(place, _KNOWN) for place in Redactor(known).places_in(text)]
    return [found for place, kind in sorted(places) if (found := _located(text, place, kind)) is not None]


def _located(text: str, place: int, kind: str) -> FoundSecret | None:
    line_start = text.rindex("\n", 0, place) + 1
    if text[line_start] != ">":
        return None
    named = text.rindex(_FILE, 0, line_start) + len(_FILE)
    *_, hunk = _HUNK.finditer(text, named, line_start)
    line = int(hunk[1]) + text.count("\n>", hunk.end(), line_start)
    return FoundSecret(_path(text[named : text.index("\n", named)]), line, kind)


def _path(written: str) -> bytes:
    """A path as a patch names it: after `b/`; in quotes, or with a tab at its end, where it is odd."""
    if written.startswith('"'):
        unquoted, _ = codecs.escape_decode(written.strip("\t")[1:-1].encode("latin-1"))
        return unquoted.removeprefix(b"b/")
    return written.rstrip("\t").encode("latin-1").removeprefix(b"b/")
