"""Whether a file holds tests, by its path alone."""

import re

_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|__mocks__|testing|e2e|testdata)/"
    r"|(?:^|/)(?:test_[^/]*|conftest|[^/]*_tests?|tests?)\.\w+$|[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?$"
    r"|(?:Tests?|IT)\.java$|_spec\.rb$"
)


def holds_tests(path: str) -> bool:
    return bool(_TESTS.search(path))
