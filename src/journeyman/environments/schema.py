"""The fields of `.journeyman/environment.yaml`, as they are typed and what they may hold.

Every refusal carries its remedy. A short form (a command as plain text) is widened to the long one before it
is validated, so that there is one rule for both.
"""

import ipaddress
import posixpath
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from journeyman.environments.plan import CheckKind
from journeyman.environments.variables import refuse_variable

MAX_COMMANDS = 200
MAX_CHECKS = 400
MAX_SERVICES = 20
MAX_COMMAND = 20_000
_MAX_SERVICE_SECONDS = 3600
_HOST = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*"
)
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,299}", re.ASCII)
_PROGRAM = re.compile(r"[A-Za-z0-9_.][\w.+/-]{0,99}", re.ASCII)
_VERSION = re.compile(r"[\w.*<>=~^!,|+/ -]{1,100}")


def mistake(message: str, hint: str) -> PydanticCustomError:
    # The texts are values of the context: in the template itself a brace would be a placeholder.
    return PydanticCustomError("mistake", "{what}", {"what": message, "hint": hint})


def _command(text: str) -> str:
    if not text.strip():
        raise mistake("the command is empty", "Write a shell command, or remove the line.")
    if len(text) > MAX_COMMAND:
        raise mistake(
            f"the command is longer than {MAX_COMMAND:,} characters",
            "Put it into a script of the repository and call that.",
        )
    return text.strip("\n")


def _directory(text: str) -> str:
    """A directory of the repository, without `./` and slashes at the end."""
    parts = text.split("/")
    if not text.strip() or "\\" in text or len(text) > 500:
        raise mistake(f"{text[:100]!r} is not a directory", "Write its path with slashes: 'packages/api'.")
    if text.startswith(("/", "~")) or ".." in parts:
        raise mistake(
            f"{text[:100]!r} leads out of the repository",
            "Write the path as seen from the repository's root: 'packages/api'.",
        )
    if ".git" in parts:
        raise mistake(f"{text[:100]!r} belongs to git", "Name a directory of the repository's own files.")
    return posixpath.normpath(text)


def _cached(text: str) -> str:
    is_home = text.startswith("~/")
    directory = _directory(text[2:] if is_home else text)
    if directory == ".":
        raise mistake(
            f"{text!r} is everything, which cannot be cached", "Name single directories: 'build', '~/.m2'."
        )
    return f"~/{directory}" if is_home else directory


def _host(text: str) -> str:
    host = text.strip().rstrip(".").lower()
    shown = repr(text[:100])
    if "://" in host or "/" in host:
        bare = re.sub(r"^[a-z0-9+.-]*://", "", host).partition("/")[0]
        raise mistake(f"{shown} is an address, not a host", f"Write the host alone: '{bare[:253]}'.")
    if "*" in host:
        raise mistake(f"{shown} is a pattern", "Name each host; wildcards are not accepted.")
    if "@" in host:
        raise mistake(f"{shown} holds a user's name", "Write the host alone; credentials are settings.")
    if _is_address(host):
        raise mistake(f"{shown} is a raw address", "Write the host's name; raw addresses are never reached.")
    if ":" in host:
        bare = host.partition(":")[0]
        raise mistake(f"{shown} names a port", f"Write the host alone: '{bare}'. Its port 443 is allowed.")
    if host == "localhost" or host.endswith(".localhost"):
        raise mistake(
            f"{shown} is the sandbox itself", "Remove it: what is started inside can always be reached."
        )
    if not host.isascii():
        raise mistake(f"{shown} is not plain ASCII", "Write its xn-- form.")
    if not _HOST.fullmatch(host):
        raise mistake(f"{shown} is not a host", "Write a name such as 'registry.example.com'.")
    return host


def _is_address(host: str) -> bool:
    candidate = host.removeprefix("[").partition("]")[0]
    if re.fullmatch(r"[0-9.]+|0x[0-9a-f.x]+", candidate.partition(":")[0] or "x"):
        return True
    try:
        ipaddress.ip_address(candidate)
    except ValueError:
        return False
    return True


def _variable(name: str) -> str:
    if refused := refuse_variable(name):
        raise mistake(*refused)
    return name


def _variable_value(value: Any) -> Any:
    if value is None:
        raise mistake("the variable has no value", 'Write "" for an empty one, or remove the line.')
    return value


def _image(text: str) -> str:
    if not _IMAGE.fullmatch(text):
        raise mistake(f"{text[:100]!r} is not an image", "Write it as 'registry.example.com/team/image:tag'.")
    return text


