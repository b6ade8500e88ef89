"""The key of a layer: everything that decides what a set-up installs, and nothing else.

The repository is part of it, so two repositories never share a layer even where their files are the same: an
install script of one must not reach the other.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from journeyman.environments.plan import Environment
from journeyman.environments.project import Project

_SCHEMA = 1
"""Counted up when layers are made or laid out in another way."""
_WORD = re.compile(r"[A-Za-z0-9_.+-]+")
_KEY_LENGTH = 40


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What of this machine a layer depends on."""

    architecture: str
    system: str
    """The system that sandboxes show, as its os-release names it."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Something that changes when a tool is replaced, by the tool's name."""


@dataclass(frozen=True, kw_only=True)
class LayerInputs:
    repository: str
    private_to: str | None = None
    """The order, or the branch of one, that alone may use it, because agents changed its files."""
    architecture: str
    system: str
    tools: tuple[tuple[str, str], ...] = ()
    blobs: tuple[tuple[str, str], ...] = ()
    """Object ids of the files that decide what is installed; empty for one that is not there."""
    install: tuple[tuple[str, str, bool], ...] = ()
    """Command, directory and whether it is optional."""
    env: tuple[tuple[str, str], ...] = ()
    path: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(**{name: _frozen(value) for name, value in stored.items()})


def inputs_of(
    environment: Environment,
    project: Project,
    machine: Machine,
    *,
    repository_url: str,
    private_to: str | None = None,
) -> LayerInputs:
    tools = tool_words(environment)
    return LayerInputs(
        repository=repository_url.rstrip("/").removesuffix(".git"),
        private_to=private_to,
        architecture=machine.architecture,
        system=machine.system,
        tools=tuple((name, machine.tools[name]) for name in tools if name in machine.tools),
        blobs=tuple((path, project.blobs.get(path, "")) for path in sorted(set(environment.key_files))),
        install=tuple((one.command, one.workdir, one.is_optional) for one in environment.install),
        env=tuple(sorted(environment.env.items())),
        path=environment.path,
        secrets=tuple(sorted(environment.secrets)),
        directories=tuple(sorted(environment.directories)),
    )


def tool_words(environment: Environment) -> tuple[str, ...]:
    """Every word of the install commands may be a tool; those that are none are not found on the machine."""
    words = {word for one in environment.install for word in _WORD.findall(one.command)}
    return tuple(sorted(words | {need.tool for need in environment.tools}))


def layer_key(inputs: LayerInputs) -> str:
    text = json.dumps([_SCHEMA, asdict(inputs)], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH]


def nearness(older: LayerInputs, wanted: LayerInputs) -> float | None:
    """How much of an older layer can be kept, from 0 to 1; None where nothing may be taken from it.

    What an order's agents could change is used by that order alone, so no private layer is ever built upon.
    """
    same = ("repository", "architecture", "system", "tools", "path", "secrets")
    if older.private_to is not None or any(getattr(older, name) != getattr(wanted, name) for name in same):
        return None
    pairs = (set(older.blobs), set(wanted.blobs)), (set(older.install), set(wanted.install))
    shares = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs]
    return sum(shares) / len(shares)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
