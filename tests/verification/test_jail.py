"""Checks in the real jail: what its walls make impossible is the environment's fault, not the code's."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeyman.environments.plan import Check
from journeyman.sandboxes.base import SandboxLimits
from journeyman.sandboxes.control_groups import ControlGroups
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from journeyman.verification.run import CheckResult, run_checks
from tests.sandboxes.specs import spec_for


@pytest.fixture
async def jails(tmp_path: Path) -> AsyncIterator[LocalSandboxes]:
    sandboxes = LocalSandboxes(Settings(home=tmp_path / "home"))
    yield sandboxes
    await sandboxes.close()


async def checked(jails: LocalSandboxes, tmp_path: Path, command: str) -> CheckResult:
    sandbox = await jails.setup(spec_for(tmp_path, limits=SandboxLimits(memory_mb=128, processes=64)))
    check = Check(name="x", kind="test", command=command, tool="bash", why="x", probe="true")
    (result,) = await run_checks(sandbox, [check], timeout=60)
    return result


def python(code: str) -> str:
    return f"python3 -c '{code}'"


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (python('import urllib.request as r; r.urlopen("http://registry.example/")'), "there is no network"),
        (
            "echo 'import socket; socket.create_connection((\"127.0.0.1\", 5432))' > a.py; python3 a.py",
            "PostgreSQL does not run",
        ),
        (python("import freezegun_x"), "the Python package freezegun-x is not installed"),
        ("no-such-tool --version", "a command it needs is missing: no-such-tool"),
        ("/usr/bin/env no-such-tool", "a command it needs is missing: no-such-tool"),
    ],
)
async def test_what_the_jail_does_not_have_is_named(
    jails: LocalSandboxes, tmp_path: Path, command: str, what: str
) -> None:
    result = await checked(jails, tmp_path, command)
    assert (result.outcome, what in result.summary) == ("environment", True), result


async def test_what_the_kernel_ends_for_want_of_memory_has_not_failed(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    probe = ControlGroups("probe-verification")
    usable = probe.make("wo-probe", SandboxLimits())
    if usable is None:
        pytest.skip("this machine has no control groups to write to")
    usable.remove()
    probe.close()
    result = await checked(jails, tmp_path, python("x = bytearray(500_000_000); x[::4096] = x[::4096]"))
    assert (result.outcome, "for want of memory" in result.summary) == ("environment", True), result


async def test_a_mistake_in_the_code_is_a_failure_in_the_jail_too(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    result = await checked(jails, tmp_path, python("assert 1 + 1 == 3"))
    assert (result.outcome, result.faults) == ("failed", ())
