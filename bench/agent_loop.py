"""Our built-in agent against mini-swe-agent and pydantic-ai's own, on the same model: 50 shell calls each.

The overhead is what the model sees: the time from the end of its answer to the next request. Each contestant
is started anew for each repetition, in turns. Memory is that of the whole process tree, our jail included:
the largest sum of the processes' peaks. It is read in a repetition of its own, because looking costs time.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench.measuring import (
    ROOT,
    Model,
    Row,
    Table,
    asked_to_be_quick,
    median_ms,
    memory_mb,
    model,
    small_repository,
    tree_of,
)

_CALLS = 50
_PEERS = Path(os.environ.get("BENCH_PEERS", ROOT / ".venv-peers"))
_NAMES = ("journeyman", "mini-swe-agent", "pydantic-ai")

_MINI = ("--yolo", "--exit-immediately", "--cost-limit", "0", "--model", "openai/gpt-5.5", "--task", "Go.")
"""Its own command line: no confirmation, the default local environment, its trajectory saved at each step."""


@dataclass(frozen=True)
class Run:
    overheads: list[float]
    first_request: float
    """Seconds from the start of the process."""
    memory_mb: float


class _Watch:
    """Looks at the memory of a process tree until it is told to stop."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.peak_mb = 0.0
        self._thread.start()

    def _look(self) -> None:
        while not self._stopped.wait(0.02):
            now = sum(memory_mb(pid, "VmHWM") for pid in tree_of(self._pid))
            self.peak_mb = max(self.peak_mb, now)

    def stop(self) -> float:
        self._stopped.set()
        self._thread.join()
        return self.peak_mb


def main() -> int:
    repetitions = 1 if asked_to_be_quick(__doc__ or "") else 5
    if not (_PEERS / "bin" / "mini").exists():
        print(f"The peers are not installed in {_PEERS}: scripts/bench.sh does that.", file=sys.stderr)
        return 1
    with model(calls=_CALLS) as server:
        memory = {name: _run(name, server, watched=True).memory_mb for name in _NAMES}
        runs: dict[str, list[Run]] = {name: [] for name in _NAMES}
        for _ in range(repetitions):
            for name in _NAMES:
                runs[name].append(_run(name, server))
    overhead = {name: median_ms(gap for run in made for gap in run.overheads) for name, made in runs.items()}
    first = {name: median_ms(run.first_request for run in made) for name, made in runs.items()}
    table = Table(f"One agent, {_CALLS} shell calls")
    for peer, part_of_time, part_of_memory in (("mini-swe-agent", 0.25, 0.5), ("pydantic-ai", None, None)):
        bar_time = overhead[peer] * part_of_time if part_of_time else None
        bar_memory = memory[peer] * part_of_memory if part_of_memory else None
        table.add(Row("overhead per call", overhead["journeyman"], overhead[peer], peer, bar=bar_time))
        table.add(Row("peak memory", memory["journeyman"], memory[peer], peer, "MB", bar_memory))
        table.add(Row("start to first request", first["journeyman"], first[peer], peer))
    return table.finish()


def _run(name: str, server: Model, *, watched: bool = False) -> Run:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        environment = {"PATH": os.environ["PATH"], "HOME": directory}
        if name == "journeyman":
            _make_home(place, environment)
        server.seen()
        if name == "mini-swe-agent":
            program = [str(_PEERS / "bin" / "mini"), *_MINI, "--output", f"{directory}/trajectory.json"]
            environment |= _mini_settings(server)
        else:
            python = sys.executable if name == "journeyman" else str(_PEERS / "bin" / "python")
            program = [python, str(ROOT / "bench" / "contestants.py"), name, server.base_url, directory]
        started = time.monotonic()
        with (place / "said").open("w+") as said:
            process = subprocess.Popen(
                program, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=directory
            )
            watch = _Watch(process.pid) if watched else None
            code = process.wait()
            memory = watch.stop() if watch else 0.0
            said.seek(0)
            if code != 0:
                raise SystemExit(f"{name} failed:\n{said.read()}")
        seen = server.seen()
    assert len(seen.asked) == _CALLS + 1, f"{name} made {len(seen.asked)} requests"
    gaps = [after - before for before, after in zip(seen.answered[:-1], seen.asked[1:], strict=True)]
    return Run(gaps, seen.asked[0] - started, memory)


def _mini_settings(server: Model) -> dict[str, str]:
    return {
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "OPENAI_API_KEY": "none",
        "OPENAI_API_BASE": server.base_url,
    }


def _make_home(place: Path, environment: dict[str, str]) -> None:
    small_repository(place / "repository")
    home = {**environment, "JOURNEYMAN_HOME": str(place / "home")}
    jm = Path(sys.executable).with_name("jm")
    subprocess.run([jm, "migrate"], env=home, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
