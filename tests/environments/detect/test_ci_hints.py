"""What CI files, make files and documents say in passing."""

from textwrap import dedent

import pytest

from journeyman.environments.detect.ci_hints import read_hints
from journeyman.environments.detect.found import Hints
from tests.environments.detect.small_projects import files

WORKFLOW = ".github/workflows/ci.yml"


def hints(**contents: str) -> Hints:
    return read_hints(files({path: dedent(text) for path, text in contents.items()}))[0]


def commands(found: Hints) -> list[str]:
    return [one.command for one in found.commands]


def test_a_workflow_of_github_gives_commands_versions_packages_and_variables() -> None:
    found = hints(
        **{
            WORKFLOW: """
            on: [push]
            env: {DJANGO_SETTINGS_MODULE: tests.settings, TOKEN: "${{ secrets.TOKEN }}"}
            jobs:
              test:
                runs-on: ${{ matrix.os }}
                strategy:
                  matrix:
                    python-version: ["3.9", 3.10, pypy-3.10]
                    include: [{python-version: 3.13, os: ubuntu-latest}]
                steps:
                  - uses: actions/setup-node@v4
                    with: {node-version: 20}
                  - run: sudo apt-get install -y --no-install-recommends libpq-dev ${{ matrix.extra }} gettext
                  - run: |
                      # prepare
                      pip install -e . \\
                        -r requirements.txt
                      cd tests
                      python runtests.py
                  - working-directory: web
                    run: cd app && npm test
              publish:
                runs-on: ubuntu-latest
                steps: [{run: twine upload}]
              windows:
                runs-on: windows-latest
                steps: [{run: run.bat}]
            """
        }
    )
    assert [(one.command, one.workdir) for one in found.commands] == [
        ("pip install -e . -r requirements.txt", "."),
        ("python runtests.py", "tests"),
        ("npm test", "web/app"),
    ]
    assert {one.said_in for one in found.commands} == {WORKFLOW}
    assert found.versions == {"python3": ("3.9", "3.10", "pypy-3.10", "3.13"), "node": ("20",)}
    assert found.apt == ("libpq-dev", "gettext")
    assert found.env == {"DJANGO_SETTINGS_MODULE": "tests.settings"}


def test_workflows_that_do_something_else_are_left_out() -> None:
    job = "jobs: {a: {steps: [{run: make x}]}}"
    assert hints(**{".github/workflows/release.yml": job, ".github/workflows/docs.yaml": job}).commands == ()


def test_variables_that_two_files_set_differently_are_left_out() -> None:
    found = hints(
        **{
            ".github/workflows/a.yml": "env: {A: 1, B: 1}\njobs: {}",
            ".github/workflows/b.yml": "env: {A: 2, B: 1}\njobs: {}",
        }
    )
    assert found.env == {"B": "1"}


def test_services_of_ci_are_a_note() -> None:
    _, notes = read_hints(
        files(
            {WORKFLOW: "jobs: {test: {services: {db: {image: 'postgres:16'}, cache: {image: acme/redis}}}}"}
        )
    )
    assert len(notes) == 1
    assert "postgres, redis" in notes[0]


@pytest.mark.parametrize(
    ("path", "text", "command"),
    [
        (".gitlab-ci.yml", "test: {script: [pip install ., pytest]}", "pytest"),
        (".gitlab-ci.yml", "test: {script: !reference [x, y]}\nlint: {script: ruff check}", "ruff check"),
        (".travis.yml", "script: make check", "make check"),
        (".circleci/config.yml", "jobs: {a: {steps: [checkout, {run: go test}]}}", "go test"),
        (".circleci/config.yml", "jobs: {a: {steps: [{run: {command: tox}}]}}", "tox"),
        ("azure-pipelines.yml", "steps: [{script: nox}]", "nox"),
        ("azure-pipelines.yml", "stages: [{jobs: [{steps: [{bash: ctest}]}]}]", "ctest"),
        (
            "Makefile",
            "PY ?= python3\ntest: all\n\t@$(PY) -m pytest -q\n\nclean:\n\trm x\n",
            "python3 -m pytest -q",
        ),
        ("README.md", "Run:\n\n```\n$ tox -e py\n```\n", "tox -e py"),
        ("CONTRIBUTING.rst", "Test it::\n\n    ./runtests.py --parallel 1\n", "./runtests.py --parallel 1"),
        ("README.md", "Then `make check` tells you.\n", "make check"),
    ],
)
def test_a_command_is_found_where_it_stands(path: str, text: str, command: str) -> None:
    found = hints(**{path: text})
    assert command in commands(found)
    assert found.commands[-1].said_in == path


