"""Which tool is used, and how little of the machine a jail is shown for it. The tools are small scripts."""

import os
import re
import shutil
from pathlib import Path

import pytest

from journeyman.environments.plan import ToolNeed
from journeyman.environments.tools import InstalledTool, Tools, choose
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings

PAGE = Path(__file__).parents[2] / "docs/how-to/toolchains-in-the-sandbox.md"
PLACES = re.findall(r"^\| [^|]+ \| `~/([^`]+)` \|$", PAGE.read_text(), re.MULTILINE)
TOOLS = {
    "rustup": "cargo",
    "node": "node",
    "python": "python3",
    "pyenv": "python3",
    "go": "go",
    "golang": "go",
}
TOOLS |= {"java": "java", "rbenv": "ruby", "sdk": "go"}


def put(program: Path, says: str) -> Path:
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    return program


def tool(program: Path, version: str) -> Path:
    return put(program, f"echo '{program.name} {version}'")


def need(name: str, version: str = "", said_in: str = "a file") -> ToolNeed:
    return ToolNeed(tool=name, version=version, said_in=said_in)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The home of the server's user."""
    return tmp_path / "people" / "ann"


async def test_a_toolchain_of_rustup_is_shown_and_never_the_directory_with_credentials(machine: Path) -> None:
    toolchains = machine / ".rustup/toolchains"
    stable, nightly = toolchains / "stable-x86_64", toolchains / "nightly-x86_64"
    tool(stable / "bin/cargo", "1.80.0 (abc 2024-01-01)")
    tool(nightly / "bin/cargo", "1.82.0-nightly (abc 2024-01-01)")
    switch = put(machine / ".cargo/bin/rustup", f'[ "$1" = which ] && echo {stable}/bin/cargo')
    (machine / ".cargo/bin/cargo").symlink_to(switch)
    (machine / ".cargo/credentials.toml").write_text("token = 'x'")

    found = await Tools(f"{switch.parent}", machine).find([need("cargo")])
    assert found.tools[0].version == "1.80.0"
    assert found.shown == (stable,)
    assert found.path == (f"{stable}/bin",)

    found = await Tools(f"{switch.parent}", machine).find([need("cargo", "nightly")])
    assert (found.shown, found.notes) == ((nightly,), ())


async def test_the_version_that_pyenv_uses_globally_is_kept_where_it_fits(machine: Path) -> None:
    versions = machine / ".pyenv/versions"
    for version in ("3.9.18", "3.11.7", "3.12.1"):
        tool(versions / version / "bin/python3", version)
    tool(machine / ".pyenv/shims/python3", "0.0.0")
    (machine / ".pyenv/version").write_text("3.11.7\n")
    tools = Tools(f"{machine}/.pyenv/shims:/nowhere", machine)
    assert [t.version for t in (await tools.find([need("python3", ">=3.9")])).tools] == ["3.11.7"]
    assert [t.version for t in (await tools.find([need("python3", ">=3.12")])).tools] == ["3.12.1"]
    both = [need("python3", ">=3.9"), need("python3", "<3.11")]
    assert (await tools.find(both)).shown == (versions / "3.9.18",)


