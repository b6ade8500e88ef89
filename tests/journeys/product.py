"""The whole product as a process of its own: started, asked over HTTP, stopped and killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2

from journeyman.git.workspaces import Workspaces
from tests.journeys import preloaded

_LONGEST_WAIT_SECONDS = 180.0
_VENV = Path(sys.prefix)
_JM = _VENV / "bin" / "jm"


class Product:
    preloads = False
    """Whether servers are forked from a process that has imported the product already."""

    def __init__(self, home: Path, *arguments: str, prefix: Sequence[str] = (), **environment: str) -> None:
        """`prefix` goes before the command line: it may make another user run it."""
        self.home = home
        self._prefix = prefix
        self.program = _JM
        self._command = arguments or ("serve",)
        self.scripts = home.parent / f"{home.name}-scripts"
        self.scripts.mkdir(exist_ok=True)
        self._environment = {
            "PATH": os.defpath,
            "LC_ALL": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "HOME": str(home.parent),
            "JOURNEYMAN_HOME": str(home),
            "JOURNEYMAN_PORT": "0",
            "JOURNEYMAN_SCRIPTS": str(self.scripts),
            "JOURNEYMAN_SANDBOX_PATHS": str(_VENV),
            "JOURNEYMAN_ENVIRONMENT_SETUP": "off",  # a registry is asked only where that is the promise
            **environment,
        }
        self._process: subprocess.Popen[str] | preloaded.Preloaded | None = None
        self.url = ""
        self._client = httpx2.Client(timeout=_LONGEST_WAIT_SECONDS)

    def start(self, **environment: str) -> "Product":
        """Start the server; what is given here holds for this start alone."""
        self.log = (self.home.parent / f"{self.home.name}.log").open("ab")
        self._process = self._launch(self._environment | environment)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+|worker-[0-9a-f]+", line):
                self.url = found[0]
                return self
        raise AssertionError(f"the server did not start: {self.said()}")

    def _launch(self, environment: dict[str, str]) -> "subprocess.Popen[str] | preloaded.Preloaded":
        is_plain = not self._prefix and self.program == _JM and "LD_PRELOAD" not in environment
        if is_plain and Product.preloads:
            return preloaded.start(self._command, environment, self.log)
        return subprocess.Popen(
            [*self._prefix, str(self.program), *self._command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            start_new_session=True,
        )

    def said(self) -> str:
        """What the server wrote to its log."""
        return (self.home.parent / f"{self.home.name}.log").read_text(errors="replace")

    def await_log(self, *words: str) -> None:
        """Wait until one line of the log has all of these words."""
        deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
        while time.monotonic() < deadline:
            if any(all(word in line for word in words) for line in self.said().splitlines()):
                return
            time.sleep(0.05)
        raise AssertionError(f"the log has no line with {words}")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """As a crash does: no warning, no clean-up."""
        self._end(signal.SIGKILL)

    def wait_for_end(self) -> None:
        """Wait until the server has ended by itself."""
        assert self._process is not None
        self._process.wait(_LONGEST_WAIT_SECONDS)
        self.kill()

    def stop(self) -> int:
        code = self._end(signal.SIGTERM)
        Workspaces(self.home / "workspaces").unmount()  # one that was killed could not
        return code

    def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        self._process.send_signal(how)
        code = self._process.wait(_LONGEST_WAIT_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self.log.close()
        self._process = None
        return code

    def __enter__(self) -> "Product":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._client.close()

    def leftovers(self, *order_ids: str) -> list[Path]:
        """Files of these orders' workspaces, or of all, that are still there when they should be deleted."""
        places = [self.home / "workspaces" / name for name in order_ids or ("",)]
        deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
        while found := [path for place in places for path in place.rglob("*") if not path.is_dir()]:
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return found

    def get(self, path: str) -> Any:
        answer = self._client.get(self.url + path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self._client.request(method, self.url + path, **options)

    def script(self, name: str, *turns: dict[str, Any]) -> str:
        """Write a script for the scripted model; returns the model's name."""
        (self.scripts / f"{name}.yaml").write_text(json.dumps({"turns": list(turns)}))
        return f"scripted/{name}"

    def submit(self, repository: Path | str, model: str, **fields: Any) -> str:
        body = {
            "repository_url": str(repository),
            "sandbox_type": "git_worktree",
            "workflow_type": "agent_workflow_plan_build_test",
            "initial_prompt": "Fix the adder",
            "model": model,
            **fields,
        }
        answer = self.request("POST", "/api/agent-work-orders", json=body)
        assert answer.status_code == 201, answer.text
        order_id: str = answer.json()["agent_work_order"]["agent_work_order_id"]
        return order_id

    def order(self, order_id: str) -> dict[str, Any]:
        order: dict[str, Any] = self.get(f"/api/agent-work-orders/{order_id}")["agent_work_order"]
        return order

    def follow(self, order_id: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """Every event of an order to its end."""
        url = f"{self.url}/api/agent-work-orders/{order_id}/events?until=finished&after={after}"
        with self._client.stream("GET", url) as stream:
            assert stream.status_code == 200
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def until(self, order_id: str, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for the first event that the condition holds for."""
        for event in self.follow(order_id):
            if reached(event):
                return event
        raise AssertionError("the order ended before that happened")

    def finish(self, order_id: str) -> dict[str, Any]:
        """Wait for the end of an order and return it as it is then."""
        for _ in self.follow(order_id):
            pass
        return self.order(order_id)

    def events(self, order_id: str) -> list[dict[str, Any]]:
        """The events of a finished order."""
        return list(self.follow(order_id))


def run_jm(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_JM, *arguments],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **environment},
        capture_output=True,
        text=True,
        timeout=_LONGEST_WAIT_SECONDS,
    )