def test_ci_goes_before_make_files_and_documents() -> None:
    found = hints(
        **{
            "README.md": "`tox`",
            "Makefile": "test:\n\tpytest\n",
            WORKFLOW: "jobs: {a: {steps: [{run: nox}]}}",
        }
    )
    assert commands(found) == ["nox", "pytest", "tox"]


def test_sentences_are_no_commands() -> None:
    text = "pytest is what we use.\nTox: see below\ngo test everything, always.\nWe `love` it.\n"
    assert hints(**{"README.md": text}).commands == ()


def test_other_ways_to_name_versions_are_read() -> None:
    found = hints(
        **{
            ".travis.yml": "python: ['3.8', 3.10]\nrvm: 2.7\naddons: {apt: {packages: [libxml2]}}\nscript: x",
            ".gitlab-ci.yml": "image: x.example/python:3.12-slim\ntest: {image: 'golang:1.22', script: y}",
        }
    )
    assert found.versions == {"python3": ("3.12", "3.8", "3.10"), "go": ("1.22",), "ruby": ("2.7",)}
    assert found.apt == ("libxml2",)


@pytest.mark.parametrize(
    "text", ["a: [", "a: b: c", "\tx: 1", "a: &a [*b]", "!!python/object:os.system x: 1"]
)
def test_a_file_that_is_not_yaml_is_a_note_and_the_others_are_read(text: str) -> None:
    found, notes = read_hints(files({WORKFLOW: text, ".travis.yml": "script: make"}))
    assert commands(found) == ["make"]
    assert len(notes) <= 1
    assert all(WORKFLOW in note for note in notes)


def test_the_line_of_a_mistake_is_named() -> None:
    _, notes = read_hints(files({WORKFLOW: "on: push\njobs:\n\ttest: 1\n"}))
    assert notes == (f"{WORKFLOW}, line 3: not valid YAML, so its commands are not known.",)


@pytest.mark.parametrize(
    "text",
    [
        "jobs: 3",
        "jobs: [a, b]",
        "jobs: {a: [1], b: {steps: {run: x}}, c: {steps: [1, {run: [1, {a: b}]}], services: 4}}",
        "jobs: {a: {strategy: {matrix: ${{ fromJSON(x) }}}}}",
        "env: [1]\njobs: {a: {steps: null, defaults: {run: 1}, container: [x]}}",
        "- a\n- b",
        "",
    ],
)
def test_values_of_an_unexpected_shape_are_passed_over(text: str) -> None:
    others = (".gitlab-ci.yml", ".travis.yml", ".circleci/config.yml", "azure-pipelines.yml")
    found, _ = read_hints(files(dict.fromkeys((WORKFLOW, *others), text)))
    assert {one.command for one in found.commands} <= {"x", "1"}


def test_aliases_that_grow_without_end_cost_nothing() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    found = hints(**{".travis.yml": "\n".join([*lines, "script: *a59"])})
    assert len(found.commands) < 1000


def test_conditions_loops_and_here_documents_are_left_out() -> None:
    script = """
    jobs:
      test:
        steps:
          - run: |
              if [ "$X" ]; then
                make one
              fi
              for f in a b; do make $f; done
              cat <<EOF >file
              make two
              EOF
              cd $SOMEWHERE
              cd ../outside
              make three
    """
    found = hints(**{WORKFLOW: script})
    assert [(one.command, one.workdir) for one in found.commands if "make" in one.command] == [
        ("make three", ".")
    ]
