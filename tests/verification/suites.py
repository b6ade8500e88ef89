"""Reports of test runners, written down in one line each."""

from journeyman.verification.per_test import CaseResult, SuiteReport


def suite(is_complete: bool = True, rewritten: tuple[str, ...] = (), **outcomes: str) -> SuiteReport:
    """`suite(a="passed", b="failed")`; a name stands for a test of the file `tests/test_<name>.py`."""
    tests = tuple(
        CaseResult(test_id=id_of(name), outcome=outcome)  # type: ignore[arg-type]
        for name, outcome in outcomes.items()
    )
    return SuiteReport(
        runner="pytest", tests=tests, is_complete=is_complete, rewritten=tuple(map(id_of, rewritten))
    )


def id_of(name: str) -> str:
    return f"tests/test_{name}.py::test_{name}"


def ids(*names: str) -> tuple[str, ...]:
    return tuple(map(id_of, names))
