"""Orders on repositories with submodules and Git LFS: agents and checks find the files; lacks are told."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.product import Product, run_jm
from tests.journeys.repositories import FIXED, PLANS, TESTS, calls, git, make_repository, says

USES_LIBRARY = TESTS.replace(
    "import unittest\n", "import sys\nimport unittest\n\nsys.path.insert(0, 'lib')\n", 1
)
BUILDS = {
    "when": {"role": "build"},
    "replies": [
        calls("shell", command="cat lib/numbers_of.py && echo '# mine' >> lib/numbers_of.py"),
        calls("write_file", path="adder.py", content=f"import numbers_of\n\n\n{FIXED}"),
        says("Done."),
    ],
}


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    (home := tmp_path_factory.mktemp("contents") / "home").mkdir()
    with Product(home) as product:
        yield product


def test_an_order_works_with_submodules_and_says_which_are_missing(product: Product, tmp_path: Path) -> None:
    (library := tmp_path / "library").mkdir()
    git(library, "init", "-q", "-b", "main")
    (library / "numbers_of.py").write_text("ONE = 1\n")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "Numbers")
    repository = make_repository(tmp_path / "adder", USES_LIBRARY)
    entries = [("lib", "../library"), ("gone", "../gone")]
    listed = (f'[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n' for path, url in entries)
    (repository / ".gitmodules").write_text("".join(listed))
    git(repository, "add", "-A")
    for path, _ in entries:
        pinned = git(library, "rev-parse", "HEAD")
        git(repository, "update-index", "--add", "--cacheinfo", f"160000,{pinned},{path}")
    git(repository, "commit", "-q", "-m", "Add submodules")

    order = product.finish(product.submit(repository, product.script("uses", PLANS, BUILDS)))

    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    events = product.events(order["agent_work_order_id"])
    [missing] = [event for event in events if event["type"] == "repository_files_missing"]
    assert [(file["kind"], file["path"]) for file in missing["files"]] == [("submodule", "gone")]
    told = [event for event in events if event["type"] == "git_files_left_out"]
    assert [[file["path"] for file in event["files"]] for event in told] == [["lib"]]
    changed = git(repository, "diff", "--name-only", f"main...{order['git_branch_name']}").split()
    assert "adder.py" in changed
    assert not [path for path in changed if path.startswith(("lib", "gone"))]
    shown = run_jm(
        "watch", order["agent_work_order_id"], JOURNEYMAN_HOME=str(product.home), JOURNEYMAN_URL=product.url
    )
    assert "gone is missing" in shown.stdout


READS_DATA = TESTS.replace(
    "self.assertEqual(", "assert open('data.bin').read() in ('old', 'new')\n        self.assertEqual("
)


def test_an_order_works_with_files_in_git_lfs(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder", READS_DATA)
    objects = repository / ".git/lfs/objects"
    oid = hashlib.sha256(b"old").hexdigest()
    (objects / oid[:2] / oid[2:4]).mkdir(parents=True)
    (objects / oid[:2] / oid[2:4] / oid).write_text("old")
    (repository / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 3\n"
    (repository / "data.bin").write_text(pointer)
    git(repository, "-c", "filter.lfs.clean=", "-c", "filter.lfs.required=false", "add", "-A")
    git(repository, "commit", "-q", "-m", "Add data")
    builds = {
        "when": {"role": "build"},
        "replies": [
            calls("shell", command="grep -q old data.bin && printf new > data.bin"),
            calls("write_file", path="adder.py", content=FIXED),
            says("Done."),
        ],
    }

    order = product.finish(product.submit(repository, product.script("data", PLANS, builds)))

    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    written = hashlib.sha256(b"new").hexdigest()
    assert f"sha256:{written}" in git(repository, "show", f"{order['git_branch_name']}:data.bin")
    assert (objects / written[:2] / written[2:4] / written).read_text() == "new"
