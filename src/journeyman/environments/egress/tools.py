"""How each tool is asked which package registries it uses: by its own command, or by a probe.

Only what the machine's owner configured becomes a variable inside; defaults a tool there knows by itself.
"""

import ast
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from journeyman.environments.egress.indexes import (
    PackageIndex,
    RegistryHosts,
    hosts_of,
    merge_hosts,
    parse_index,
)
from journeyman.environments.egress.probe import probe_tool, run_tool
from journeyman.environments.egress.rules import RegistryKind

Ask = Callable[[Path], Awaitable[RegistryHosts]]
"""Given an empty directory to run in."""

_PACKAGE = "journeyman-probe"
_PIP_DEFAULTS = """
import json
from pip._internal.models.index import PyPI
print(json.dumps([PyPI.simple_url, "https://" + PyPI.file_storage_domain]))
"""


async def ask_pip(directory: Path) -> RegistryHosts:
    listed = await run_tool(["python3", "-m", "pip", "config", "list"], directory=directory) or ""
    configured = _pip_values(listed)
    names = ("index_url", "extra_index_url", "find_links")
    main, extra, links = (configured.get(name, "").split() for name in names)
    indexes = [parse_index("pypi", address) for address in (*main, *extra, *links)]
    clean = [[index.address for index in map(_pypi, part) if index] for part in (main, extra, links)]
    variables = {
        **_joined(clean[0], "PIP_INDEX_URL", "UV_DEFAULT_INDEX", "PDM_PYPI_URL"),
        **_joined(clean[1], "PIP_EXTRA_INDEX_URL", "UV_INDEX"),
        # pip takes the best version of all indexes; uv by itself only those of the first that has a package.
        **({"UV_INDEX_STRATEGY": "unsafe-best-match"} if clean[1] else {}),
        **_joined(clean[2], "PIP_FIND_LINKS"),
        **({"UV_FIND_LINKS": ",".join(clean[2])} if clean[2] else {}),
        **{
            f"PIP_{name.upper()}": configured[name]
            for name in ("trusted_host", "no_index")
            if name in configured
        },
    }
    found = hosts_of(indexes, variables=variables)
    if main or configured.get("no_index", "").lower() in ("1", "true", "yes", "on"):
        return found
    defaults = await run_tool(["python3", "-c", _PIP_DEFAULTS], directory=directory)
    if not defaults:
        return found
    simple, files = json.loads(defaults)
    default = [parse_index("pypi", simple), parse_index("files", files)]
    return merge_hosts([found, hosts_of(default, is_configured=False)])


def _pypi(address: str) -> PackageIndex | None:
    return parse_index("pypi", address)


def _joined(values: list[str], *names: str) -> dict[str, str]:
    return dict.fromkeys(names, " ".join(values)) if values else {}


def _pip_values(listed: str) -> dict[str, str]:
    """Options by name; a variable counts before what is said for one command, and that before the rest."""
    values: dict[str, tuple[int, str]] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.strip().rpartition(".")
        rank = 2 if section == ":env:" else 1 if section == "install" else 0
        name = name.replace("-", "_")
        if name not in values or rank > values[name][0]:
            try:
                values[name] = rank, str(ast.literal_eval(value))
            except (ValueError, SyntaxError):
                continue
    return {name: value for name, (_, value) in values.items()}


