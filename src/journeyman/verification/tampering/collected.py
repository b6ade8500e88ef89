"""Tests that the runner had on the base and has no more on the head.

The runner's own lists show what syntax cannot: a name pattern in the settings, a class that is no longer
collected, a generated test that is gone.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator

from journeyman.verification.tampering.findings import TamperFinding, as_code

_CASE = re.compile(r"\[[^\n]*\]$")
_SHOWN = 50


def find_uncollected(
    base: Collection[str], head: Collection[str], known: Collection[tuple[str, str]]
) -> Iterator[TamperFinding]:
    """`known`: path and name of tests that were compared otherwise, so that nothing is shown twice."""
    if not base or not head:
        return
    before, after = Counter(map(_function, base)), Counter(map(_function, head))
    moved = {_name(one) for one in after if one not in before}
    gone = [
        one for one in before if one not in after and _name(one) not in moved and not _is_known(one, known)
    ]
    for one in gone[:_SHOWN]:
        yield _finding(one, f"The test {as_code(one)} ran on the base and is not run on the head.")
    if len(gone) > _SHOWN:
        yield _finding(
            gone[0], f"{len(gone) - _SHOWN} more tests ran on the base and are not run on the head."
        )
    fewer = [one for one in before if after[one] and after[one] < before[one] and not _is_known(one, known)]
    for one in fewer[:_SHOWN]:
        yield TamperFinding(
            kind="cases_removed",
            path=_path(one),
            lines=None,
            detail=f"The test {as_code(one)} runs {after[one]} of the {before[one]} cases of the base.",
            severity="notice",
        )


def _is_known(test: str, known: Collection[tuple[str, str]]) -> bool:
    """Runners that do not name the file of a test are believed by its name alone."""
    name, path = _name(test), _path(test)
    if (path, name) in known:
        return True
    return not re.search(r"\.\w+$", path) and any(name == other for _, other in known)


def _name(test: str) -> str:
    return re.split(r"::| > |/|\.", test)[-1]


def _finding(test: str, detail: str) -> TamperFinding:
    return TamperFinding(kind="test_removed", path=_path(test), lines=None, detail=detail, severity="ask")


def _function(test_id: str) -> str:
    return _CASE.sub("", test_id)


def _path(test: str) -> str:
    return test.partition("::")[0][:500]
