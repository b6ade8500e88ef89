"""Reports in the real jail: written by its user, read from outside."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from journeyman.verification.own_code import CodeUnderTest
from journeyman.verification.run import CheckResult, run_checks
from tests.sandboxes.specs import give_away, spec_for
from tests.verification.reports.running import check_of, outcomes, report_of


@pytest.fixture
async def jails(tmp_path: Path) -> AsyncIterator[LocalSandboxes]:
    sandboxes = LocalSandboxes(Settings(home=tmp_path / "home"))
    yield sandboxes
    await sandboxes.close()


async def checked(jails: LocalSandboxes, tmp_path: Path, files: dict[str, str], command: str) -> CheckResult:
    spec = spec_for(tmp_path)
    for name, text in files.items():
        (spec.tree / name).write_text(text)
    give_away(spec.tree, spec.order_id)
    sandbox = await jails.setup(spec)
    code = CodeUnderTest(paths=frozenset(files))
    (result,) = await run_checks(sandbox, [check_of(command)], timeout=60, code=code)
    return result


SUITE = """
import unittest
import calc

class A(unittest.TestCase):
    def test_a(self):
        self.assertEqual(calc.ONE, 1)
"""


async def test_a_report_is_written_and_read_in_the_jail(jails: LocalSandboxes, tmp_path: Path) -> None:
    files = {"calc.py": "ONE = 1\n", "test_a.py": SUITE}
    result = await checked(jails, tmp_path, files, "python3 -m unittest")
    assert (result.outcome, outcomes(result)) == ("passed", {"test_a.A.test_a": "passed"})
    assert report_of(result).code_locations == ("/workspace/calc.py",)


@pytest.mark.parametrize(
    ("deed", "note"),
    [
        ("open(path, 'a').write('{\"end\": 0}')", "the report goes on after its end"),
        ("open(path, 'a').write('x' * 70_000_000)", "too large to be read to its end"),
        ("os.remove(path); os.mkfifo(path)", None),
        ("os.remove(path); os.symlink('/dev/zero', path)", None),
    ],
)
async def test_a_report_that_the_code_under_test_touched_is_not_complete(
    jails: LocalSandboxes, tmp_path: Path, deed: str, note: str | None
) -> None:
    plant = f"""
import atexit, glob, os

def deed():
    (path,) = glob.glob("/tmp/*/reports/unittest.*")
    {deed}

atexit.register(deed)
"""
    # Registered before ours is, so that it runs after it.
    files = {"calc.py": "ONE = 1\n", "test_a.py": SUITE, "sitecustomize.py": plant}
    result = await checked(jails, tmp_path, files, "export PYTHONPATH=.; python3 -m unittest")
    if note is None:
        assert result.report is None
    else:
        assert (result.exit_code, result.outcome, report_of(result).is_complete) == (0, "failed", False)
        assert note in " ".join(report_of(result).notes)
