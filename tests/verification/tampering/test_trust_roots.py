"""What the proving run shows of files that judge, and the verdict of the two runs."""

import json
import tomllib

import pytest

from journeyman.verification.trust_roots import is_trust_root, restored, restored_files, settle

_FIXTURES = b"import pytest\n\n@pytest.fixture\ndef client():\n    return 1\n"
_ROOTS = """
    conftest.py tests/api/conftest.py pytest.ini tox.ini setup.cfg pyproject.toml noxfile.py
    sitecustomize.py src/a.pth .coveragerc mypy.ini ruff.toml package.json web/package.json
    jest.config.js vitest.config.mts vite.config.ts eslint.config.js .eslintrc.json .mocharc.yml
    tsconfig.json tsconfig.build.json Makefile justfile .github/workflows/ci.yml .gitlab-ci.yml
    uv.lock package-lock.json Cargo.lock go.sum .gitattributes .cargo/config.toml .npmrc
    .journeyman/environment.yaml Cargo.toml .pre-commit-config.yaml .husky/pre-commit pom.xml
"""
_OTHERS = """
    src/app.py tests/test_conftest.py setup.py go.mod README.md requirements.txt
    src/config.ts docs/Makefile.md src/package.json.ts jest.ts .github/CODEOWNERS
"""
_HOOK = b"def pytest_runtest_makereport(item, call):\n    pass\n"


@pytest.mark.parametrize("path", _ROOTS.split())
def test_a_file_that_decides_what_a_check_means_is_a_trust_root(path: str) -> None:
    assert is_trust_root(path)


@pytest.mark.parametrize("path", _OTHERS.split())
def test_a_file_that_judges_nothing_is_no_trust_root(path: str) -> None:
    assert not is_trust_root(path)


def test_a_trust_root_is_shown_as_the_base_has_it() -> None:
    assert restored("pytest.ini", b"[pytest]\n", b"[pytest]\naddopts = -x\n") == b"[pytest]\n"
    assert restored("pytest.ini", None, b"[pytest]\naddopts = -x\n") is None
    assert restored("pytest.ini", b"[pytest]\n", None) == b"[pytest]\n"
    assert restored("src/app.py", b"a", b"b") == b"b"


def test_a_conftest_with_nothing_but_fixtures_belongs_to_the_tests() -> None:
    assert restored("tests/conftest.py", None, _FIXTURES) == _FIXTURES
    assert restored("tests/conftest.py", _HOOK, _HOOK + _FIXTURES) == _HOOK + _FIXTURES


@pytest.mark.parametrize(
    "head",
    [
        _HOOK,
        _FIXTURES.replace(b"pytest.fixture", b"pytest.fixture(autouse=True)"),
        _FIXTURES.replace(b"pytest.fixture", b"pytest.fixture(**options)"),
        b"from quiet import *\n",
        b"from quiet import pytest_runtest_makereport\n",
        b"from quiet import report as pytest_runtest_makereport\n",
        b"import quiet\nquiet.install()\n",
        b"pytest_plugins = ['quiet']\n",
        b"collect_ignore = ['test_a.py']\n",
        b"import pytest\npytest.skip = None\n",
        b"NAME = install()\n",
        b"import pytest\n@pytest.hookimpl\ndef f(): ...\n",
        b"if True:\n    def pytest_runtest_makereport(item, call): ...\n",
        b"def f(:\n",
        b"\xff\xfe",
        b"(" * 5000,
    ],
)
def test_a_conftest_that_acts_on_every_test_is_shown_as_the_base_has_it(head: bytes) -> None:
    assert restored("conftest.py", None, head) is None
    assert restored("conftest.py", _FIXTURES, head) == _FIXTURES


def test_a_project_file_keeps_its_dependencies_and_is_judged_as_before() -> None:
    base = (
        b"[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n[tool.ruff]\nline-length = 90\n"
    )
    head = (
        b"[project]\nname = 'a'\ndependencies = ['rich']\n[tool.uv]\ndev-dependencies = ['x']\n"
        b"[tool.pytest.ini_options]\naddopts = '--ignore tests'\n[tool.quiet]\non = true\n"
        b"[project.entry-points.pytest11]\nquiet = 'quiet'\n"
    )
    shown = restored("pyproject.toml", base, head)
    assert tomllib.loads((shown or b"").decode()) == {
        "project": {"name": "a", "dependencies": ["rich"]},
        "tool": {
            "uv": {"dev-dependencies": ["x"]},
            "pytest": {"ini_options": {"addopts": "-q"}},
            "ruff": {"line-length": 90},
        },
    }


def test_a_project_file_that_judges_as_before_is_kept_byte_for_byte() -> None:
    base = b"[project]\nname='a'\n[tool.ruff]\nline-length=90\n"
    head = b"# comment\n" + base.replace(b"'a'", b"'b'")
    assert restored("pyproject.toml", base, head) == head


