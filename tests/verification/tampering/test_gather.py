"""The changed files of two commits, as the mirror has them."""

import subprocess
from pathlib import Path

import pytest

from journeyman.git.locks import FileLock
from journeyman.git.mirror import Mirror
from journeyman.verification.tampering.gather import gather_changes, matters
from journeyman.verification.tampering.report import find_tampering


def _git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "-q")
    return tmp_path


def _commit(repository: Path, files: dict[str, bytes | None]) -> str:
    for path, content in files.items():
        place = repository / path
        if content is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    _git(repository, "add", "-A")
    _git(repository, "commit", "-qm", "change")
    return _git(repository, "rev-parse", "HEAD")


def _mirror(repository: Path) -> Mirror:
    return Mirror(repository / ".git", FileLock(repository / "lock"))


async def test_changed_files_are_read_as_both_commits_have_them(repository: Path) -> None:
    base = _commit(
        repository, {"tests/test_a.py": b"a\n", "b.py": b"b\n", "README.md": b"r\n", "same.py": b"s\n"}
    )
    head = _commit(
        repository, {"tests/test_a.py": b"x\n", "b.py": None, "README.md": b"z\n", "new.py": b"n\n"}
    )
    files = await gather_changes(_mirror(repository), base, head)
    assert [(one.path, one.base, one.head) for one in files] == [
        ("b.py", b"b\n", None),
        ("new.py", None, b"n\n"),
        ("tests/test_a.py", b"a\n", b"x\n"),
    ]


async def test_a_file_that_is_too_large_is_listed_without_its_contents(repository: Path) -> None:
    base = _commit(repository, {"tests/test_a.py": b"a\n"})
    head = _commit(repository, {"tests/test_a.py": b"a = 1\n" * 200_000})
    (file,) = await gather_changes(_mirror(repository), base, head)
    assert (file.is_complete, file.base, file.head) == (False, b"", b"")
    assert [one.kind for one in find_tampering([file])] == ["not_compared"]


async def test_a_test_that_becomes_a_link_is_gone(repository: Path) -> None:
    base = _commit(repository, {"tests/test_a.py": b"def test_a():\n    assert f() == 1\n"})
    (repository / "tests/test_a.py").unlink()
    (repository / "tests/test_a.py").symlink_to("/etc/hostname")
    head = _commit(repository, {})
    files = await gather_changes(_mirror(repository), base, head)
    assert [one.kind for one in find_tampering(files)] == ["test_removed"]


async def test_names_that_are_no_text_are_shown_and_read(repository: Path) -> None:
    base = _commit(repository, {"a.py": b"a\n"})
    (repository / "t\udcff\n.py").write_bytes(b"n\n")
    head = _commit(repository, {})
    (file,) = await gather_changes(_mirror(repository), base, head)
    assert (file.path, file.head) == ("t\\xff\n.py", b"n\n")


@pytest.mark.parametrize(
    "path", ["a.py", "conftest.py", "a.snap", "bin/pytest", "x.pth", ".github/workflows/a.yml"]
)
def test_files_that_could_be_tampering_matter(path: str) -> None:
    assert matters(path)


@pytest.mark.parametrize("path", ["README.md", "image.png", "data.csv", "docs/index.html"])
def test_other_files_do_not(path: str) -> None:
    assert not matters(path)
