"""Scripts of the scripted model: which reply comes next, decided without a network or a key.

`scripted/<name>` replays `<name>.yaml` from the operator's directory of scripts (JOURNEYMAN_SCRIPTS)
or from the bundled ones:

    turns:
      - when: {role: build, contains: "Subtask 1"}   # all optional; the first turn that fits is played
        replies:                                     # one for each call of the model, in order
          - say: I look at the file first.
            delay_seconds: 0.3                       # spread over the words
            tools:                                   # real calls, run in the sandbox
              - {name: read_file, arguments: {path: "pager/pages.py"}}
          - deliver: {reasoning: …, subtasks: […]}   # what a turn must hand back as a value
          - {fault: http_500, repeat: 2}             # for tests of what goes wrong

`contains` is a regular expression, searched in the prompt that began the conversation. Strings may
hold minijinja templates over `prompt` and `last_output` (of the last tool). Faults: `http_429`,
`http_500`, `cut_stream` and `stall` break the call, so the attempts of the next call meet them one by
one; `malformed_tool_call`, `unknown_tool`, `empty` and `refusal` are answers, if poor ones.

Nothing is remembered between calls: the place in the script is the number of answers in the
conversation. A replay after a restart gets the same replies, and any number of orders can share a script.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from journeyman.errors import AgentFailed, InvalidInput, NotFound

BUNDLED = Path(__file__).parent / "scripts"

Fault = Literal[
    "http_429", "http_500", "cut_stream", "stall", "malformed_tool_call", "unknown_tool", "empty", "refusal"
]
_BREAKING = frozenset({"http_429", "http_500", "cut_stream", "stall"})

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")


def _regular_expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class When(_Part):
    role: str | None = None
    contains: Annotated[str, AfterValidator(_regular_expression)] | None = None

    def fits(self, role: str, prompt: str) -> bool:
        return (self.role is None or self.role == role) and (
            self.contains is None or re.search(self.contains, prompt) is not None
        )


class ScriptedCall(_Part):
    name: str
    arguments: dict[str, Any] = {}


class Reply(_Part):
    say: str = ""
    tools: list[ScriptedCall] = []
    deliver: dict[str, Any] | None = None
    delay_seconds: float = Field(default=0, ge=0, le=60)
    fault: Fault | None = None
    repeat: int = Field(default=1, ge=1, le=10_000)

    @model_validator(mode="after")
    def _says_something(self) -> "Reply":
        if not (self.say or self.tools or self.deliver is not None or self.fault):
            raise ValueError("a reply needs say, tools, deliver or fault")
        return self


class ScriptedTurn(_Part):
    when: When = When()
    replies: list[Reply] = Field(min_length=1)


class Script(_Part):
    turns: list[ScriptedTurn] = Field(min_length=1)


def script_names(directory: Path | None) -> list[str]:
    """Every script that can be named, the operator's and the bundled."""
    directories = [place for place in (directory, BUNDLED) if place is not None and place.is_dir()]
    return sorted({path.stem for place in directories for path in place.glob("*.yaml")})


def load_script(name: str, directory: Path | None) -> Script:
    """The script of this name. A changed file is read anew."""
    if _NAME.fullmatch(name):
        for place in (directory, BUNDLED):
            path = place / f"{name}.yaml" if place is not None else None
            if path is not None and path.is_file():
                status = path.stat()
                return _read(path, status.st_mtime_ns, status.st_size)
    raise NotFound(
        f"there is no script {name!r} for the scripted model",
        hint=f"There are: {', '.join(script_names(directory))}. JOURNEYMAN_SCRIPTS can add more.",
    )


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, size: int) -> Script:
    try:
        return Script.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidInput(f"script {path} is not valid YAML: {error}", hint="Correct the file.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise InvalidInput(
            f"script {path}, {place}: {first['msg']}",
            hint="The format is described in journeyman/gateway/scripts.py.",
        ) from None


def next_reply(script: Script, *, role: str, prompt: str, answers: int, attempt: int) -> Reply:
    """The reply to the call that follows `answers` answers, on its `attempt`-th try (from 1)."""
    turn = next((turn for turn in script.turns if turn.when.fits(role, prompt)), None)
    if turn is None:
        raise AgentFailed(
            f"the script has no turn for role {role!r} and the prompt {prompt[:120]!r}",
            hint="Add a turn to the script, or one without `when` for everything else.",
        )
    passed = 0
    breaking: list[Reply] = []
    for reply in (each for each in turn.replies for _ in range(each.repeat)):
        if reply.fault in _BREAKING:
            breaking.append(reply)
        elif passed == answers:
            return breaking[attempt - 1] if attempt <= len(breaking) else reply
        else:
            passed += 1
            breaking = []
    if passed == answers and breaking:
        return breaking[min(attempt, len(breaking)) - 1]
    raise AgentFailed(
        f"the script has only {passed} replies to this prompt and was asked for another",
        hint="End the turn with a reply that says something and calls no tool.",
    )