async def test_a_virtual_environment_on_the_search_path_is_no_python_for_projects(machine: Path) -> None:
    tool(machine / "server/.venv/bin/python3", "3.11.7")
    (machine / "server/.venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    assert await Tools(str(machine / "server/.venv/bin"), machine).installed("python3") == []


async def test_the_newest_fitting_version_of_nvm_is_used_and_a_link_is_no_version(machine: Path) -> None:
    versions = machine / ".nvm/versions/node"
    for version in ("v18.19.0", "v20.9.0", "v20.11.1"):
        tool(versions / version / "bin/node", version)
    (versions / "latest").symlink_to(versions / "v18.19.0")
    tools = Tools("/nowhere", machine)
    assert len(await tools.installed("node")) == 3
    assert (await tools.find([need("node", "20")])).shown == (versions / "v20.11.1",)


async def test_a_version_that_is_not_there_is_a_sentence_and_the_nearest_is_used(machine: Path) -> None:
    tool(machine / "sdk/go1.19/bin/go", "go1.19.8 linux/amd64")
    tool(machine / "sdk/go1.21/bin/go", "go1.21.3 linux/amd64")
    put(machine / "sdk/go1.19/bin/go", "echo go version go1.19.8 linux/amd64")
    found = await Tools("/nowhere", machine).find([need("go", ">=1.22", "go.mod")])
    assert [t.version for t in found.tools] == ["1.21.3"]
    assert found.notes[0].startswith(
        "go.mod asks for go >=1.22; this machine has 1.19.8, 1.21.3, of which 1.21.3 is used."
    )


async def test_a_tool_that_is_not_installed_is_a_sentence(machine: Path) -> None:
    found = await Tools("/nowhere", machine).find([need("no-such-tool", said_in="x.csproj")])
    assert found.tools == ()
    assert found.notes[0].startswith("no-such-tool is needed (x.csproj) and not installed here.")


async def test_of_a_program_that_stands_alone_in_a_home_only_its_file_is_shown(machine: Path) -> None:
    program = tool(machine / ".local/bin/uv", "0.4.1")
    (found,) = await Tools(str(program.parent), machine).installed("uv")
    assert found.directories == (program,)
    assert found.version == "0.4.1"


async def test_a_program_of_pipx_brings_its_environment_and_its_interpreter(machine: Path) -> None:
    venv = machine / ".local/share/pipx/venvs/poetry"
    tool(venv / "bin/poetry", "1.8.0")
    python = tool(machine / ".pyenv/versions/3.12.1/bin/python3", "3.12.1")
    (venv / "pyvenv.cfg").write_text(f"home = {python.parent}\nversion = 3.12.1\n")
    link = machine / ".local/bin/poetry"
    link.parent.mkdir()
    link.symlink_to(venv / "bin/poetry")
    (found,) = await Tools(str(link.parent), machine).installed("poetry")
    assert found.directories == (link, venv, machine / ".pyenv/versions/3.12.1")


async def test_a_whole_installation_outside_of_homes_is_shown(tmp_path: Path, machine: Path) -> None:
    tool(tmp_path / "tools/node-v20/bin/node", "v20.1.0")
    (found,) = (
        one for one in await Tools(str(tmp_path / "tools/node-v20/bin"), machine).installed("node")
        if one.version == "20.1.0"
    )  # fmt: skip
    assert found.directories == (tmp_path / "tools/node-v20",)


async def test_what_the_system_has_needs_nothing_shown() -> None:
    (bash, *_) = await Tools("/usr/bin:/bin", Path("/root")).installed("bash")
    assert bash.directories == ()
    assert bash.version[0].isdigit()


async def test_a_relative_entry_of_the_search_path_is_not_searched(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(tmp_path / "bin/planted-tool", "1.0.0")
    monkeypatch.chdir(tmp_path)
    assert await Tools("bin::.", machine).installed("planted-tool") == []


async def test_a_tool_is_asked_outside_of_the_working_directory(machine: Path) -> None:
    put(machine / "tools/a/bin/where-am-i", 'echo "1.0.0 $PWD" >"$HOME/seen"; echo 1.0.0')
    await Tools(str(machine / "tools/a/bin"), machine).installed("where-am-i")
    assert (machine / "seen").read_text() == "1.0.0 /\n"


async def test_a_tool_that_fails_has_no_version_and_is_still_found(machine: Path) -> None:
    put(machine / "tools/a/bin/broken", "echo 9.9.9; exit 1")
    (found,) = await Tools(str(machine / "tools/a/bin"), machine).installed("broken")
    assert found.version == ""


async def test_a_version_is_asked_once(machine: Path) -> None:
    put(machine / "tools/a/bin/counted", 'echo x >>"$HOME/count"; echo 1.0.0')
    tools = Tools(str(machine / "tools/a/bin"), machine)
    await tools.installed("counted")
    await tools.installed("counted")
    assert (machine / "count").read_text() == "x\n"


def test_a_release_goes_before_a_preview_and_the_plain_name_before_another() -> None:
    def one(version: str, program: str) -> InstalledTool:
        return InstalledTool(name="python3", version=version, program=Path(program))

    first, preview = one("3.8.0", "/a/python3"), one("3.14.0-rc1", "/b/python3")
    named, plain = one("3.12.1", "/c/python3.12"), one("3.12.1", "/d/python3")
    assert choose([need("python3", ">=3.9")], [first, preview, named, plain]) == (plain, "")


@pytest.mark.skipif(not shutil.which("rustup"), reason="needs rustup")
async def test_the_toolchain_that_rustup_itself_uses_is_found() -> None:
    found = await Tools(os.environ["PATH"], Path.home()).find([need("cargo")])
    assert (found.tools[0].bin / "rustc").is_file()
    assert all(".cargo" not in path.parts for path in found.shown)


@pytest.mark.skipif(not shutil.which("rustup"), reason="needs rustup")
async def test_a_jail_that_is_shown_a_tool_can_run_it_and_sees_nothing_beside_it(tmp_path: Path) -> None:
    found = await Tools(os.environ["PATH"], Path.home()).find([need("cargo")])
    (tmp_path / "tree").mkdir()
    jails = LocalSandboxes(Settings(home=tmp_path / "home", sandbox_memory_mb=2048))
    spec = SandboxSpec(order_id="wo-00000000", tree=tmp_path / "tree", shown=found.shown)
    try:
        sandbox = await jails.setup(spec)
        said = await sandbox.execute_command(f"PATH={found.path[0]}:$PATH cargo --version", timeout=60)
        assert (said.exit_code, said.output.split()[:2]) == (0, ["cargo", found.tools[0].version])
        beside = await sandbox.execute_command(["ls", "-A", str(Path.home())], timeout=60)
        assert set(beside.output.split()) <= {".rustup", ".pyenv"}
    finally:
        await jails.close()


def test_the_page_names_places() -> None:
    assert len(PLACES) >= 9


@pytest.mark.parametrize("place", PLACES)
async def test_a_tool_is_found_where_the_page_says(machine: Path, place: str) -> None:
    words = re.findall(r"[a-z]+", place.partition("<")[0])
    name = next(TOOLS[word] for word in reversed(words) if word in TOOLS)
    directory = machine / re.sub(r"<\w+>", "1.2.3", place)
    tool(directory / "bin" / name, "1.2.3")
    installed = [one for one in await Tools("/nowhere", machine).installed(name) if one.version == "1.2.3"]
    assert [one.directories for one in installed] == [(directory,)]
