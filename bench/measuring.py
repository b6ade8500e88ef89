"""What every benchmark needs: a table of ratios, the model's process, repositories, and a look at memory.

Every figure is compared with one that was measured in the same run on the same machine. The bars are ratios
too: a slow or busy machine makes both sides slow.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.model import Seen

ROOT = Path(__file__).resolve().parent.parent
MODEL = "openai/gpt-5.5"
"""Goes over the wire, and has a price."""
_WORDS = ("def", "return", "import", "class", "self", "value", "result", "order", "for", "in", "if", "not")


@dataclass(frozen=True)
class Row:
    what: str
    ours: float
    other: float
    """The peer's figure, or the floor's."""
    other_name: str
    unit: str = "ms"
    bar: float | None = None
    """The most that ours may be, in the same unit; None where nothing is promised."""

    @property
    def is_met(self) -> bool:
        return self.bar is None or self.ours <= self.bar


@dataclass
class Table:
    title: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, row: Row) -> None:
        self.rows.append(row)

    def finish(self) -> int:
        """Print it, and return the exit code: 1 when a bar is missed."""
        lines = [("", "ours", "other", "", "ratio", "bar", "")]
        for row in self.rows:
            bar = f"<= {_figure(row.bar)}" if row.bar is not None else ""
            verdict = "" if row.bar is None else "met" if row.is_met else "MISSED"
            ratio = f"{row.ours / row.other:.2f}" if row.other else ""
            ours, other = f"{_figure(row.ours)} {row.unit}", f"{_figure(row.other)} {row.unit}"
            lines.append((row.what, ours, other, row.other_name, ratio, bar, verdict))
        widths = [max(len(line[place]) for line in lines) for place in range(7)]
        print(f"\n{self.title}")
        for line in lines:
            cells = [line[0].ljust(widths[0])]
            for place, cell in enumerate(line[1:], start=1):
                cells.append(cell.ljust(widths[place]) if place in (3, 6) else cell.rjust(widths[place]))
            print("  ".join(cells).rstrip())
        for note in self.notes:
            print(f"  {note}")
        return 0 if all(row.is_met for row in self.rows) else 1


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def asked_to_be_quick(description: str) -> bool:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, a rougher figure")
    return bool(parser.parse_args().quick)


def median_ms(seconds: Iterable[float]) -> float:
    return statistics.median(seconds) * 1000


def percentile_ms(seconds: Sequence[float], part: float) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * part))] * 1000


class Model:
    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def seen(self) -> Seen:
        """What came since the last time this was asked."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{self.url}/seen") as answer:
            return Seen(**json.load(answer))


@contextmanager
def model(*, calls: int, latency: float = 0.0, command: str = "true") -> Iterator[Model]:
    arguments = ["--calls", str(calls), "--latency", str(latency), "--command", command]
    program = [sys.executable, str(ROOT / "bench" / "model.py"), *arguments]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Model(process.stdout.readline().strip())
        finally:
            process.terminate()


def git(repository: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=repository, check=True, capture_output=True)


def small_repository(path: Path) -> Path:
    return _repository(path, files=20, bytes_each=2_000)


def large_repository(path: Path) -> Path:
    """As large as Django's: about 7,000 files and 75 MB."""
    return _repository(path, files=7_000, bytes_each=10_700)


def _repository(path: Path, *, files: int, bytes_each: int) -> Path:
    chance = random.Random(7)
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    for number in range(files):
        file = path / f"package_{number % 60:02}" / f"part_{number % 7}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        count = max(1, int(bytes_each * chance.uniform(0.2, 1.8)) // 60)
        lines = (" ".join(chance.choices(_WORDS, k=11)) for _ in range(count))
        file.write_text("\n".join(lines) + "\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Begin")
    return path


def tree_of(pid: int) -> list[int]:
    """A process and everything below it, without children that are still their parent's copy: a process that
    is about to start another would count twice.
    """
    found = [pid]
    for parent in found:
        program = program_of(parent)
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            children = [int(child) for child in _read(str(task)).split()]
            found += [child for child in children if program_of(child) != program]
    return found


def program_of(pid: int) -> str:
    """A process's command line."""
    return _read(f"/proc/{pid}/cmdline")


def _read(path: str) -> str:
    """What a file of /proc says; nothing when its process has ended."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def memory_mb(pid: int, what: str) -> float:
    """`VmRSS` or `VmHWM` (its peak) of a process, or `Pss`: what it uses, with shared pages divided up."""
    file = f"/proc/{pid}/smaps_rollup" if what == "Pss" else f"/proc/{pid}/status"
    lines = _read(file).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) / 1024
