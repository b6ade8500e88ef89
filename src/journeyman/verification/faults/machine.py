"""Messages about what a machine gives: programs, libraries, room, memory, a network, services, a display."""

import re

from journeyman.verification.faults.fault import (
    DECLARE,
    EQUIP,
    INSTALL,
    EnvironmentFault,
    Patterns,
    always,
    missing_tool,
    wrong_version,
)
from journeyman.verification.own_code import CodeUnderTest

_FETCH = (
    "Checks have no network: what they need is installed before. "
    "Add a command that fetches it to install in .journeyman/environment.yaml."
)
_ALLOW = "Allow the host for this order or this repository, or leave out the tests that need it."
_START = "Add a command that starts it to start in .journeyman/environment.yaml."
_RAISE = "Whoever runs the server can allow more. {} limits it."
_SERVICES = {
    "5432": "PostgreSQL",
    "3306": "MySQL",
    "6379": "Redis",
    "27017": "MongoDB",
    "9200": "Elasticsearch",
    "5672": "RabbitMQ",
    "11211": "memcached",
    "9092": "Kafka",
    "1433": "SQL Server",
    "4566": "LocalStack",
}
_DRIVERS = {
    "PostgreSQL": re.compile(r"(?i)\b(?:psycopg\d?|postgres\w*|asyncpg)\b"),
    "MySQL": re.compile(r"(?i)\b(?:pymysql|mysql\w*|mariadb)\b"),
    "Redis": re.compile(r"(?i)\bredis\b"),
    "MongoDB": re.compile(r"(?i)\b(?:pymongo|mongodb|mongoose)\b"),
}
_FETCHES = re.compile(
    r"(?im)^npm (?:error|err!) |failed to (?:get|download from) `|^go: |transfer artifact|could not get '"
)
_HERE = r"(?:localhost|127\.0\.0\.1|\[?::1\]?)"


def _command(found: re.Match[str], _code: CodeUnderTest, _around: str) -> EnvironmentFault | None:
    name = found[1].strip("'\"‘’")
    return None if "/" in name else missing_tool(name)


def _started_command(found: re.Match[str], code: CodeUnderTest, around: str) -> EnvironmentFault | None:
    """A program that a test starts; the same message about a file that it opens is not about us."""
    return _command(found, code, around) if "subprocess" in around or "spawn" in around else None


def _header(found: re.Match[str], code: CodeUnderTest, around: str) -> EnvironmentFault | None:
    if code.has_header(found[1]) or f'#include "{found[1]}"' in around:
        return None
    what = f"the header {found[1]} of a library is missing"
    return EnvironmentFault(what=what, remedy=EQUIP, who="operator")


def _service(found: re.Match[str], _code: CodeUnderTest, around: str) -> EnvironmentFault | None:
    """A service that everybody knows; what refuses connections on another port may be the code itself."""
    if port := next((group for group in found.groups() if group), None):
        name = _SERVICES.get(port)
    else:
        known = (_SERVICES[one] for one in re.findall(r"\b\d{4,5}\b", around) if one in _SERVICES)
        named = (name for name, driver in _DRIVERS.items() if driver.search(around))
        name = next(known, None) or next(named, None)
    return EnvironmentFault(what=f"{name} does not run", remedy=_START, who="maintainer") if name else None


def _network(found: re.Match[str], _code: CodeUnderTest, around: str) -> EnvironmentFault:
    if _FETCHES.search(around):
        what = "what it depends on could not be fetched: there is no network"
        return EnvironmentFault(what=what, remedy=_FETCH, who="maintainer")
    host = next((group for group in found.groups() if group), "a host outside")
    what = f"it wants to reach {host}: there is no network"
    return EnvironmentFault(what=what, remedy=_ALLOW, who="anyone")


_LIBRARY = always("a library is missing: {0}", EQUIP, "operator")
_OFFLINE = always("what it depends on was not fetched before: there is no network", _FETCH, "maintainer")
_DENIED = always("the network refused a host that it wants", _ALLOW, "anyone")
_SPACE = always("there is no space left on the disk", _RAISE.format("JOURNEYMAN_SANDBOX_DISK_MB"), "operator")
OUT_OF_MEMORY = EnvironmentFault(
    what="it was killed, most likely for want of memory",
    remedy=_RAISE.format("JOURNEYMAN_SANDBOX_MEMORY_MB"),
    who="operator",
)
_MEMORY = always(OUT_OF_MEMORY.what, OUT_OF_MEMORY.remedy, OUT_OF_MEMORY.who)
_PROCESSES = always(
    "it may not start more processes", _RAISE.format("JOURNEYMAN_SANDBOX_PROCESSES"), "operator"
)
_PORT = always(
    "a port that it wants is in use already",
    "Let the tests choose a free port, or end what start in .journeyman/environment.yaml runs on it.",
    "maintainer",
)
_DISPLAY = always(
    "there is no display",
    "Run the check under a virtual one: set its command in .journeyman/environment.yaml.",
    "maintainer",
    "xvfb-run -a",
)
_BROWSER = always("a browser for the tests is not installed", INSTALL, "maintainer", "npx playwright install")
_TIME_ZONES = always("the time zone data is missing", DECLARE, "maintainer", "pip install tzdata")
_LOCALE = always("a locale that it wants is missing", EQUIP, "operator")

