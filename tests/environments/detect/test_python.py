"""What is installed for a Python project, and from where it is said."""

import shlex
import subprocess
from pathlib import Path

import pytest

from journeyman.environments.detect.combine import detect_environment
from journeyman.environments.detect.python_install import make_venv
from tests.environments.detect.trees import PYTEST_STYLE, UNIT, commands, installs, tree

TOOLS_ONLY = "[tool.ruff]\nline-length = 100\n"
PROJECT = '[project]\nname = "thing"\nversion = "1"\n'
BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'


@pytest.mark.parametrize(
    "files",
    [
        {"test_a.py": UNIT},
        {"calc.py": "", "tests/test_a.py": UNIT},
        {"pyproject.toml": TOOLS_ONLY, "tests/test_a.py": UNIT},
        {"pyproject.toml": PROJECT + BUILD, "thing/__init__.py": "", "tests/test_a.py": UNIT},
        {"setup.py": "from setuptools import setup\nsetup(name='thing')", "tests/test_a.py": UNIT},
        {"README.md": "only words"},
    ],
)
def test_tests_that_need_nothing_have_nothing_to_install(files: dict[str, str]) -> None:
    environment = detect_environment(tree(files))
    assert not environment.needs_setup
    assert environment.path == ()


def test_code_below_src_is_found_where_nothing_is_installed() -> None:
    environment = detect_environment(tree({"src/thing/__init__.py": "", "tests/test_a.py": UNIT}))
    assert (environment.install, environment.env) == ((), {"PYTHONPATH": "/workspace/src"})


def test_a_virtual_environment_is_made_anew_and_comes_first() -> None:
    environment = detect_environment(tree({"requirements.txt": "six\n", "test_a.py": PYTEST_STYLE}))
    assert environment.install[0].command == "rm -rf .venv && python3 -m venv .venv"
    assert environment.env["VIRTUAL_ENV"] == "/workspace/.venv"
    assert environment.path == ("/workspace/.venv/bin",)
    assert environment.directories == (".venv",)
    assert environment.key_files == ("requirements.txt",)
    assert environment.ecosystems == ("Python (pip)",)


def test_pytest_is_added_where_tests_need_it_and_nothing_declares_it() -> None:
    assert installs(detect_environment(tree({"test_a.py": PYTEST_STYLE}))).endswith("pip install pytest")


def test_a_version_of_pytest_that_is_declared_is_not_widened() -> None:
    files = {"requirements-dev.txt": "pytest==8.0\n", "test_a.py": PYTEST_STYLE}
    assert installs(detect_environment(tree(files))).endswith("--requirement requirements-dev.txt")


GROUPS = """
[dependency-groups]
tests = ["pytest", "freezegun"]
docs = ["sphinx"]
lint = ["ruff"]
dev = [{ include-group = "tests" }, { include-group = "docs" }]
[tool.ruff]
"""


def test_a_uv_lock_is_installed_with_the_groups_of_the_tests_alone() -> None:
    environment = detect_environment(tree({"pyproject.toml": PROJECT + GROUPS, "uv.lock": ""}))
    (sync,) = (one for one in environment.install if one.why == "uv.lock")
    assert "uv sync --frozen" in sync.command
    assert "--no-default-groups --group tests" in sync.command
    assert "docs" not in installs(environment)
    assert environment.ecosystems == ("Python (uv)",)
    assert "uv run" not in "".join(commands(environment).values())


def test_linters_are_brought_apart_so_that_they_cannot_stop_the_tests() -> None:
    environment = detect_environment(tree({"pyproject.toml": PROJECT + GROUPS, "uv.lock": ""}))
    (optional,) = (one for one in environment.install if one.is_optional)
    assert "--group lint" in optional.command
    assert "--inexact" in optional.command


def test_the_version_of_uv_that_a_project_asks_for_is_brought() -> None:
    files = {"pyproject.toml": PROJECT + '[tool.uv]\nrequired-version = ">=0.5"\n', "uv.lock": ""}
    assert "pip install 'uv>=0.5'" in installs(detect_environment(tree(files)))


def test_groups_are_spelled_out_for_a_pip_that_does_not_know_them() -> None:
    environment = detect_environment(tree({"pyproject.toml": PROJECT + BUILD + GROUPS, "src/thing/a.py": ""}))
    assert installs(environment).splitlines()[1].endswith("pip install --editable . pytest freezegun")


def test_a_group_that_includes_itself_ends() -> None:
    loop = '[dependency-groups]\ntest = ["pytest", {include-group = "a"}]\na = [{include-group = "test"}]\n'
    environment = detect_environment(tree({"pyproject.toml": PROJECT + BUILD + loop}))
    assert "--editable . pytest" in installs(environment)