def _version(value: Any) -> Any:
    if value is None or not isinstance(value, str):
        raise mistake("the tool has no version", 'Write one, such as "3.12" or ">=20".')
    if not _VERSION.fullmatch(value):
        raise mistake(f"{value[:100]!r} is not a version", 'Write one, such as "3.12" or ">=20".')
    return value


def _program(text: str) -> str:
    if not _PROGRAM.fullmatch(text):
        raise mistake(f"{text[:100]!r} is not a program", "Write its name as it is called: 'uv', 'node'.")
    return text


def _check_name(name: str) -> str:
    if not name.strip() or len(name) > 100 or "\n" in name or name != name.strip():
        raise mistake(f"{name[:100]!r} cannot name a check", "Use one line of up to 100 characters.")
    return name


def _widened(field: str) -> Callable[[Any], Any]:
    """Plain text stands for a mapping that has only this field."""
    return lambda value: {field: value} if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


def _agent_hosts(value: Any) -> Any:
    if value == "none":
        return ()
    if isinstance(value, str):
        hint = "Write 'none', or a list of hosts: [api.example.com]."
        raise mistake(f"'agent' is {value[:100]!r}", hint)
    return value


_Command = Annotated[StrictStr, AfterValidator(_command)]
_Directory = Annotated[StrictStr, AfterValidator(_directory)]
_Host = Annotated[StrictStr, AfterValidator(_host)]
_Hosts = Annotated[tuple[_Host, ...], Field(max_length=100)]
_Program = Annotated[StrictStr, AfterValidator(_program)]
_VariableName = Annotated[StrictStr, AfterValidator(_variable)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InstallEntry(_Model):
    command: _Command
    workdir: _Directory | None = None
    optional: StrictBool = False


class StartEntry(_Model):
    command: _Command
    ready: _Command | None = None
    timeout: Annotated[float, Field(gt=0, le=_MAX_SERVICE_SECONDS)] = 120.0


class CheckEntry(_Model):
    command: _Command
    workdir: _Directory | None = None
    kind: CheckKind | None = None
    needs: Annotated[tuple[_Program, ...], BeforeValidator(_listed), Field(max_length=20)] = ()
    covers: Annotated[tuple[_Directory, ...], BeforeValidator(_listed), Field(max_length=50)] = ()


class NetworkEntry(_Model):
    setup: _Hosts | None = None
    agent: Annotated[_Hosts | None, BeforeValidator(_agent_hosts)] = None


_Install = Annotated[InstallEntry, BeforeValidator(_widened("command"))]
_Start = Annotated[StartEntry, BeforeValidator(_widened("command"))]
_Check = Annotated[CheckEntry | None, BeforeValidator(_widened("command"))]


class EnvironmentFile(_Model):
    install: (
        Annotated[tuple[_Install, ...], BeforeValidator(_listed), Field(max_length=MAX_COMMANDS)] | None
    ) = None
    start: Annotated[tuple[_Start, ...], BeforeValidator(_listed), Field(max_length=MAX_SERVICES)] | None = (
        None
    )
    checks: Annotated[
        dict[Annotated[StrictStr, AfterValidator(_check_name)], _Check], Field(max_length=MAX_CHECKS)
    ] = {}
    workdir: _Directory | None = None
    env: Annotated[
        dict[_VariableName, Annotated[StrictStr, Field(max_length=32_000), BeforeValidator(_variable_value)]],
        Field(max_length=200),
    ] = {}
    network: NetworkEntry = NetworkEntry()
    image: Annotated[StrictStr, AfterValidator(_image)] | None = None
    secrets: Annotated[tuple[_VariableName, ...], Field(max_length=50)] = ()
    secrets_in_agent_phase: StrictBool = False
    cache: Annotated[
        tuple[Annotated[StrictStr, AfterValidator(_cached)], ...],
        BeforeValidator(_listed),
        Field(max_length=100),
    ] = ()
    tools: Annotated[
        dict[_Program, Annotated[StrictStr, BeforeValidator(_version)]], Field(max_length=50)
    ] = {}

    @model_validator(mode="after")
    def _secrets_are_not_written_down(self) -> "EnvironmentFile":
        if both := sorted({*self.secrets} & {*self.env}):
            raise mistake(
                f"{both[0]} is both in 'env' and in 'secrets'",
                "Keep it in 'secrets': the file can be read by everybody who reads the repository.",
            )
        return self
