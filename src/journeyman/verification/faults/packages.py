"""Messages about packages: not installed, of another version, or not as the lock file says.

The same message can be a mistake in the change: `CodeUnderTest` says whether the module is the repository's
own, or one that the change began to import without declaring it.
"""

import re

from journeyman.verification.faults.fault import (
    DECLARE,
    INSTALL,
    EnvironmentFault,
    Meaning,
    Patterns,
    always,
    wrong_version,
)
from journeyman.verification.own_code import CodeUnderTest, name_of

_PLUGINS_BY_OPTION = {
    "--cov": "pytest-cov",
    "--no-cov": "pytest-cov",
    "-n": "pytest-xdist",
    "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist",
    "--timeout": "pytest-timeout",
    "--asyncio-mode": "pytest-asyncio",
    "--benchmark": "pytest-benchmark",
    "--reruns": "pytest-rerunfailures",
    "--ds": "pytest-django",
    "--reuse-db": "pytest-django",
    "--html": "pytest-html",
    "--doctest-plus": "pytest-doctestplus",
    "--mpl": "pytest-mpl",
    "--mypy": "pytest-mypy",
}
_PLUGINS_BY_FIXTURE = {
    "mocker": "pytest-mock",
    "benchmark": "pytest-benchmark",
    "httpbin": "pytest-httpbin",
    "httpserver": "pytest-httpserver",
    "requests_mock": "requests-mock",
    "aiohttp_client": "pytest-aiohttp",
    "freezer": "pytest-freezer",
    "faker": "faker",
    "snapshot": "syrupy",
    "django_user_model": "pytest-django",
    "subtests": "pytest-subtests",
}


def missing_package(name: str, code: CodeUnderTest) -> EnvironmentFault:
    """A package of Python."""
    declared, distribution = code.declared_in(name), name_of(name)
    command = f"pip install {distribution}"
    if declared is not None and declared.endswith((".txt", ".in")):
        command = f"pip install -r {declared}"
    return EnvironmentFault(
        what=f"the Python package {distribution} is not installed"
        + (f", though {declared} names it" if declared else ""),
        remedy=INSTALL if declared else DECLARE,
        who="maintainer",
        command=command,
    )


def _not_built(what: str) -> EnvironmentFault:
    return EnvironmentFault(what=what, remedy=INSTALL, who="maintainer", command="pip install -e .")


