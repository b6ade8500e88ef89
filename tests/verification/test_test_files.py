"""Test files are known by their paths, in every language."""

import pytest

from journeyman.verification.test_files import is_test_file


@pytest.mark.parametrize(
    "path",
    [
        *(
            "tests/test_api.py",
            "test/data/x.json",
            "pkg/api_test.py",
            "shop/tests.py",
            "conftest.py",
            "test.py",
        ),
        *(
            "src/add.test.ts",
            "src/add.spec.jsx",
            "src/__tests__/add.js",
            "test.mjs",
            "a/__snapshots__/b.snap",
        ),
        *("pkg/mux_test.go", "pkg/testdata/in.txt", "spec/models/user_spec.rb", "tests/cli.rs"),
        *("src/test/java/a/AppTest.java", "a/UserTests.cs", "tests/UserTest.php", "src/a/AppIT.java"),
    ],
)
def test_a_test_or_its_support_file(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        *("src/app.py", "latest.py", "contest/entry.py", "src/testing.py", "protest.js", "attest_key.go"),
        *("src/App.java", "docs/spec.md", "src/inspector.ts", "lib/Greatest.java"),
    ],
)
def test_other_files(path: str) -> None:
    assert not is_test_file(path)
