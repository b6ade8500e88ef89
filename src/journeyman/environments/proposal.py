"""An environment as the text of a definition, for people to edit: `.journeyman/environment.yaml`.

Only what a definition has to say is written: what detection adds by itself (variables, directories, tools)
stays out, because a definition that leaves it out gets it all the same.
"""

from collections import Counter
from typing import Any

import yaml

from journeyman.environments.plan import Check, Environment, InstallCommand, Service

ENVIRONMENT_PATH = ".journeyman/environment.yaml"
_HEAD = "# What this repository needs before anything runs. Docs: how-to/check-a-repository.\n"


def as_definition(environment: Environment) -> str:
    fields: dict[str, Any] = {
        "install": [_install(one) for one in environment.install],
        "start": [_service(one) for one in environment.start],
        "checks": _checks(environment.checks),
    }
    network: dict[str, Any] = {}
    if environment.setup_hosts:
        network["setup"] = list(environment.setup_hosts)
    if environment.agent_network != "none":
        network["agent"] = list(environment.agent_network)
    fields["network"] = network
    fields["secrets"] = list(environment.secrets)
    fields["image"] = environment.image
    written = {name: value for name, value in fields.items() if value}
    if not written:
        written = {"install": [], "checks": {}}
    return _HEAD + yaml.dump(
        written, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000, default_flow_style=False
    )


def _install(one: InstallCommand) -> str | dict[str, Any]:
    more: dict[str, Any] = {}
    if one.workdir != ".":
        more["workdir"] = one.workdir
    if one.is_optional:
        more["optional"] = True
    return {"command": one.command, **more} if more else one.command


def _service(one: Service) -> str | dict[str, Any]:
    more: dict[str, Any] = {}
    if one.ready is not None:
        more["ready"] = one.ready
    if one.timeout != Service(command="").timeout:
        more["timeout"] = one.timeout
    return {"command": one.command, **more} if more else one.command


def _checks(checks: tuple[Check, ...]) -> dict[str, Any]:
    """By kind where there is one of it, else by their own names."""
    kinds = Counter(one.kind for one in checks)
    written: dict[str, Any] = {}
    for one in checks:
        name: str = one.kind if kinds[one.kind] == 1 else one.name
        more: dict[str, Any] = {}
        if name != one.kind:
            more["kind"] = one.kind
        if one.workdir != ".":
            more["workdir"] = one.workdir
        if one.covers:
            more["covers"] = list(one.covers)
        written[name] = {"command": one.command, **more} if more else one.command
    return written


class _Dumper(yaml.SafeDumper):
    """Commands of several lines as blocks, so that people can read them."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
