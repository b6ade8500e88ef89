"""Which files of a repository are its tests, by their paths alone.

Used to put old tests on new code and new tests on old code. Support files count as tests: fixtures, data and
`conftest.py` belong to the tests that use them.
"""

import posixpath
import re

_DIRECTORIES = frozenset({"test", "tests", "spec", "specs", "__tests__", "__snapshots__", "testdata", "e2e"})
_NAME = re.compile(
    r"test_[^/]*\.py|[^/]*_test\.py|tests?\.py|conftest\.py"
    r"|[^/]+\.(?:test|spec|cy)\.[cm]?[jt]sx?|tests?\.[cm]?[jt]sx?"
    r"|[^/]+_test\.(?:go|rb|exs|dart|c|cc|cpp)|[^/]+_spec\.rb|test_[^/]+\.(?:rb|c|cc|cpp)"
    r"|[^/]*(?:Tests?|IT|Spec)\.(?:java|kt|scala|groovy|cs|php|swift)"
)


def is_test_file(path: str) -> bool:
    directory, name = posixpath.split(path)
    return bool(_DIRECTORIES & set(directory.split("/"))) or _NAME.fullmatch(name) is not None
