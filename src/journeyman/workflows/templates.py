"""Text with values from earlier steps in it, for prompts and shell commands.

A workflow may come from anybody who may submit one, so the language is a small part of Jinja: what
could make a short template use endless time or memory is refused before it runs.

In a command a value never becomes part of the shell's text. It is assigned to a variable in front of
the command, and the place where it stood reads that variable, so no quoting around that place can be
broken out of. (Bash itself evaluates arithmetic: `[[ {{ x }} -gt 0 ]]` trusts x; `[ … ]` does not.)
"""

import json
import re
import shlex
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from journeyman.errors import InvalidWorkflow
from journeyman.workflows.references import STRING, check_names, did_you_mean, name_steps

if TYPE_CHECKING:
    import minijinja  # elsewhere imported in functions: no built-in workflow has a template

MAX_OUTPUT_CHARACTERS = 100_000
_FUEL = 20_000
_ROOTS = ("steps", "order")
_STATEMENTS = ("if", "elif", "else", "endif", "for", "endfor")
_FILTERS = frozenset(
    {"abs", "bool", "default", "first", "float", "int", "join", "last", "length", "lines", "lower"}
    | {"round", "sort", "string", "title", "tojson", "trim", "unique", "upper"}
)
_TAG = re.compile(
    r"\{#.*?#\}"
    r"|\{%[-+]?\s*raw\s*[-+]?%\}.*?\{%[-+]?\s*endraw\s*[-+]?%\}"
    rf"|(?P<open>\{{[{{%])(?P<inside>(?:{STRING}|(?![%}}]\}})[^\"'])*+)(?P<close>[%}}]\}})",
    re.DOTALL,
)
_STRING = re.compile(STRING, re.DOTALL)
_FILTER = re.compile(r"\|\s*([A-Za-z_]\w*)")
_PIECE = re.compile(r"\0\d+\0|\\[^\0]|.", re.DOTALL)
"""A value's mark, an escaped character, or any other one."""
_WORD_ENDS = (" ", "\t", "\n", ";", "&", "|", "(")


def render(text: str, context: Mapping[str, Any]) -> str:
    """The text with its values filled in. What is not text is written as JSON."""
    size = 0

    def written(value: object) -> str:
        nonlocal size
        piece = _as_text(value)
        size += len(piece)
        _check_size(size)
        return piece

    return _rendered(text, context, written)


def render_command(text: str, context: Mapping[str, Any]) -> str:
    """A script for `bash -c` in which every value is one literal piece of text, whatever it holds."""
    values: list[str] = []

    def marked(value: object) -> str:
        piece = _as_text(value)
        if "\0" in piece:
            raise InvalidWorkflow(
                "a value for a command holds a NUL character, which no command can be given",
                hint="Use another field, or clean the output of the step that gave it.",
            )
        values.append(piece)
        _check_size(sum(map(len, values)))
        return f"\0{len(values) - 1}\0"

    script = _reading_variables(_rendered(text, context, marked))
    assigned = "".join(f"journeyman_{number}={shlex.quote(value)}\n" for number, value in enumerate(values))
    _check_size(len(assigned) + len(script))
    return assigned + script


def check_template(text: str, known: Collection[str], everyone: Collection[str] = ()) -> None:
    """Refuse a template that could not be filled in: its syntax, or a step that will not have run."""
    check_names(_prepared(text)[1], known, everyone)


def _rendered(text: str, context: Mapping[str, Any], write: Callable[[object], str]) -> str:
    import minijinja

    source, _ = _prepared(text)
    environment = _environment()
    environment.finalizer = write
    try:
        result = environment.render_str(source, "template", **context)
    except minijinja.TemplateError as error:
        raise InvalidWorkflow(
            f"the template cannot be filled in: {_plain(error)}", hint=_hint(error)
        ) from error
    _check_size(len(result))
    return result