async def ask_npm(directory: Path) -> RegistryHosts:
    listed = await run_tool(["npm", "config", "list", "--json"], directory=directory)
    configuration: dict[str, Any] = json.loads(listed) if listed else {}
    addresses = {
        name: value
        for name, value in configuration.items()
        if (name == "registry" or name.endswith(":registry")) and isinstance(value, str)
    }
    indexes = {name: parse_index("npm", value) for name, value in addresses.items()}
    main = indexes.get("registry")
    names = ("npm_config_registry", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER")
    variables = dict.fromkeys(names, main.address) if main else {}
    files = (configuration.get(name) for name in ("userconfig", "globalconfig"))
    credentials = [_npm_credentials(Path(file)) for file in files if isinstance(file, str)]
    both = {name: value for one in reversed(credentials) for name, value in one.items()}
    return hosts_of(indexes.values(), variables=variables, credentials=both)


def _npm_credentials(file: Path) -> dict[str, str]:
    """Tokens by host and port: `//host/path/:_authToken=…`. One that is a variable cannot be used."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        matched = re.match(r"\s*//([^/\s]+)/.*:(_authToken|_auth)\s*=\s*[\"']?([^\s\"'$]+)[\"']?\s*$", line)
        if matched and "@" not in matched[1]:
            authority = matched[1].lower() if ":" in matched[1] else f"{matched[1].lower()}:443"
            found[authority] = f"{'Bearer' if matched[2] == '_authToken' else 'Basic'} {matched[3]}"
    return found


async def ask_cargo(_: Path) -> RegistryHosts:
    manifest = f'[package]\nname = "probe"\nversion = "0.0.0"\n[dependencies]\n{_PACKAGE} = "1"\n'
    files = {"Cargo.toml": manifest, "src/lib.rs": ""}
    variables = {"CARGO_NET_RETRY": "0"}
    return hosts_of(await probe_tool("cargo", ["cargo", "generate-lockfile"], files, variables))


async def ask_go(directory: Path) -> RegistryHosts:
    names = ("GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GONOSUMDB")
    printed = await run_tool(["go", "env", "-json", *names], directory=directory)
    values: dict[str, str] = json.loads(printed) if printed else {}
    proxies = [
        one for one in re.split(r"[,|]", values.get("GOPROXY", "")) if one not in ("", "direct", "off")
    ]
    indexes = {one: parse_index("go", one) for one in proxies}
    database = values.get("GOSUMDB", "").split()
    summed = (
        parse_index("go", database[-1] if "://" in database[-1] else f"https://{database[-1]}")
        if (database and database != ["off"])
        else None
    )
    text = values.get("GOPROXY", "")
    for address, index in indexes.items():
        text = text.replace(address, index.address if index else "")
    variables = {
        **{name: value for name, value in values.items() if value},
        **({"GOPROXY": text} if text else {}),
    }
    return hosts_of([*indexes.values(), summed], variables=variables)


async def ask_maven(directory: Path) -> RegistryHosts:
    project = (
        "<project><modelVersion>4.0.0</modelVersion>"
        "<parent><groupId>journeyman</groupId><artifactId>probe</artifactId><version>1</version>"
        "<relativePath/></parent><artifactId>none</artifactId></project>"
    )
    command = ["mvn", "-B", "-q", f"-Dmaven.repo.local={directory / 'repository'}", "validate"]
    return hosts_of(await probe_tool("maven", command, {"pom.xml": project}, {}))


async def ask_gradle(directory: Path) -> RegistryHosts:
    script = (
        "repositories { mavenCentral(); gradlePluginPortal(); google() }\n"
        "tasks.register('hosts') { doLast { repositories.each { println it.url } } }\n"
    )
    (directory / "settings.gradle").write_text("")
    (directory / "build.gradle").write_text(script)
    command = ["gradle", "-q", "--offline", "--no-daemon", "hosts"]
    return hosts_of(_printed("maven", await run_tool(command, directory=directory)))


async def ask_gem(directory: Path) -> RegistryHosts:
    listed = _printed("rubygems", await run_tool(["gem", "sources", "--list"], directory=directory))
    # The index of a source may lie on another host, which only the tool itself derives.
    command = ["gem", "install", "--install-dir", str(directory), _PACKAGE]
    asked = await probe_tool("rubygems", command, {}, {})
    return hosts_of([*listed, *asked])


async def ask_composer(_: Path) -> RegistryHosts:
    files = {"composer.json": json.dumps({"require": {f"journeyman/{_PACKAGE}": "*"}})}
    command = ["composer", "update", "--dry-run", "--no-interaction", "--no-plugins", "--no-scripts"]
    return hosts_of(await probe_tool("composer", command, files, {}))


async def ask_dotnet(directory: Path) -> RegistryHosts:
    command = ["dotnet", "nuget", "list", "source", "--format", "Short"]
    return hosts_of(_printed("nuget", await run_tool(command, directory=directory)))


async def ask_uv(_: Path) -> RegistryHosts:
    # What uv asks for tells the host and not where its index begins, so its pages are not read.
    files = {"requirements.in": f"{_PACKAGE}\n"}
    command = ["uv", "pip", "compile", "--no-cache", "requirements.in"]
    return hosts_of(await probe_tool("files", command, files, {}))


async def ask_pnpm(directory: Path) -> RegistryHosts:
    return hosts_of(
        _printed("npm", await run_tool(["pnpm", "config", "get", "registry"], directory=directory))
    )


async def ask_yarn(directory: Path) -> RegistryHosts:
    keys = ("registry", "npmRegistryServer")
    printed = [await run_tool(["yarn", "config", "get", key], directory=directory) for key in keys]
    return hosts_of([index for text in printed for index in _printed("npm", text)])


def _printed(kind: RegistryKind, text: str | None) -> list[PackageIndex | None]:
    return [parse_index(kind, address) for address in re.findall(r"https?://[^\s'\"]+", text or "")]


QUESTIONS: dict[str, Ask] = {
    "python3": ask_pip,
    "uv": ask_uv,
    "npm": ask_npm,
    "pnpm": ask_pnpm,
    "yarn": ask_yarn,
    "cargo": ask_cargo,
    "go": ask_go,
    "mvn": ask_maven,
    "gradle": ask_gradle,
    "gem": ask_gem,
    "composer": ask_composer,
    "dotnet": ask_dotnet,
}
"""By the program that is asked."""
ECOSYSTEMS: dict[str, tuple[str, ...]] = {
    "python3": ("python3", "uv"),
    "python": ("python3", "uv"),
    "pip": ("python3",),
    "poetry": ("python3",),
    "pdm": ("python3",),
    "node": ("npm", "pnpm", "yarn"),
    "bun": ("npm",),
    "java": ("mvn", "gradle"),
    "ruby": ("gem",),
    "bundle": ("gem",),
    "php": ("composer",),
}
"""Programs to ask for a tool that is not asked itself."""
