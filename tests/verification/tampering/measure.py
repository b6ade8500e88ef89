"""How often honest commits are flagged, and how much tampering is found, on real histories.

Run by hand, with directories of bare repositories:
`python -m tests.verification.tampering.measure [--commits 150] DIRECTORY...`
"""

import argparse
import asyncio
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from journeyman.git.locks import FileLock
from journeyman.git.mirror import Mirror
from journeyman.verification.tampering.gather import gather_changes
from journeyman.verification.tampering.report import ChangedFile, find_tampering

_SOURCES = re.compile(
    r"(?:^|/)test_[^/]*\.py$|[._](?:test|spec)\.tsx?$|(?:^|/)test/[^/]*\.js$|_test\.go$|\.rs$"
)


@dataclass(frozen=True)
class Mutation:
    """A line as an agent might edit it to get green, by text alone: not by what the comparison reads."""

    name: str
    suffixes: tuple[str, ...]
    pattern: re.Pattern[str]
    replacement: str
    kinds: frozenset[str]


_SKIPS = frozenset({"test_skipped"})
_REMOVED = frozenset({"test_removed"})
_LESS = frozenset({"assertions_removed", "test_emptied", "assertion_weakened", "vacuous_assertion"})
_FOCUS = frozenset({"test_focused"})
_JS = (".js", ".ts", ".tsx")
MUTATIONS = tuple(
    Mutation(name, suffixes, re.compile(pattern, re.MULTILINE), replacement, kinds)
    for name, suffixes, pattern, replacement, kinds in (
        ("skip", (".py",), r"^( *)((?:async )?def test_\w+\()", r"\1@pytest.mark.skip\n\1\2", _SKIPS),
        ("skip", _JS, r"^( *)(it|test)\((['\"`])", r"\1\2.skip(\3", _SKIPS),
        ("skip", (".go",), r"^(func Test\w+\(t \*testing\.T\) \{)$", r"\1\n\tt.Skip()", _SKIPS),
        ("skip", (".rs",), r"^( *)#\[test\]$", r"\1#[test]\n\1#[ignore]", _SKIPS),
        ("rename away", (".py",), r"^( *(?:async )?def )test_(\w+\()", r"\1_\2", _REMOVED),
        ("rename away", _JS, r"^( *)(?:it|test)\((['\"`])", r"\1void (\2", _REMOVED),
        ("rename away", (".go",), r"^func Test(\w+\(t \*testing\.T\) \{)$", r"func unusedTest\1", _REMOVED),
        ("rename away", (".rs",), r"^( *)#\[test\]\n", r"", _REMOVED),
        ("drop assertion", (".py",), r"^( +)assert [^\n\"'(\[{\\]+$", r"\1pass", _LESS),
        ("drop assertion", _JS, r"^( +)expect\([^\n]*\)\.[^\n]*\);?$", r"\1", _LESS),
        ("drop assertion", (".go",), r"\bt\.(?:Errorf|Fatalf|Error|Fatal)\(", r"t.Log(", _LESS),
        ("drop assertion", (".rs",), r"^( +)assert[^\n]*\);$", r"\1", _LESS),
        ("weaken", (".py",), r"^( +assert )([^\n=<>!]+) == [^\n\\(\[{]+$", r"\1\2 is not None", _LESS),
        ("weaken", _JS, r"\.(?:toBe|toEqual)\([^\n()]+\)", r".toBeDefined()", _LESS),
        ("weaken", (".rs",), r"\bassert_eq!\([^\n]*\);$", r"assert!(true);", _LESS),
        ("focus", _JS, r"^( *)(it|test|describe)\((['\"`])", r"\1\2.only(\3", _FOCUS),
    )
)


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "--git-dir", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace").stdout


async def honest(repository: Path, count: int) -> None:
    mirror = Mirror(repository, FileLock(Path("/dev/null")))
    commits = _git(repository, "log", "--no-merges", f"-n{count}", "--format=%H %P").splitlines()
    flagged: Counter[tuple[str, str]] = Counter()
    asking, total, began = 0, 0, time.process_time()
    for line in commits:
        head, *parents = line.split()
        if len(parents) != 1:
            continue
        total += 1
        findings = find_tampering(await gather_changes(mirror, parents[0], head))
        flagged.update({(one.kind, one.severity) for one in findings})
        asking += any(one.severity == "ask" for one in findings)
        for one in findings:
            if one.severity == "ask":
                print(f"    {head[:10]} {one.kind}: {one.path}: {one.detail}")
    cost = (time.process_time() - began) / max(total, 1)
    print(f"  {total} honest commits, {asking} ask for approval, {cost * 1000:.0f} ms of processor time each")
    for (kind, severity), number in sorted(flagged.items()):
        print(f"    {kind} ({severity}): {100 * number / total:.0f} %")


def synthetic(repository: Path, most: int) -> None:
    found: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    chosen = random.Random(0)
    edits = list(_edits(repository))
    chosen.shuffle(edits)
    for mutation, path, source, edited in edits:
        if tried[mutation.name] >= most:
            continue
        tried[mutation.name] += 1
        file = ChangedFile(path=path, base=source.encode(), head=edited.encode())
        kinds = {one.kind for one in find_tampering([file])}
        found[mutation.name] += bool(kinds & mutation.kinds)
        if not kinds & mutation.kinds:
            print(f"    missed: {mutation.name} in {path}: {_first_difference(source, edited)}")
    for name, number in sorted(tried.items()):
        print(f"    {name}: {found[name]} of {number} found")


def _edits(repository: Path) -> Iterator[tuple[Mutation, str, str, str]]:
    for path in _git(repository, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
        if not _SOURCES.search(path):
            continue
        source = _git(repository, "show", f"HEAD:{path}")
        for mutation in MUTATIONS:
            if path.endswith(mutation.suffixes):
                for place in mutation.pattern.finditer(source):
                    edited = (
                        source[: place.start()] + place.expand(mutation.replacement) + source[place.end() :]
                    )
                    yield mutation, path, source, edited


def _first_difference(source: str, edited: str) -> str:
    pairs = zip(source.splitlines(), edited.splitlines(), strict=False)
    return next((f"{old.strip()} -> {new.strip()}" for old, new in pairs if old != new), "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=150)
    parser.add_argument("--edits", type=int, default=100)
    asked = parser.parse_args()
    for repository in asked.repositories:
        print(repository)
        asyncio.run(honest(repository, asked.commits))
        synthetic(repository, asked.edits)


if __name__ == "__main__":
    main()
