"""Which checks count: the base decides, the change adds, and a step of the workflow has the last word."""

from collections.abc import Mapping

from journeyman.environments.plan import Check, CheckKind
from journeyman.verification.choose import choose_checks


def check(name: str, kind: CheckKind = "test", command: str = "base", workdir: str = ".") -> Check:
    return Check(
        name=name,
        kind=kind,
        command=command,
        workdir=workdir,
        tool=name,
        why="x",
        probe="there",
        otherwise=None,
    )


def chosen(
    base: list[Check], head: list[Check] | None = None, commands: Mapping[str, str | None] | None = None
) -> dict[str, str]:
    return {one.name: one.command for one in choose_checks(base, head or [], commands or {})}


def test_a_change_cannot_replace_a_command_of_the_base() -> None:
    assert chosen([check("pytest")], [check("pytest", command="true")]) == {"pytest": "base"}


def test_a_change_cannot_take_a_check_away() -> None:
    assert chosen([check("pytest")], []) == {"pytest": "base"}


def test_a_kind_that_the_base_has_no_check_of_is_checked_as_the_change_says() -> None:
    assert chosen([], [check("pytest", command="head")]) == {"pytest": "head"}
    assert chosen([check("pytest")], [check("npm test", command="head")]) == {"pytest": "base"}


def test_a_step_replaces_the_check_of_the_same_name_where_it_is() -> None:
    (one,) = choose_checks(
        [check("api: go test", workdir="api")], [], {"api: go test": "go test -race ./..."}
    )
    assert (one.command, one.workdir, one.kind, one.probe) == ("go test -race ./...", "api", "test", "true")


def test_a_step_replaces_all_checks_of_a_kind_by_its_name() -> None:
    base = [check("pytest"), check("npm test"), check("ruff", "lint")]
    assert chosen(base, commands={"test": "make check"}) == {"test": "make check", "ruff": "base"}


def test_a_step_leaves_out_what_it_names_with_nothing() -> None:
    assert chosen([check("pytest"), check("ruff", "lint")], commands={"lint": None}) == {"pytest": "base"}
    assert chosen([check("pytest")], commands={"unknown": None}) == {"pytest": "base"}


def test_another_name_is_another_test() -> None:
    both = choose_checks([check("pytest")], [], {"smoke": "./smoke.sh", "build": "make"})
    assert [(one.name, one.kind) for one in both] == [
        ("build", "build"),
        ("pytest", "test"),
        ("smoke", "test"),
    ]


def test_the_change_has_no_say_against_the_step() -> None:
    assert chosen([], [check("pytest", command="true")], {"pytest": "pytest -q"}) == {"pytest": "pytest -q"}