def test_a_group_that_asks_for_the_package_itself_means_the_one_in_the_workspace() -> None:
    text = PROJECT + BUILD + '[project.optional-dependencies]\nsocks = ["x"]\n'
    text += '[dependency-groups]\ntest = ["thing[socks]", "pytest"]\n'
    last = detect_environment(tree({"pyproject.toml": text})).install[-1].command
    assert last.endswith("--editable '.[socks]' pytest")


def test_test_groups_that_lack_the_runner_are_joined_by_the_developers() -> None:
    groups = '[dependency-groups]\ntest = ["freezegun"]\ndev = ["pytest", "pytest-mock"]\n'
    files = {"pyproject.toml": PROJECT + BUILD + groups, "tests/test_a.py": PYTEST_STYLE}
    last = detect_environment(tree(files)).install[-1].command
    assert last.endswith("--editable . freezegun pytest pytest-mock")


@pytest.mark.parametrize("name", ["test", "tests", "testing", "dev", "development"])
def test_extras_for_tests_are_installed(name: str) -> None:
    extras = f'[project.optional-dependencies]\n{name} = ["pytest"]\ndocs = ["sphinx"]\n'
    last = detect_environment(tree({"pyproject.toml": PROJECT + BUILD + extras})).install[-1].command
    assert last.endswith(f"--editable '.[{name}]'")


def test_extras_of_a_setup_script_are_read_without_running_it() -> None:
    script = """
import os
from setuptools import setup
tests = ["pytest"]
raise SystemExit("never run")
setup(name="thing", install_requires=["six"], extras_require={"test": tests + ["mock"]},
      python_requires=">=3.12")
"""
    environment = detect_environment(tree({"setup.py": script}))
    assert environment.install[-1].command.endswith("--editable '.[test]'")
    assert environment.tools[0].version == ">=3.12"


def test_extras_of_setup_cfg_are_read() -> None:
    config = "[metadata]\nname = thing\n[options.extras_require]\ntesting =\n    pytest\ndocs =\n    sphinx\n"
    environment = detect_environment(tree({"setup.cfg": config, "setup.py": "import setuptools"}))
    assert environment.install[-1].command.endswith("--editable '.[testing]'")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ("requirements.txt requirements-test.txt", "requirements.txt requirements-test.txt"),
        ("requirements.txt requirements-docs.txt", "requirements.txt"),
        ("requirements/base.txt requirements/test.txt", "requirements/base.txt requirements/test.txt"),
        ("requirements/docs.txt requirements/testing.txt", "requirements/testing.txt"),
        ("requirements/tests.in requirements/tests.txt", "requirements/tests.txt"),
        ("test-requirements.txt", "test-requirements.txt"),
        ("tests/requirements.txt", "tests/requirements.txt"),
    ],
)
def test_requirement_files_of_the_tests_are_installed_and_those_of_documents_not(
    files: str, expected: str
) -> None:
    contents = dict.fromkeys(files.split(), "pytest\n") | {"tests/test_a.py": PYTEST_STYLE}
    last = detect_environment(tree(contents)).install[-1].command
    assert [word for word in last.split() if word.endswith((".txt", ".in"))] == expected.split()


def test_a_requirement_file_that_includes_another_stands_for_both() -> None:
    files = {"requirements/base.txt": "six\n", "requirements/test.txt": "-r base.txt\npytest\n"}
    last = detect_environment(tree(files)).install[-1].command
    assert last.endswith("pip install --requirement requirements/test.txt")


def test_requirements_with_hashes_are_installed_apart_from_the_package() -> None:
    locked = "pytest==8.0 --hash=sha256:00\n"
    files = {"pyproject.toml": PROJECT + BUILD, "requirements-test.txt": locked, "src/thing/a.py": ""}
    environment = detect_environment(tree(files))
    assert [one.command.partition("install ")[2] for one in environment.install[1:]] == [
        "--requirement requirements-test.txt",
        "--editable .",
    ]


def test_a_requirement_file_that_installs_the_package_is_enough() -> None:
    files = {"pyproject.toml": PROJECT + BUILD, "requirements.txt": "-e .[cli]\npytest==8\n"}
    assert (
        detect_environment(tree(files)).install[-1].command.endswith("install --requirement requirements.txt")
    )


@pytest.mark.parametrize(
    ("lock", "tool", "groups"),
    [
        ("poetry.lock", "poetry export", "--with test"),
        ("pdm.lock", "pdm export", "--group test"),
        ("Pipfile.lock", "pipenv requirements --dev", ""),
    ],
)
def test_other_locks_are_written_out_and_installed_exactly(lock: str, tool: str, groups: str) -> None:
    text = PROJECT + BUILD + '[dependency-groups]\ntest = ["pytest"]\ndocs = ["sphinx"]\n'
    environment = detect_environment(tree({"pyproject.toml": text, lock: ""}))
    (exact,) = (one.command for one in environment.install if one.why == f"the exact versions of {lock}")
    assert tool in exact
    assert groups in exact
    assert "--no-deps" in exact
    assert environment.install[-1].command.endswith("--no-deps --editable .")
    assert "docs" not in installs(environment)