@lru_cache(maxsize=512)
def _prepared(text: str) -> tuple[str, frozenset[str]]:
    if "\0" in text:
        raise InvalidWorkflow("the template holds a NUL character", hint="Remove it.")
    names: set[str] = set()

    def tag(match: re.Match[str]) -> str:
        if match["open"] is None:
            return match[0]
        _check_tag(match)
        inside, used = name_steps(match["inside"])
        names.update(used)
        return f"{match['open']}{inside}{match['close']}"

    _free_variables(text)
    source = _TAG.sub(tag, text)
    for unknown in sorted(_free_variables(source) - {*_ROOTS, "loop"}):
        raise InvalidWorkflow(
            f"the template uses '{unknown}', which does not exist",
            hint=did_you_mean(unknown, _ROOTS) or "Begin with 'steps.' or 'order.'.",
        )
    return source, frozenset(names)


def _free_variables(text: str) -> set[str]:
    import minijinja

    try:
        return set(_environment().undeclared_variables_in_str(text))
    except minijinja.TemplateError as error:
        raise InvalidWorkflow(
            f"the template cannot be read: {_plain(error)}",
            hint="Write {{ steps.<name>.output.<field> }}; close every {{ and every {% if %}.",
        ) from error


def _check_tag(match: re.Match[str]) -> None:
    bare = _STRING.sub('""', match["inside"])
    if match["open"] == "{%":
        statement = bare.strip("-+ \t\r\n").partition(" ")[0]
        if statement not in _STATEMENTS:
            raise InvalidWorkflow(
                f"the template uses '{{% {statement} %}}', which is not available",
                hint=f"Available: {', '.join(_STATEMENTS)}.",
            )
    if "*" in bare:
        raise InvalidWorkflow(
            "the template multiplies, which is not available",
            hint="Let a shell step compute it and refer to its output.",
        )
    for name in _FILTER.findall(bare):
        if name not in _FILTERS:
            raise InvalidWorkflow(
                f"the template uses the filter '{name}', which is not available",
                hint=did_you_mean(name, _FILTERS) or f"Available: {', '.join(sorted(_FILTERS))}.",
            )


def _environment() -> "minijinja.Environment":
    import minijinja

    environment = minijinja.Environment(
        filters={"join": _join, "tojson": _tojson},
        undefined_behavior="strict",
        auto_escape_callback=lambda _name: False,
        keep_trailing_newline=True,
        fuel=_FUEL,
        debug=False,
        pycompat=False,
    )
    for name in list(environment.globals):
        environment.remove_global(name)
    return environment


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _join(values: Collection[object], separator: str = "") -> str:
    pieces = [_as_text(value) for value in values]
    _check_size(sum(map(len, pieces)) + len(pieces) * len(separator))
    return separator.join(pieces)


def _tojson(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _check_size(size: int) -> None:
    if size > MAX_OUTPUT_CHARACTERS:
        raise InvalidWorkflow(
            f"a filled-in template has more than {MAX_OUTPUT_CHARACTERS:,} characters",
            hint="Refer to a smaller field, or let the step read the whole from a file.",
        )


def _reading_variables(script: str) -> str:
    """Replace each mark by its variable, in the quotes that are open where it stands.

    A misread quote costs at most a split word: the value is in the variable, never in the text.
    """
    reads = {"": '"${%s}"', '"': "${%s}", "'": "'\"${%s}\"'", "#": "${%s}"}
    pieces: list[str] = []
    quote, before = "", "\n"
    for piece in _PIECE.findall(script):
        if piece[0] == "\0":
            if before in ("\\", "$") and quote in ("", '"'):
                pieces[-1] = f"\\{before}"
            pieces.append(reads[quote] % f"journeyman_{piece.strip(chr(0))}")
        else:
            pieces.append(piece)
            if piece in ('"', "'") and quote in ("", piece):
                quote = "" if quote else piece
            elif piece == "#" and not quote and before in _WORD_ENDS:
                quote = "#"
            elif piece == "\n" and quote == "#":
                quote = ""
        before = piece
    return "".join(pieces)


def _plain(error: "minijinja.TemplateError") -> str:
    """The engine's sentence without its file name; the caller knows where the template stands."""
    said = re.sub(r"\s*\(in [^()]*\)", "", str(error.message).partition("\n")[0])
    return f"{said} in its line {error.line}" if error.line else said


def _hint(error: "minijinja.TemplateError") -> str:
    if error.kind == "OutOfFuel":
        return "Loop over fewer values, or let a shell step prepare the text."
    if error.kind == "UndefinedError":
        return "Use a field that the step gives, or `| default('…')` for one that may be missing."
    return "Correct the template."
