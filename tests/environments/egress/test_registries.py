"""Which registries tools use is asked of the tools; stand-ins answer for those that machines may not have."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.environments.egress.indexes import RegistryHosts, parse_index
from journeyman.environments.egress.registries import Registries
from journeyman.environments.egress.rules import Registry

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a program on PATH that is a shell script."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for program in ("env", "bash", "sleep", "cat", "touch"):
        found = shutil.which(program)
        assert found
        (directory / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(directory))

    def put(name: str, script: str) -> None:
        path = directory / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    return put


async def find(*tools: str) -> RegistryHosts:
    return await Registries().find(tools)


async def test_a_tool_that_is_not_there_contributes_nothing(install: Install) -> None:
    assert await Registries().find() == RegistryHosts()
    assert await find("no-such-tool") == RegistryHosts()


async def test_pip_is_asked_for_its_configuration_and_its_own_default(install: Install) -> None:
    listed = """
global.index%surl='https://me:p%%40ss@mirror.example:8443/pypi/simple'
global.extra-index%surl='https://unused.example/simple'
:env:.extra-index%surl='https://more.example/simple file:///srv/index'
global.find-links='/srv/wheels'
""" % (("-",) * 3)
    install("python3", f"cat <<'END'\n{listed}\nEND")
    found = await find("python3")
    assert found.registries == (
        Registry(kind="pypi", host="mirror.example", port=8443, path="/pypi/simple"),
        Registry(kind="pypi", host="more.example", path="/simple"),
    )
    assert found.private_hosts == {"mirror.example", "more.example"}
    assert found.paths == (Path("/srv/index"), Path("/srv/wheels"))
    assert found.variables["PIP_INDEX_URL"] == "https://mirror.example:8443/pypi/simple"
    assert found.variables["PIP_EXTRA_INDEX_URL"] == "https://more.example/simple file:///srv/index"
    assert found.variables["UV_INDEX_STRATEGY"] == "unsafe-best-match"  # as pip chooses among them
    assert found.variables["PIP_FIND_LINKS"] == "/srv/wheels"
    expected = base64.b64encode(b"me:p@ss").decode()
    assert found.credentials == {"mirror.example:8443": f"Basic {expected}"}
    assert "p@ss" not in repr(found)
    assert expected not in repr(found)


async def test_npm_is_asked_for_every_scope_and_its_tokens_stay_outside(
    install: Install, tmp_path: Path
) -> None:
    (tmp_path / "npmrc").write_text(
        '//npm.example/:_authToken=abc\n//other.example:8443/x/:_auth="ZGVm"\n//env.example/:_authToken=${T}\n'
    )
    configuration = {
        "registry": "https://npm.example/",
        "@acme:registry": "http://acme.example:4873/npm/",
        "userconfig": str(tmp_path / "npmrc"),
        "globalconfig": str(tmp_path / "none"),
    }
    install("npm", f"cat <<'END'\n{json.dumps(configuration)}\nEND")
    found = await find("node")
    assert found.registries == (
        Registry(kind="npm", host="npm.example"),
        Registry(kind="npm", host="acme.example", port=4873, path="/npm/", scheme="http"),
    )
    assert found.credentials == {"npm.example:443": "Bearer abc", "other.example:8443": "Basic ZGVm"}
    assert found.variables["npm_config_registry"] == "https://npm.example/"


async def test_go_is_asked_for_its_proxies_and_its_checksums(install: Install) -> None:
    values = {"GOPROXY": "https://u:p@proxy.example,https://b.example/go|direct", "GOSUMDB": "sum.example"}
    install("go", f"cat <<'END'\n{json.dumps(values)}\nEND")
    found = await find("go")
    assert found.hosts == ("proxy.example", "b.example", "sum.example")
    assert found.variables["GOPROXY"] == "https://proxy.example,https://b.example/go|direct"
    assert "proxy.example:443" in found.credentials


@pytest.mark.parametrize(
    ("tool", "program", "printed"),
    [
        ("ruby", "gem", "*** CURRENT SOURCES ***\n\nhttps://gems.example/"),
        ("dotnet", "dotnet", "E https://gems.example/v3/index.json"),
        ("pnpm", "pnpm", "https://gems.example/"),
        ("gradle", "gradle", "https://gems.example/maven2/"),
    ],
)
async def test_what_a_tool_prints_is_read(install: Install, tool: str, program: str, printed: str) -> None:
    install(program, f"cat <<'END'\n{printed}\nEND")
    assert (await find(tool)).hosts == ("gems.example",)


@pytest.mark.parametrize("tool", ["cargo", "composer", "mvn"])
async def test_a_tool_that_prints_nothing_is_asked_by_letting_it_try(install: Install, tool: str) -> None:
    install(
        tool,
        'exec 3<>"/dev/tcp/127.0.0.1/${HTTPS_PROXY##*:}"\n'
        "printf 'CONNECT packages.example:443 HTTP/1.1\\r\\nHost: packages.example\\r\\n\\r\\n' >&3\n"
        "cat <&3 >/dev/null; exit 1",
    )
    found = await find(tool)
    assert found.registries[0].host == "packages.example"
    assert found.registries[0].port == 443


@pytest.mark.parametrize("script", ["exit 1", "echo '{'", "echo not json at all", "kill -9 $$"])
async def test_a_tool_that_cannot_answer_contributes_nothing(install: Install, script: str) -> None:
    for program in ("python3", "npm", "go", "cargo"):
        install(program, script)
    found = await find("python3", "npm", "go", "cargo")
    assert found.registries == ()


async def test_a_tool_is_asked_once_until_it_changes(install: Install, tmp_path: Path) -> None:
    registries = Registries()
    for number in (1, 2):
        install("pnpm", f"echo x >>{tmp_path}/asked\necho https://npm{'.more' * number}.example")
        for _ in range(3):
            await registries.find(["pnpm", "node"])
    assert (tmp_path / "asked").read_text() == "x\nx\n"


@pytest.mark.parametrize(
    "address", ["", "nonsense", "ftp://x.example/", "https://", "https://[x/", "ssh://git@x/"]
)
def test_what_is_no_address_of_an_index_is_left_out(address: str) -> None:
    assert parse_index("pypi", address) is None


def test_only_hosts_of_the_owner_may_be_private() -> None:
    found = RegistryHosts(
        registries=(Registry(kind="npm", host="npm.example"),), credentials={"npm.example": "Bearer x"}
    )
    rules = found.rules(hosts=["asked.example"], owner_hosts=["own.example", "port.example:8443"])
    assert rules.hosts == ("own.example", "port.example:8443", "asked.example")
    assert rules.private_hosts == {"own.example", "port.example"}
    assert (rules.registries, rules.credentials) == (found.registries, found.credentials)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
async def test_the_real_cargo_says_where_its_index_is() -> None:
    found = await find("cargo")
    assert found.registries
    assert all(one.kind == "cargo" for one in found.registries)
