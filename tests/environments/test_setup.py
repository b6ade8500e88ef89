"""A set-up installs once what a repository needs, and every order finds it."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from journeyman.environments.plan import Environment, InstallCommand
from journeyman.events.types.environments import (
    EnvironmentCommandCompleted,
    EnvironmentReady,
    EnvironmentSetupFailed,
    NetworkDenied,
)
from journeyman.settings import Settings
from tests.environments.repositories import IGNORED, INSTALL, EnvironmentPlace, environment
from tests.environments.standins import DenyingEgress
from tests.git.repositories import make_repository
from tests.sandboxes.layer_trees import output_of


async def test_what_is_installed_is_there_for_an_order_and_its_first_command(place: EnvironmentPlace) -> None:
    wanted = environment(env={"GREETING": "hello"}, path=("/workspace/.venv/bin",))
    ready = await place.prepare(wanted)
    assert ready.layer is not None
    assert ready.layer.mounts == (".venv",)
    assert ready.layer.files == ("_version.py",)
    async with place.sandbox(ready) as sandbox:
        shown = await output_of(sandbox, "cat .venv/installed ~/.package _version.py; echo $GREETING")
    assert shown == "one\ncached\n1\nhello\n"
    assert place.told() == [
        "environment_setup_started",
        "environment_command_completed",
        "environment_ready",
    ]


async def test_a_virtual_environment_works_where_it_was_made(place: EnvironmentPlace) -> None:
    wanted = environment(
        "python3 -m venv --without-pip .venv",
        "echo /workspace/src > $(echo .venv/lib/python*/site-packages)/editable.pth",
        env={"VIRTUAL_ENV": "/workspace/.venv"},
        path=("/workspace/.venv/bin",),
    )
    ready = await place.prepare(wanted)
    async with place.sandbox(ready) as sandbox:
        await sandbox.write_file("src/a.py", b"value = 7\n")
        shown = await output_of(sandbox, "python -c 'import a, sys; print(a.value, sys.prefix)'")
    assert shown == "7 /workspace/.venv\n"


async def test_the_next_order_finds_the_layer_and_installs_nothing(place: EnvironmentPlace) -> None:
    first = await place.prepare()
    place.events.clear()
    second = await place.prepare()
    assert second.layer == first.layer
    (event,) = place.events
    assert isinstance(event, EnvironmentReady)
    assert event.reused
    assert event.files == 3


async def test_ten_orders_at_once_make_one_layer(place: EnvironmentPlace) -> None:
    ready = await asyncio.gather(*(place.prepare() for _ in range(10)))
    assert len({one.layer.key for one in ready if one.layer}) == 1
    assert place.told().count("environment_setup_started") == 1
    assert place.told().count("environment_ready") == 10


async def test_a_changed_lock_file_makes_a_new_layer_that_begins_with_the_old_one(
    place: EnvironmentPlace,
) -> None:
    install = "ls ~ .venv 2>/dev/null > build.log; mkdir -p .venv; cp lock .venv/installed; touch ~/more"
    first = await place.prepare(environment(install + "; mkdir -p build; mv build.log build/"))
    place.commit({"lock": "two\n"})
    second = await place.prepare(environment(install + "; mkdir -p build; mv build.log build/"))
    assert first.layer
    assert second.layer
    assert first.layer.key != second.layer.key
    async with place.sandbox(second) as sandbox:
        shown = await output_of(sandbox, "cat .venv/installed build/build.log")
    assert shown == "two\n.venv:\ninstalled\n\n/home/agent:\nmore\n"
    assert (first.layer.workspace / ".venv" / "installed").read_text() == "one\n"


async def test_another_change_of_the_repository_keeps_the_layer(place: EnvironmentPlace) -> None:
    first = await place.prepare()
    place.commit({"src/a.py": "a = 2\n"})
    assert (await place.prepare()).layer == first.layer


async def test_two_repositories_with_the_same_files_never_share_a_layer(place: EnvironmentPlace) -> None:
    files = {"lock": "one\n", ".gitignore": IGNORED, "src/a.py": "a = 1\n"}
    other = make_repository(place.directory / "other", files)
    first, second = await place.prepare(), await place.prepare(source=other)
    assert first.layer
    assert second.layer
    assert first.layer.key != second.layer.key
    assert place.told().count("environment_setup_started") == 2
    assert place.layers.nearest(second.layer.inputs) == second.layer


async def test_a_layer_of_an_orders_own_commit_is_used_by_nobody_else(place: EnvironmentPlace) -> None:
    own = await place.prepare(private_to="wo-11111111")
    shared = await place.prepare()
    other = await place.prepare(private_to="wo-22222222")
    keys = {one.layer.key for one in (own, shared, other) if one.layer}
    assert len(keys) == 3
    assert own.layer
    assert shared.layer
    assert place.layers.nearest(own.layer.inputs) != own.layer
    assert (await place.prepare(private_to="wo-11111111")).layer == own.layer


async def test_directories_that_the_environment_names_belong_to_the_layer(place: EnvironmentPlace) -> None:
    ready = await place.prepare(
        environment(
            "mkdir -p store src && echo x > store/x && echo y > untracked", directories=("store", "src")
        )
    )
    assert ready.layer
    assert ready.layer.mounts == ("store",)
    assert ready.layer.files == ()


async def test_an_optional_command_may_fail(place: EnvironmentPlace) -> None:
    install = (
        InstallCommand(command="echo no such thing; exit 3", why="", is_optional=True),
        InstallCommand(command=INSTALL, why=""),
    )
    ready = await place.prepare(Environment(install=install, key_files=("lock",)))
    assert ready.layer
    assert "exit code 3" in ready.notes[0]


async def test_a_failed_set_up_is_an_answer_and_is_not_tried_again_at_once(place: EnvironmentPlace) -> None:
    failing = environment("echo 'fatal error: zlib.h: No such file or directory'; exit 1", INSTALL)
    ready = await place.prepare(failing)
    assert ready.layer is None
    assert ready.mounts == ()
    assert ready.problem
    assert (ready.problem.kind, ready.problem.command) == ("compiler", failing.install[0].command)
    again = await asyncio.gather(*(place.prepare(failing) for _ in range(3)))
    assert {one.problem for one in again} == {ready.problem}
    assert place.told().count("environment_setup_started") == 1
    assert place.told().count("environment_setup_failed") == 4
    assert place.layers.all() == []
    await place.prepare(replace(failing, setup_hosts=("files.example",)))
    assert place.told().count("environment_setup_started") == 2


async def test_a_denied_host_is_told_and_named_in_the_remedy(tmp_path: Path, settings: Settings) -> None:
    egress = DenyingEgress(tmp_path / "door.sock")
    place = EnvironmentPlace(tmp_path, settings, egress)
    ask = "exec 3<>/dev/tcp/127.0.0.1/$EGRESS_PORT && echo registry.example >&3 && cat <&3"
    wanted = environment(f"{ask}; cat {tmp_path}/shown/ca; exit 1", setup_hosts=("more.example",))
    ready = await place.prepare(wanted)
    await place.jails.close()
    assert egress.opened == [("more.example",)]
    assert egress.is_closed
    denied = [event for event in place.events if isinstance(event, NetworkDenied)]
    assert [(one.host, one.phase, one.command) for one in denied] == [
        ("registry.example", "setup", wanted.install[0].command)
    ]
    assert ready.problem
    assert ready.problem.kind == "denied_host"
    assert "registry.example" in ready.problem.reason
    (done,) = (event for event in place.events if isinstance(event, EnvironmentCommandCompleted))
    assert done.output == "denied\ncertificate"


async def test_a_secret_is_a_variable_of_the_install_commands_and_never_shown(
    tmp_path: Path, settings: Settings
) -> None:
    secret = SecretStr("correct-horse-battery")
    place = EnvironmentPlace(tmp_path, settings.model_copy(update={"environment_secrets": {"TOKEN": secret}}))
    ready = await place.prepare(environment("echo token=$TOKEN; " + INSTALL, secrets=("TOKEN", "OTHER")))
    async with place.sandbox(ready) as sandbox:
        assert await output_of(sandbox, "echo $TOKEN") == "\n"
    await place.jails.close()
    (done,) = (event for event in place.events if isinstance(event, EnvironmentCommandCompleted))
    assert done.output == "token=[redacted]"


@pytest.mark.parametrize("where", ["~/.npmrc", ".venv/deep/config"])
@pytest.mark.parametrize("form", ["echo $TOKEN", "echo -n user:$TOKEN | base64"])
async def test_a_layer_that_holds_a_secret_is_refused(
    tmp_path: Path, settings: Settings, where: str, form: str
) -> None:
    secret = SecretStr("correct-horse-battery")
    place = EnvironmentPlace(tmp_path, settings.model_copy(update={"environment_secrets": {"TOKEN": secret}}))
    install = f"mkdir -p .venv/deep; {form} > {where}"
    ready = await place.prepare(environment(install, secrets=("TOKEN",)))
    await place.jails.close()
    assert ready.layer is None
    assert ready.problem
    assert ready.problem.kind == "secret_in_layer"
    assert os.path.basename(where) in ready.problem.reason
    assert place.layers.all() == []


async def test_nothing_is_done_where_nothing_is_to_install_or_set_ups_are_off(
    tmp_path: Path, settings: Settings
) -> None:
    for update in ({"environment_setup": "off"}, {"local_isolation": "none"}):
        place = EnvironmentPlace(tmp_path, settings.model_copy(update=update))
        ready = await place.prepare()
        assert (ready.layer, ready.problem, place.events) == (None, None, [])
    place = EnvironmentPlace(tmp_path, settings)
    assert (await place.prepare(Environment(env={"A": "b"}))).env == (("A", "b"),)
    assert place.events == []


async def test_a_failed_set_up_says_what_to_do(place: EnvironmentPlace) -> None:
    await place.prepare(environment("no-such-tool install"))
    (failed,) = (event for event in place.events if isinstance(event, EnvironmentSetupFailed))
    assert "no-such-tool" in failed.reason
    assert "JOURNEYMAN_SANDBOX_PATHS" in failed.remedy