def _module(found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
    module = found[1]
    if not code.owns_python(module):
        return None if code.is_new(module) else missing_package(module, code)
    if "." in module and code.is_built(module):
        return _not_built(f"{module}, which the project's build makes, is not there")
    return None


def _metadata(found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
    name = found[1]
    if code.owns_python(name.replace("-", "_")):
        return _not_built(f"the project itself ({name}) is not installed")
    return None if code.is_new(name) else missing_package(name, code)


def _plugin_of_option(found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
    for option in found[1].split():
        name = option.partition("=")[0]
        for known, plugin in _PLUGINS_BY_OPTION.items():
            if name == known or name.startswith(f"{known}-"):
                return missing_package(plugin, code)
    return None


def _plugin_of_fixture(found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
    plugin = _PLUGINS_BY_FIXTURE.get(found[1])
    if plugin is None or (code.changed and code.declared_in(plugin) is None):
        return None
    return missing_package(plugin, code)


def _plugin_for_coroutines(
    _found: re.Match[str], code: CodeUnderTest, _around: str
) -> EnvironmentFault | None:
    declared = (plugin for plugin in ("pytest-asyncio", "anyio", "pytest-trio") if code.declared_in(plugin))
    plugin = next(declared, None)
    return missing_package(plugin, code) if plugin else None


def _required_plugin(found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault:
    return missing_package(re.split(r"[,\s<>=!~]", found[1].strip())[0], code)


def _node_package(found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
    specifier = found[1]
    if code.owns_node(specifier) or code.is_new(specifier):
        return None
    name = specifier.rpartition("node_modules/")[2]
    package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
    declared = code.declared_in(package)
    return EnvironmentFault(
        what=f"the Node package {package} is not installed"
        + (f", though {declared} names it" if declared else ""),
        remedy=INSTALL if declared else DECLARE,
        who="maintainer",
        command="npm install" if declared else f"npm install --save-dev {package}",
    )


def _gem(found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
    name = found[1]
    top = name.partition("/")[0]
    is_own = any(f"/{path}".endswith((f"/{name}.rb", f"/{top}.rb")) for path in code.paths)
    if name.startswith((".", "/")) or is_own or code.is_new(name):
        return None
    what = f"the Ruby gem {name} is not installed"
    return EnvironmentFault(what=what, remedy=DECLARE, who="maintainer", command="bundle install")


def _stale_lock(command: str) -> Meaning:
    def meaning(_found: re.Match[str], code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
        if code.changes_dependencies():
            return None  # whoever changes what is declared brings the lock file up to date
        return EnvironmentFault(
            what="the lock file does not match what the project declares",
            remedy="Bring the lock file up to date on the base branch.",
            who="maintainer",
            command=command,
        )

    return meaning


_GEMS = always("a Ruby gem is not installed: {0}", INSTALL, "maintainer", "bundle install")

PATTERNS: Patterns = (
    # Python
    (r"No module named '?([A-Za-z_][\w.]*)", _module),
    (r"error: Cannot find implementation or library stub for module named \"([\w.]+)\"", _module),
    (r"PackageNotFoundError: No package metadata was found for ([\w.-]+)", _metadata),
    (r"DistributionNotFound: The '([\w.-]+)", _metadata),
    (r"error: unrecognized arguments: (.+)", _plugin_of_option),
    (r"^E +fixture '(\w+)' not found", _plugin_of_fixture),
    (r"Missing required plugins: ([^\n]+)", _required_plugin),
    (r"Error importing plugin \"([\w.]+)\"", _module),
    (r"async def functions are not natively supported", _plugin_for_coroutines),
    (r"'minversion' requires (pytest-[^\s,]+)", wrong_version("the project wants {0}")),
    (r"requires a different Python: \S+ not in '([^']+)'", wrong_version("the project wants Python {0}")),
    (r"is not supported by the project \(([^)]+)\)", wrong_version("the project wants Python {0}")),
    (r"No interpreter found for (Python [^\n]+?)(?: in |$)", wrong_version("there is no {0}")),
    (r"lockfile at `uv\.lock` needs to be updated", _stale_lock("uv lock")),
    (r"changed significantly since poetry\.lock was last generated", _stale_lock("poetry lock")),
    # Node
    (r"Cannot find (?:module|package) '([^'\n]+)'", _node_package),
    (r"Failed to resolve import \"([^\"\n]+)\" from", _node_package),
    (r"Can't resolve '([^'\n]+)' in", _node_package),
    (r"Cannot find type definition file for '([^'\n]+)'", _node_package),
    (r"No such built-in module: (node:\S+)", wrong_version("this version of Node has no {0}")),
    (r"npm (?:error|ERR!) notsup Required: +(\S+)", wrong_version("the project wants {0}")),
    (r"ERR_PNPM_UNSUPPORTED_ENGINE", wrong_version("the project wants another version of Node")),
    (r"The engine \"node\" is incompatible", wrong_version("the project wants another version of Node")),
    (r"`npm ci` can only install packages when your package\.json and", _stale_lock("npm install")),
    (r"ERR_PNPM_OUTDATED_LOCKFILE", _stale_lock("pnpm install")),
    (r"[Yy]our lockfile needs to be updated", _stale_lock("yarn install")),
    (r"lockfile would have been modified by this install", _stale_lock("yarn install")),
    # Rust
    (
        r"not supported by the following packages:\s+\S+ requires (rustc \S+)",
        wrong_version("the project wants {0}"),
    ),
    (r"it requires (rustc \S+) or newer", wrong_version("the project wants {0}")),
    (r"toolchain '(\S+?)' is not installed", wrong_version("there is no Rust toolchain {0}")),
    (r"rustup could not choose a version of \w+", wrong_version("no Rust toolchain is chosen")),
    (r"feature `(edition\d+)` is required", wrong_version("the project wants a newer Rust: {0}")),
    (
        r"cannot update the lock file .{0,300}because --locked was passed",
        _stale_lock("cargo update --workspace"),
    ),
    (r"needs to be updated but --locked was passed", _stale_lock("cargo update --workspace")),
    # Go
    (r"requires go >= (\S+) \(running go", wrong_version("the project wants Go {0}")),
    (r"download (go[\d.]+)\S* for \S+: toolchain not available", wrong_version("there is no {0}")),
    (r"invalid go version '([^']+)'", wrong_version("the project wants Go {0}")),
    (r"unknown directive: toolchain", wrong_version("the project wants a newer Go")),
    (r"missing go\.sum entry", _stale_lock("go mod tidy")),
    # Java, Ruby, PHP, .NET
    (r"invalid (?:target|source) release: ?(\d+)", wrong_version("the project wants Java {0}")),
    (r"release version (\d+) not supported", wrong_version("the project wants Java {0}")),
    (r"Unsupported class file major version \d+", wrong_version("the project wants another version of Java")),
    (r"No matching toolchains found", wrong_version("the project wants another version of Java")),
    (r"but your Gemfile specified (\S+)", wrong_version("the project wants Ruby {0}")),
    (r"Could not find gem '([^']+)'", _GEMS),
    (r"Could not find (\S+) in (?:any of the sources|locally installed gems)", _GEMS),
    (r"bundler: command not found: (\S+)", _GEMS),
    (r"`require': cannot load such file -- (\S+)", _gem),
    (
        r"Failed opening required '[^'\n]*vendor/autoload\.php'",
        always("the packages of PHP are not installed", INSTALL, "maintainer", "composer install"),
    ),
    (r"\bNETSDK1045\b", wrong_version("the project wants another version of .NET")),
    (r"The framework '([^'\n]+', version '[^'\n]+)' was not found", wrong_version("there is no {0}")),
)
