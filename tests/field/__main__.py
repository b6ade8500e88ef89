"""`make field`: every repository of the suite, beside its own commands by hand; prints a table.

python -m tests.field [NAME ...] [--in DIRECTORY]

The rows are those of a Markdown table, for `docs/reference/real-repositories.md`.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.field.bring import bring, checkout
from tests.field.by_hand import Result, by_hand, missing
from tests.field.product import agrees, check, served
from tests.field.projects import PROJECTS, FieldProject

_WIDTHS = (27, 36, 6, 42, 42, 9)
_HEAD = ("repository", "ecosystem", "agrees", "`jm doctor`", "by hand", "seconds", "why")
_LONGEST_REASON = 200


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.field")
    parser.add_argument("names", nargs="*", help="parts of names; all where none is given")
    parser.add_argument("--in", dest="directory", type=Path, help="where to work; kept afterwards")
    given = parser.parse_args()
    chosen = [one for one in PROJECTS if not given.names or any(name in one.name for name in given.names)]
    directory = given.directory or Path(tempfile.mkdtemp(prefix="journeyman-field-"))
    try:
        (directory / "home").mkdir(parents=True, exist_ok=True)
        _print(*_HEAD)
        _print(*("-" * width for width in _WIDTHS), "-" * len(_HEAD[-1]))
        with served(directory / "home") as url:
            agreed = [_row(project, directory, url) for project in chosen]
    finally:
        if given.directory is None:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"\n{sum(agreed)} of {len(agreed)} agree")
    return 0 if all(agreed) else 1


def _row(project: FieldProject, directory: Path, url: str) -> bool:
    if absent := missing(project):
        return _not_run(project, f"there is no {', '.join(absent)}")
    try:
        repository = bring(project, directory / "repositories")
    except subprocess.CalledProcessError:
        return _not_run(project, "the repository cannot be fetched")
    ours = check(project, repository, url)
    with tempfile.TemporaryDirectory(dir=directory) as place:
        began = time.monotonic()
        hand = by_hand(project, checkout(repository, Path(place) / "tree"), Path(place) / "home")
        hand = replace(hand, seconds=time.monotonic() - began)
    same = agrees(project, ours, hand)
    seconds = f"{ours.seconds:.0f} / {hand.seconds:.0f}"
    words = _said(ours), _said(hand), seconds, _reason(project, ours, hand, same)
    _print(project.name, project.ecosystem, "yes" if same else "**no**", *words)
    return same


def _not_run(project: FieldProject, why: str) -> bool:
    _print(project.name, project.ecosystem, "**no**", "not run", "not run", "", why)
    return False


def _said(result: Result) -> str:
    if not result.counts:
        return result.outcome
    numbers = str(result.counts)
    if result.outcome == "environment":
        numbers = numbers.replace("failed", "not run")
    return f"{result.outcome} ({numbers})"


def _reason(project: FieldProject, ours: Result, hand: Result, same: bool) -> str:
    """Nothing where both passed; both sides where they differ."""
    if not same:
        return f"{ours.detail} // {hand.detail}"
    if ours.outcome == hand.outcome == "passed":
        return ""
    if project.flaky:
        return f"{project.flaky} tests pass only sometimes, by hand too"
    if project.lacks:
        return f"there is no {project.lacks.removeprefix('a ')}"
    return ours.detail if ours.outcome == "environment" else hand.detail


def _print(*cells: str) -> None:
    *aligned, last = (cell.replace("|", "/") for cell in cells)
    padded = (cell.ljust(width) for cell, width in zip(aligned, _WIDTHS, strict=True))
    print("|", " | ".join((*padded, last[:_LONGEST_REASON])), "|", flush=True)


sys.exit(main())
