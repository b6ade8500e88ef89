"""`make field`: every repository of the suite, beside its own commands by hand; prints a table.

python -m tests.field [NAME ...] [--in DIRECTORY]
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.field.bring import bring, checkout
from tests.field.by_hand import Result, by_hand, missing
from tests.field.product import agrees, check, served
from tests.field.projects import PROJECTS, FieldProject


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.field")
    parser.add_argument("names", nargs="*", help="parts of names; all where none is given")
    parser.add_argument("--in", dest="directory", type=Path, help="where to work; kept afterwards")
    given = parser.parse_args()
    chosen = [one for one in PROJECTS if not given.names or any(name in one.name for name in given.names)]
    directory = given.directory or Path(tempfile.mkdtemp(prefix="journeyman-field-"))
    try:
        (directory / "home").mkdir(parents=True, exist_ok=True)
        with served(directory / "home") as url:
            agreed = [_row(project, directory, url) for project in chosen]
    finally:
        if given.directory is None:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"\n{sum(agreed)} of {len(agreed)} agree")
    return 0 if all(agreed) else 1


def _row(project: FieldProject, directory: Path, url: str) -> bool:
    if absent := missing(project):
        print(f"{project.name:28} not run: there is no {', '.join(absent)}", flush=True)
        return False
    repository = bring(project, directory / "repositories")
    ours = check(project, repository, url)
    with tempfile.TemporaryDirectory(dir=directory) as place:
        began = time.monotonic()
        hand = by_hand(project, checkout(repository, Path(place) / "tree"), Path(place) / "home")
        seconds = time.monotonic() - began
    same = agrees(ours, hand)
    print(
        f"{project.name:28} {'agreed' if same else 'NOT':7} ours {_said(ours):34} {ours.seconds:5.0f} s   "
        f"by hand {_said(hand):34} {seconds:5.0f} s   {project.ecosystem}",
        flush=True,
    )
    if not same:
        print(f"    ours: {ours.detail}\n    by hand: {hand.detail}", flush=True)
    return same


def _said(result: Result) -> str:
    return f"{result.outcome} ({result.counts})" if result.counts else result.outcome


sys.exit(main())