def test_package_scripts_are_the_bases_and_new_ones_judge_nothing() -> None:
    base = {"scripts": {"test": "jest"}, "jest": {"bail": True}}
    head = {
        "dependencies": {"a": "1"},
        "scripts": {"test": "true", "pretest": "node quiet.js", "postinstall": "x", "dev": "vite"},
        "jest": {"testMatch": []},
        "mocha": {},
    }
    shown = restored("package.json", json.dumps(base).encode(), json.dumps(head).encode())
    assert json.loads(shown or b"") == {
        "dependencies": {"a": "1"},
        "scripts": {"test": "jest", "dev": "vite"},
        "jest": {"bail": True},
    }


def test_the_first_package_file_of_a_project_brings_its_scripts() -> None:
    head = b'{"scripts": {"test": "jest", "pretest": "tsc"}}'
    assert restored("package.json", None, head) == head


def test_setup_cfg_and_cargo_are_merged_alike() -> None:
    cfg = restored(
        "setup.cfg", b"[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n", b"[metadata]\nname = b\n"
    )
    assert cfg == b"[metadata]\nname = b\n\n[tool:pytest]\naddopts = -q\n\n"
    base = b"[package]\nname = 'a'\n[lints.rust]\nunused = 'deny'\n"
    cargo = restored("Cargo.toml", base, b"[package]\nname = 'b'\n[lib]\npath = 'l.rs'\ntest = false\n")
    assert tomllib.loads((cargo or b"").decode()) == {
        "package": {"name": "b"},
        "lib": {"path": "l.rs"},
        "lints": {"rust": {"unused": "deny"}},
    }


@pytest.mark.parametrize("head", [b"not = toml = at all", b"\xff", b"[tool"])
def test_a_manifest_that_cannot_be_read_is_shown_as_the_base_has_it(head: bytes) -> None:
    assert restored("pyproject.toml", b"[tool.ruff]\n", head) == b"[tool.ruff]\n"


@pytest.mark.parametrize("head", [b'{"scripts": []}', b'{"scripts": {"test": 1}}', b"[]", b"[" * 100_000])
def test_a_package_file_of_another_shape_judges_nothing(head: bytes) -> None:
    shown = restored("package.json", b'{"scripts": {"test": "jest"}}', head)
    assert json.loads(shown or b"")["scripts"] == {"test": "jest"}


def test_a_new_makefile_is_kept_because_no_command_of_the_base_names_it() -> None:
    assert restored("Makefile", None, b"test:\n\ttrue\n") == b"test:\n\ttrue\n"
    assert restored("Makefile", b"test:\n\tpytest\n", b"test:\n\ttrue\n") == b"test:\n\tpytest\n"


def test_a_lock_goes_with_its_manifest() -> None:
    lock = {"uv.lock": (b"1", b"2")}
    assert restored_files(lock) == {"uv.lock": b"1"}
    with_dependency = {**lock, "pyproject.toml": (b"", b"[project]\ndependencies = ['a']\n")}
    assert restored_files(with_dependency) == {}
    with_setting = {**lock, "pyproject.toml": (b"", b"[tool.ruff]\nline-length = 1\n")}
    assert restored_files(with_setting)["uv.lock"] == b"1"
    in_workspace = {"Cargo.lock": (b"1", b"2"), "crates/a/Cargo.toml": (b"", b"[dependencies]\na = '1'\n")}
    assert restored_files(in_workspace) == {}
    elsewhere = {
        "web/package-lock.json": (b"1", b"2"),
        "package.json": (b"{}", b'{"dependencies": {"a": "1"}}'),
    }
    assert restored_files(elsewhere) == {"web/package-lock.json": b"1"}


def test_one_run_is_both_where_the_trust_roots_are_untouched() -> None:
    assert settle({"a": True}, None).outcome == "passed"
    assert settle({"a": False}, None).failed == ("a",)


def test_a_test_that_passes_both_ways_is_proved() -> None:
    assert settle({"a": True}, {"a": True}, changed=["conftest.py"]).outcome == "passed"


def test_a_test_that_needs_the_changes_own_trust_root_is_for_a_person_and_never_for_the_agent() -> None:
    verdict = settle({"a": True, "b": True}, {"a": True, "b": False}, changed=["conftest.py"])
    assert (verdict.outcome, verdict.failed, verdict.unproven) == ("needs_approval", (), ("b",))
    assert "conftest.py" in verdict.reason


def test_a_test_that_only_one_of_the_runs_has_is_not_proved() -> None:
    assert settle({"a": True, "new": True}, {"a": True}).unproven == ("new",)
    assert settle({"a": True}, {"a": True, "hidden": False}).unproven == ("hidden",)


def test_what_fails_in_the_head_as_it_is_fails_whatever_the_base_would_say() -> None:
    verdict = settle({"a": False, "b": True}, {"a": True, "b": False})
    assert (verdict.outcome, verdict.failed) == ("failed", ("a",))


def test_the_first_checks_of_a_project_have_no_judge_to_protect() -> None:
    assert settle({"a": True}, {"a": False}, has_checks_on_base=False).outcome == "passed"


def test_a_manifest_that_is_far_too_large_is_shown_as_the_base_has_it() -> None:
    head = b"a" + b".a" * 400_000 + b" = 1\n"
    assert restored("pyproject.toml", b"[tool.ruff]\n", head) == b"[tool.ruff]\n"