def test_poetrys_old_list_for_developers_is_known() -> None:
    text = '[tool.poetry]\nname = "thing"\n[tool.poetry.dependencies]\npython = "^3.9"\n'
    text += '[tool.poetry.dev-dependencies]\npytest = "^7"\n'
    environment = detect_environment(tree({"pyproject.toml": text, "poetry.lock": ""}))
    assert "poetry export --no-interaction --with dev" in installs(environment)
    assert environment.tools[0].version == "^3.9"


def test_a_lock_that_holds_repositories_is_written_out_without_hashes() -> None:
    lock = '[package.source]\ntype = "git"\nurl = "x"\n'
    files = {"pyproject.toml": '[tool.poetry]\nname = "a"\n', "poetry.lock": lock}
    assert "--without-hashes" in installs(detect_environment(tree(files)))


def test_a_directory_that_only_lists_dependencies_is_not_installed_itself() -> None:
    text = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["six"]\n'
    files = {"pyproject.toml": text, "api/app.py": "", "jobs/run.py": "", "test_a.py": PYTEST_STYLE}
    assert detect_environment(tree(files)).install[-1].command.endswith("install pytest six")


def test_a_version_from_tags_is_pretended_only_without_a_history() -> None:
    text = '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\n'
    text += '[project]\nname = "thing"\ndynamic = ["version"]\n'
    last = detect_environment(tree({"pyproject.toml": text})).install[-1].command
    assert last.startswith("git rev-parse HEAD >/dev/null 2>&1 || {")
    assert "SETUPTOOLS_SCM_PRETEND_VERSION" in last


def test_the_version_that_developers_use_is_asked_for_first() -> None:
    files = {"pyproject.toml": PROJECT + 'requires-python = ">=3.8"\n', ".python-version": "3.12.4\n"}
    environment = detect_environment(tree(files | {"requirements.txt": "six"}))
    assert (environment.tools[0].version, environment.tools[0].said_in) == ("3.12.4", ".python-version")
    assert "for python in python3.12 python3 " in environment.install[0].command
    assert ".python-version" in environment.key_files


def test_a_fitting_interpreter_makes_the_environment(tmp_path: Path) -> None:
    made = subprocess.run(["bash", "-c", make_venv(">=3.8,<3.16", "3.99")], cwd=tmp_path, capture_output=True)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / ".venv/bin/python").exists()


def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    made = subprocess.run(
        ["/bin/bash", "-c", make_venv(">=3.14, <3.15`touch x`", "")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PATH": f"{tmp_path}/bin"},
    )
    assert made.returncode != 0
    assert "the project asks for Python >=3.14, <3.15touch x, which is not here" in made.stderr
    assert not (tmp_path / "x").exists()


def test_names_from_a_project_are_not_read_by_the_shell() -> None:
    odd, path = "$(touch x); rm -rf .", "requirements-test;touch y.txt"
    text = PROJECT + BUILD + f'[dependency-groups]\ntest = ["pytest", "{odd}"]\n'
    text += '[project.optional-dependencies]\n"test-all" = []\n'
    (_, last) = detect_environment(tree({"pyproject.toml": text, "requirements-test.txt": ""})).install
    assert odd in shlex.split(last.command)
    needs = f"[testenv]\ndeps =\n    -r {path}\n    {odd.replace(';', ' ')}\n"
    (_, last) = detect_environment(tree({"tox.ini": needs, path: "pytest"})).install
    assert {path, odd.replace(";", " ")} <= set(shlex.split(last.command))


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "[[[", "test_a.py": PYTEST_STYLE},
        {"pyproject.toml": "project = 1\ntool = 2\n[dependency-groups]\na = 1\n", "test_a.py": PYTEST_STYLE},
        {"pyproject.toml": "[project]\ndependencies = 3\nname = 4\n", "test_a.py": PYTEST_STYLE},
        {"setup.py": "def (", "test_a.py": PYTEST_STYLE},
        {"setup.cfg": "no section", "tox.ini": "[testenv\n", "test_a.py": PYTEST_STYLE},
        {"noxfile.py": "@nox.session\ndef tests(", "test_a.py": PYTEST_STYLE},
        {"pyproject.toml": "[tool.poetry]\ngroup = 1\nextras = []\n", "test_a.py": PYTEST_STYLE},
        {"pyproject.toml": "[tool.uv.workspace]\nmembers = 1\n", "uv.lock": "", "test_a.py": PYTEST_STYLE},
    ],
)
def test_files_that_cannot_be_read_do_not_stop_detection(files: dict[str, str]) -> None:
    assert commands(detect_environment(tree(files)))["pytest"] == "python -m pytest"