PATTERNS: Patterns = (
    # programs and libraries
    (r"^(?:\S+: )?(?:line \d+: |\d+: )?([^\s:]+): (?:command )?not found$", _command),
    (r"^(?:/usr/bin/)?env: (\S+?): No such file or directory", _command),
    (r"^make(?:\[\d+\])?: ([^\s:]+): No such file or directory", _command),
    (r"\bspawn (\S+) ENOENT", _started_command),
    (r"FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'", _started_command),
    (r"\b([\w.+-]{1,100}\.so[\w.]{0,20}): cannot open shared object file", _LIBRARY),
    (r"version `(GLIBC\w*_[\d.]+)' not found", _LIBRARY),
    (r"cannot find -l([\w.+-]+)", _LIBRARY),
    (r"Could not find a package configuration file provided by \"([^\"]+)\"", _LIBRARY),
    (r"Could NOT find (\w+) \(missing", _LIBRARY),
    (r"Package '?([\w.+-]+)'?, required by", _LIBRARY),
    (r"No package '([\w.+-]+)' found", _LIBRARY),
    (r"fatal error: ([\w./+-]+\.(?:h|hpp|hh)): No such file", _header),
    (r"CMake (\S+) or higher is required", wrong_version("the project wants CMake {0}")),
    (r"npx playwright install|Could not find Chrome \(ver", _BROWSER),
    (r"Host system is missing dependencies to run browsers", _BROWSER),
    (r"ZoneInfoNotFoundError", _TIME_ZONES),
    (r"unsupported locale setting", _LOCALE),
    (r"no display name and no \$DISPLAY|[Cc]annot open display|Missing X server", _DISPLAY),
    (r"could not connect to display|no Qt platform plugin could be initialized", _DISPLAY),
    # limits
    (r"No space left on device|\bENOSPC\b|Disk quota exceeded|\bEDQUOT\b", _SPACE),
    (r"JavaScript heap out of memory|Cannot allocate memory|OutOfMemoryError: Java heap", _MEMORY),
    (r"fatal error: runtime: (?:out of memory|cannot allocate)", _MEMORY),
    (r"^make(?:\[\d+\])?: \*\*\* .*\] (?:Killed|Error 137)$", _MEMORY),
    (r"fork: (?:retry: )?Resource temporarily unavailable|can't start new thread", _PROCESSES),
    (r"[Aa]ddress already in use|\bEADDRINUSE\b", _PORT),
    # network
    (r"Tunnel connection failed: 403|CONNECT tunnel failed, response 403|statusCode=403", _DENIED),
    (r"npm (?:error|ERR!) code ENOTCACHED", _OFFLINE),
    (r"you're using offline mode \(--offline\)|but --offline was specified", _OFFLINE),
    (r"module lookup disabled by GOPROXY=off", _OFFLINE),
    (r"in offline mode and the artifact|available for offline mode", _OFFLINE),
    (r"Could not resolve host: ([\w.-]+)", _network),
    (r"getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)", _network),
    (r"dial tcp: lookup ([\w.-]+)", _network),
    (r"Failed to resolve '([\w.-]+)'", _network),
    (r"[Tt]emporary failure in name resolution|Name or service not known", _network),
    (r"[Nn]etwork is unreachable|\bENETUNREACH\b|failed to lookup address", _network),
    (r"[Ff]ailed to download from|spurious network error|Unknown ?[Hh]ost", _network),
    # services
    (rf"connection to server at \"{_HERE}\".*?port (\d+) failed", _service),
    (rf"ECONNREFUSED {_HERE}:(\d+)", _service),
    (rf"dial tcp {_HERE}:(\d+): connect: connection refused", _service),
    (rf"connecting to {_HERE}:(\d+)\. Connection refused", _service),
    (r"Connection refused", _service),
    (r"Can't connect to local (MySQL) server", always("{0} does not run", _START, "maintainer")),
    (r"Cannot connect to the (Docker) daemon", always("{0} does not run", _START, "operator")),
)
