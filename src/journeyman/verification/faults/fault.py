"""Something that a check needed and did not find, with what helps and who can do it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from journeyman.environments.doctor import RemedyOwner
from journeyman.verification.own_code import CodeUnderTest


@dataclass(frozen=True, kw_only=True)
class EnvironmentFault:
    what: str
    remedy: str
    """What helps. A sentence that names a setting stands alone, so that a page can leave it out."""
    who: RemedyOwner
    command: str = ""
    """What would bring it, for a shell; empty where no command does."""


Meaning = Callable[[re.Match[str], CodeUnderTest, str], EnvironmentFault | None]
"""What a message means for this code, given what was printed around it; None: the code is to blame."""
Patterns = tuple[tuple[str, Meaning], ...]

DECLARE = (
    "Declare it among the project's dependencies on the base branch, "
    "or add the command to install in .journeyman/environment.yaml."
)
INSTALL = (
    "See why the set-up did not install it, or add the command to install in .journeyman/environment.yaml."
)
EQUIP = (
    "Install it where the server runs, or with install in .journeyman/environment.yaml. "
    "JOURNEYMAN_SANDBOX_PATHS shows more directories to sandboxes."
)


def always(what: str, remedy: str, who: RemedyOwner, command: str = "") -> Meaning:
    """A message that has one meaning; `{0}` in `what` is what the pattern found."""

    def meaning(found: re.Match[str], _code: CodeUnderTest, _around: str) -> EnvironmentFault:
        return EnvironmentFault(
            what=what.format(" ".join(group for group in found.groups() if group)).strip(),
            remedy=remedy,
            who=who,
            command=command,
        )

    return meaning


def wrong_version(what: str) -> Meaning:
    return always(what, EQUIP, "operator")


def missing_tool(name: str) -> EnvironmentFault:
    return EnvironmentFault(what=f"a command it needs is missing: {name}", remedy=EQUIP, who="operator")
