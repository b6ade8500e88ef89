"""How a Python project's tests, linters and type checkers are called."""

import pytest

from journeyman.environments.detect.combine import detect_environment
from journeyman.environments.detect.found import Hints, SeenCommand
from tests.environments.detect.trees import PYTEST_STYLE, UNIT, commands, installs, tree, ways

PYTEST = "python -m pytest"
LAYOUTS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "nothing": ({"README.md": ""}, {}),
    "library without tests": ({"setup.py": ""}, {}),
    "plain test functions": ({"test_calc.py": PYTEST_STYLE}, {"pytest": PYTEST}),
    "tests directory": ({"tests/test_a.py": PYTEST_STYLE}, {"pytest": PYTEST}),
    "conftest alone": ({"tests/conftest.py": ""}, {"pytest": PYTEST}),
    "pyproject": ({"pyproject.toml": "[tool.pytest.ini_options]\nx=1"}, {"pytest": PYTEST}),
    "pyproject for another tool": ({"pyproject.toml": "[tool.black]\nx=1"}, {}),
    "pyproject of a package": (
        {"pyproject.toml": "[project]\nname='a'\n[tool.pytest.ini_options]\naddopts='-ra'"},
        {"pytest": PYTEST},
    ),
    "setup.cfg": ({"setup.py": "", "setup.cfg": "[tool:pytest]\n"}, {"pytest": PYTEST}),
    "pytest.ini": ({"pytest.ini": "[pytest]\n", "setup.py": ""}, {"pytest": PYTEST}),
    "requirements": ({"requirements-dev.txt": "pytest==8\n"}, {"pytest": PYTEST}),
    "unittest at the root": ({"test_a.py": UNIT}, {"unittest": "python3 -m unittest discover"}),
    "unittest in a directory": (
        {"tests/test_a.py": UNIT, "tests/sub/test_b.py": UNIT},
        {"unittest": "python3 -m unittest discover -s tests"},
    ),
    "unittest in a package": (
        {"tests/test_a.py": UNIT, "tests/__init__.py": ""},
        {"unittest": "python3 -m unittest discover -s tests -t ."},
    ),
    "unittest in two places": (
        {"a/test_a.py": UNIT, "b/test_b.py": UNIT},
        {"unittest": "python3 -m unittest discover"},
    ),
    "mixed styles": ({"test_a.py": PYTEST_STYLE, "test_b.py": UNIT}, {"pytest": PYTEST}),
    "django": ({"manage.py": ""}, {"django": "python3 manage.py test"}),
    "django with packages": (
        {"manage.py": "", "requirements.txt": "django"},
        {"django": "python manage.py test"},
    ),
    "django with pytest": ({"manage.py": "", "requirements.txt": "pytest-django\n"}, {"pytest": PYTEST}),
    "tox with its own commands": ({"tox.ini": "[testenv]\ncommands = ./go\n"}, {"tox": "./go"}),
    "ruff that repairs": (
        {"test_a.py": UNIT, "ruff.toml": "fix = true"},
        {"unittest": "python3 -m unittest discover", "ruff": "ruff check --no-fix ."},
    ),
    "flake8": (
        {"test_a.py": UNIT, ".flake8": ""},
        {
            "unittest": "python3 -m unittest discover",
            "flake8": "flake8 --extend-exclude .venv,node_modules .",
        },
    ),
    "mypy with files": (
        {"test_a.py": UNIT, "mypy.ini": "[mypy]\nfiles = a\n"},
        {"unittest": "python3 -m unittest discover", "mypy": "mypy"},
    ),
    "mypy without a word about where": (
        {"test_a.py": UNIT, "mypy.ini": "[mypy]\nstrict = true\n"},
        {"unittest": "python3 -m unittest discover"},
    ),
    "pyright": (
        {"test_a.py": UNIT, "pyrightconfig.json": "{}"},
        {"unittest": "python3 -m unittest discover", "pyright": "pyright"},
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_python_project_is_known_by_its_files(layout: str) -> None:
    files, expected = LAYOUTS[layout]
    environment = detect_environment(tree(files))
    assert commands(environment) == expected
    assert all(check.why and check.tool and check.probe for check in environment.checks)


def test_unittest_takes_the_place_of_pytest_only_where_it_runs_every_test() -> None:
    def tests(**files: str) -> list[str]:
        contents = {f"{name}.py": text for name, text in files.items()}
        return ways(detect_environment(tree(contents | {"pytest.ini": "[pytest]\n"})).checks[0])

    pytest_first = [PYTEST, PYTEST.replace("python", "python3")]
    unittest = ["python -m unittest discover", "python3 -m unittest discover"]
    assert tests(test_a=UNIT) == [*pytest_first, *unittest]
    assert tests(test_a=UNIT, test_b=PYTEST_STYLE) == pytest_first
    assert tests(test_a=UNIT, conftest="") == pytest_first


def test_tests_of_another_package_below_are_not_this_ones() -> None:
    files = {
        "setup.py": "",
        "examples/shop/pyproject.toml": "",
        "examples/shop/tests/test_a.py": PYTEST_STYLE,
    }
    assert commands(detect_environment(tree(files))) == {}


TOX = """
[tox]
envlist = py{310,311}, lint
[testenv]
deps =
    -e .
    pytest
    pip
    # a remark
    py{3,312,313}: -rtests/requirements/py3.txt
    py38: typing-extensions
    postgres: psycopg
extras = socks
changedir = tests
setenv =
    PYTHONDONTWRITEBYTECODE=1
    SETTINGS=tests.settings
    PLACE={toxinidir}/x
commands =
    {envpython} runtests.py {posargs}
[testenv:lint]
deps = ruff
commands = ruff check
"""


def test_tox_says_what_tests_need_and_what_runs_them() -> None:
    pyproject = (
        '[project]\nname="a"\n[project.optional-dependencies]\nsocks=["s"]\n[build-system]\nrequires=[]\n'
    )
    files = {"tox.ini": TOX, "pyproject.toml": pyproject, "tests/requirements/py3.txt": "six\n"}
    environment = detect_environment(tree(files, "tests/runtests.py"))
    (check,) = environment.checks
    assert (check.command, check.workdir) == ("SETTINGS=tests.settings python runtests.py", "tests")
    last = environment.install[-1].command
    assert last.endswith("install --requirement tests/requirements/py3.txt --editable '.[socks]' pytest")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("pytest {posargs:tests}", "python -m pytest tests"),
        ("pytest {posargs:-n auto}", PYTEST),
        ("coverage run -m pytest test.py", "python -m pytest test.py"),
        ("pytest --cov=thing --cov-report xml -k 'not slow' tests", "python -m pytest -k 'not slow' tests"),
        ("{envpython} -bb -m pytest --doctest-modules gone", "python -m pytest --doctest-modules"),
        ("-pytest \\\n    tests", "python -m pytest tests"),
        ("poetry install\n    pytest tests/ {posargs}", "python -m pytest tests/"),
        ("python -m unittest -v tests", "python -m unittest -v tests"),
        ("tests: pytest tests\n    mypy: mypy src", "python -m pytest tests"),
    ],
)
def test_what_tox_runs_is_run_without_reports_and_posargs(said: str, expected: str) -> None:
    files = {"tox.ini": f"[testenv]\ndeps = six\ncommands =\n    {said}\n", "tests/test_a.py": PYTEST_STYLE}
    (command,) = commands(detect_environment(tree(files, "test.py"))).values()
    assert command == expected


