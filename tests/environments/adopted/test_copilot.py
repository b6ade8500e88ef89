"""What a repository says in `copilot-setup-steps.yml` is used as far as it can be."""

import pytest

from journeyman.environments.adopted.copilot import adopt
from journeyman.environments.definition import Definition
from tests.environments.projects import project_of

_FILE = """\
name: Copilot Setup Steps
on:
  workflow_dispatch:
jobs:
  copilot-setup-steps:
    runs-on: ubuntu-latest
    env: {PIP_RETRIES: 2, TOKEN: "${{ secrets.TOKEN }}"}
    defaults: {run: {working-directory: api}}
    services:
      mysql: {image: "mysql:8"}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: 3.10, cache: pip}
      - uses: actions/setup-node@v4
        with:
          node-version: "20.x"
      - uses: some/thing@v1
      - name: Install
        run: |
          pip install -U pip
          pip install -e .
      - run: npm ci
        working-directory: ./web
      - run: make
        env: {LANGUAGE: "a b", PATH: /x}
      - name: Only there
        if: github.event_name == 'push'
        run: make there
      - run: echo "A=b" >> "$GITHUB_ENV"
      - run: make ${{ matrix.a }}
      - run: Get-Item
        shell: pwsh
      - run: sudo apt-get install -y x
"""


def adopted(text: str) -> Definition:
    definition = adopt(project_of({".github/workflows/copilot-setup-steps.yml": text}))
    assert definition is not None
    return definition


def test_run_steps_install_in_their_order_and_directory() -> None:
    assert [(one.command, one.workdir) for one in adopted(_FILE).install or ()] == [
        ("set -e\npip install -U pip\npip install -e .", "api"),
        ("npm ci", "web"),
        ("set -e\nexport LANGUAGE='a b'\nmake", "api"),
    ]


def test_set_up_actions_say_which_versions_are_needed() -> None:
    assert [(one.tool, one.version) for one in adopted(_FILE).tools] == [
        ("python3", "3.10"),
        ("node", "20.x"),
    ]


def test_what_only_a_runner_of_github_can_do_is_noted() -> None:
    definition = adopted(_FILE)
    assert definition.env == {"PIP_RETRIES": "2"}
    text = "\n".join(definition.notes)
    for words in ("TOKEN was left out", "(mysql)", "'some/thing'", "'Only there'", "GITHUB_ENV", "matrix.a"):
        assert words in text
    for words in ("Get-Item", "sudo apt-get", "PATH is made"):
        assert words in text


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "no job"),
        ("jobs: {other: {steps: []}}", "no job"),
        ("jobs: [", "cannot be read"),
        ("jobs: &a {copilot-setup-steps: *a}", "cannot be read"),
        ("jobs: " + "[" * 20_000, "cannot be read"),
        ("- " * 20_000, "cannot be read"),
        ("# x\n" * 50_000, "larger than"),
    ],
)
def test_a_broken_file_is_a_note(text: str, note: str) -> None:
    definition = adopted(text)
    assert note in definition.notes[0]
    assert definition.install is None


@pytest.mark.parametrize(
    "job",
    [
        "{steps: 5}",
        "{steps: [5, {run: [a]}, {uses: [b]}, {uses: a, with: 5}, {}]}",
        "{env: [a], services: [b], defaults: 5, steps: [{run: make, env: 5, working-directory: ../..}]}",
        "[]",
        "null",
    ],
)
def test_wrong_types_never_crash(job: str) -> None:
    definition = adopted(f"jobs: {{copilot-setup-steps: {job}}}")
    assert [one.workdir for one in definition.install or ()] in ([], ["."])


def test_a_repository_without_one_has_none() -> None:
    assert adopt(project_of({".github/workflows/ci.yml": _FILE})) is None
