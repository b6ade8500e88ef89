"""Compare in a process of its own, which can be killed, unless there is little to compare.

A parser cannot be interrupted and holds the interpreter's lock, and sources of a few hundred kilobytes keep
it busy for minutes. The file that it did not come back from is left out, shown as not compared, and the rest
is compared again.
"""

import asyncio
import json
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from journeyman.git.process import run_process
from journeyman.verification.tampering.changed_file import ChangedFile
from journeyman.verification.tampering.findings import TamperFinding
from journeyman.verification.tampering.report import find_tampering

SECONDS = 20.0
"""Of processor time for one comparison. Of the clock it may take three times as long: machines are shared."""
MEMORY_BYTES = 2_000_000_000
_SMALL_BYTES = 16_000
"""The slowest parser is done with so little before a process has started."""
_MAX_ATTEMPTS = 4
_MAX_OUTPUT = 10_000_000


async def find_tampering_apart(
    files: Sequence[ChangedFile],
    *,
    collected_on_base: Collection[str] = (),
    collected_on_head: Collection[str] = (),
    seconds: float = SECONDS,
) -> tuple[TamperFinding, ...]:
    """As `find_tampering`; never longer than a few times `seconds`."""
    if sum(len(one.base or b"") + len(one.head or b"") for one in files) <= _SMALL_BYTES:
        return await asyncio.to_thread(
            find_tampering,
            files,
            collected_on_base=collected_on_base,
            collected_on_head=collected_on_head,
        )
    left = list(files)
    hung: list[str] = []
    for _ in range(_MAX_ATTEMPTS):
        question = {
            "files": [_as_json(one) for one in left],
            "collected_on_base": list(collected_on_base),
            "collected_on_head": list(collected_on_head),
            "seconds": seconds,
        }
        findings, path = await _ask(json.dumps(question).encode(), seconds * 3)
        if findings is not None:
            return (*(_not_compared(one) for one in hung), *findings)
        if not path:
            break
        hung.append(path)
        left = [one for one in left if one.path != path]
    return tuple(_not_compared(one.path) for one in files)


async def _ask(question: bytes, seconds: float) -> tuple[list[TamperFinding] | None, str]:
    """The findings, or None and the file at which the process ended."""
    output = bytearray()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await run_process(
                (sys.executable, "-I", "-m", "journeyman.verification.tampering"),
                cwd="/",
                env={},
                stdin=question,
                limit=_MAX_OUTPUT,
                each=output.extend,
            )
    path = ""
    for line in output.splitlines():
        with suppress(ValueError):
            answer = json.loads(line)
            if "findings" in answer:
                return [_finding(one) for one in answer["findings"]], ""
            path = answer["path"]
    return None, path


def _as_json(file: ChangedFile) -> dict[str, Any]:
    """Latin-1 gives every byte a character, and back."""
    base, head = (one.decode("latin-1") if one is not None else None for one in (file.base, file.head))
    return {"path": file.path, "is_complete": file.is_complete, "base": base, "head": head}


def _finding(answer: dict[str, Any]) -> TamperFinding:
    return TamperFinding(**{**answer, "lines": tuple(answer["lines"]) if answer["lines"] else None})


def as_line(**answer: object) -> str:
    """One line of the process's answer."""
    findings = answer.get("findings")
    if isinstance(findings, tuple):
        answer["findings"] = [asdict(one) for one in findings]
    return json.dumps(answer)


def _not_compared(path: str) -> TamperFinding:
    detail = "The file could not be read in time, so its tests and settings were not compared."
    return TamperFinding(kind="not_compared", path=path, lines=None, detail=detail, severity="ask")