def test_tox_in_toml_is_understood() -> None:
    text = '[env_run_base]\ndeps = ["pytest", "mock"]\ncommands = [["pytest", "tests"]]\n'
    environment = detect_environment(
        tree({"tox.toml": text, "tests/test_a.py": PYTEST_STYLE, "setup.py": ""})
    )
    assert commands(environment) == {"pytest": "python -m pytest tests"}
    assert environment.install[-1].command.endswith("--editable . pytest mock")


NOX = """
import nox
PYPROJECT = nox.project.load_toml("pyproject.toml")
@nox.session(python=["3.12"])
def lint(session):
    session.install("ruff")
@nox.session
def unit_tests(session: nox.Session) -> None:
    session.install("-r", "requirements/ci.txt", "-e", ".[fast]", "mock", "--only-binary", "hypothesis")
    session.install(*nox.project.dependency_groups(PYPROJECT, "check"))
    session.run("pytest", "tests", *session.posargs)
"""


def test_nox_is_read_and_never_run() -> None:
    pyproject = (
        '[project]\nname="a"\n[project.optional-dependencies]\nfast=["f"]\n[build-system]\nrequires=[]\n'
    )
    pyproject += '[dependency-groups]\ncheck=["pytest"]\n'
    files = {"noxfile.py": NOX, "pyproject.toml": pyproject, "requirements/ci.txt": "six"}
    environment = detect_environment(tree(files, "tests/test_a.py"))
    last = environment.install[-1].command
    assert last.endswith("--requirement requirements/ci.txt --editable '.[fast]' mock pytest")


@pytest.mark.parametrize("name", ["hatch-test", "test", "default"])
def test_environments_of_hatch_say_what_tests_need(name: str) -> None:
    text = '[project]\nname="a"\n[project.optional-dependencies]\nweb=["w"]\n[build-system]\nrequires=[]\n'
    text += f'[tool.hatch.envs.{name}]\nextra-dependencies = ["respx"]\nfeatures = ["web"]\n'
    environment = detect_environment(tree({"pyproject.toml": text, "tests/test_a.py": PYTEST_STYLE}))
    assert environment.install[-1].command.endswith("--editable '.[web]' respx pytest")


def test_a_test_script_of_its_own_is_found_in_ci() -> None:
    seen = SeenCommand(command="python -Wall tests/runtests.py -v2", said_in=".github/workflows/tests.yml")
    project = tree({"setup.py": ""}, "tests/runtests.py", "tests/a/test_a.py")
    (check,) = detect_environment(project, Hints(commands=(seen,))).checks
    assert (check.name, check.command, check.why) == (
        "runtests.py",
        "python3 tests/runtests.py",
        ".github/workflows/tests.yml",
    )


def test_a_script_that_ci_names_and_is_not_there_is_not_run() -> None:
    seen = SeenCommand(command="python tests/runtests.py", said_in="ci.yml")
    project = tree({"test_a.py": UNIT})
    assert commands(detect_environment(project, Hints(commands=(seen,)))) == {
        "unittest": "python3 -m unittest discover"
    }


def test_the_paths_that_ci_gives_mypy_are_used() -> None:
    seen = SeenCommand(command="mypy --strict lib tests", said_in="ci.yml")
    project = tree({"mypy.ini": "[mypy]\n", "lib/a.py": "", "test_a.py": UNIT})
    assert commands(detect_environment(project, Hints(commands=(seen,))))["mypy"] == "mypy --strict lib tests"


def test_pyright_is_brought_before_the_network_is_gone() -> None:
    files = {"pyproject.toml": "[tool.pyright]\n[dependency-groups]\ndev=['pytest','pyright']\n"}
    assert ".venv/bin/pyright --version" in installs(detect_environment(tree(files)))
