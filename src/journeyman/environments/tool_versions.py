"""Whether a version fits what a project asks for, in all the ways that projects write it.

A bare version is a prefix, as version managers read it: `3.12` is every 3.12.x. What cannot be understood
fits nothing, so that it is reported instead of guessed.
"""

import re

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_WHOLE = re.compile(r"(?:v|go|ruby-|python-|node-)?(\d+(?:\.\d+)*)(\.[xX*])?(?:[-+_]?[a-zA-Z][\w.+-]*)?")
_CLAUSE = re.compile(r"(~>|~=|===|==|!=|>=|<=|=|>|<|\^|~)?\s*([^\s,|<>=!^~]+)")
_HYPHEN_RANGE = re.compile(r"^\s*(\S+)\s+-\s+(\S+)\s*$")
_ANY = frozenset({"", "*", "x", "latest", "current", "node", "system", "any"})
_LONG_TERM = {
    name: major
    for major, name in zip(
        range(4, 26, 2),
        "argon boron carbon dubnium erbium fermium gallium hydrogen iron jod krypton".split(),  # noqa: SIM905
        strict=True,
    )
}
"""Node's names of its releases with long-term support."""
_CHANNELS = ("stable", "beta", "nightly")
_JAVA_VENDOR = re.compile(
    r"^(?:(?:adoptopenjdk|temurin|openjdk|zulu|corretto|liberica|graalvm|oracle|sapmachine|microsoft)"
    r"(?:-(?:jdk|jre|ce|community|musl|hotspot))*-)"
)

Release = tuple[int, ...]


def release_of(text: str) -> Release:
    """The numbers of the first version in a text; empty where there is none. Java's 1.8 is 8."""
    found = _NUMBER.search(text)
    numbers = tuple(int(part) for part in found[0].split(".")) if found else ()
    return numbers[1:] if numbers[:2] in ((1, 5), (1, 6), (1, 7), (1, 8)) and "_" in text else numbers


def fits(wanted: str, have: str) -> bool:
    """`wanted` as a project writes it: `>=20`, `^18 || >=20`, `3.12`, `lts/*`, `stable`, `~> 3.2`."""
    return any(_fits_all(part.strip(), have) for part in re.split(r"\|\|?", wanted))


def _fits_all(wanted: str, have: str) -> bool:
    wanted = _JAVA_VENDOR.sub("", wanted.lower())
    if wanted in _ANY:
        return True
    if wanted.startswith("lts"):
        return _is_long_term(wanted.partition("/")[2], release_of(have))
    if wanted.startswith(_CHANNELS):
        return wanted == _channel_of(have)
    if between := _HYPHEN_RANGE.match(wanted):
        return _fits_one(">=", between[1], have) and _fits_one("<=", between[2], have)
    clauses = _CLAUSE.findall(wanted)
    left = re.sub(r"[\s,]", "", _CLAUSE.sub("", wanted))
    return bool(clauses) and not left and all(_fits_one(sign, version, have) for sign, version in clauses)


def _fits_one(sign: str, version: str, have: str) -> bool:
    if version in _ANY:
        return True
    written = _WHOLE.fullmatch(version)
    actual = release_of(have)
    if not written or not actual:
        return False
    asked = tuple(int(part) for part in written[1].split("."))
    if asked[0] == 1 and len(asked) == 2 and asked[1] in (5, 6, 7, 8) and actual[0] >= 5:
        asked = asked[1:]  # Java as it was written before 9
    is_open = bool(written[2])
    if sign in (">=", "<", ">", "<="):
        return _compare(sign, asked, actual)
    if sign == "!=":
        return actual[: len(asked)] != asked
    if sign in ("~>", "~="):
        return actual >= asked and actual[: max(1, len(asked) - 1)] == asked[: max(1, len(asked) - 1)]
    if sign == "^":
        return actual >= asked and actual[: _caret(asked)] == asked[: _caret(asked)]
    if sign == "~":
        return actual >= asked and actual[: min(2, len(asked))] == asked[: min(2, len(asked))]
    return actual[: len(asked)] == asked and (is_open or _same_stage(version, have))


def _compare(sign: str, asked: Release, actual: Release) -> bool:
    cut = actual[: len(asked)]
    if sign == ">=":
        return _padded(actual, asked) >= asked
    if sign == "<":
        return _padded(actual, asked) < asked
    # `<=3.12` takes in 3.12.4, and `>3.12` leaves it out, as npm and gem read them.
    return cut <= asked if sign == "<=" else cut > asked


def _padded(actual: Release, asked: Release) -> Release:
    return actual + (0,) * (len(asked) - len(actual))


def _caret(asked: Release) -> int:
    """How many numbers must stay: all up to the first that is not zero."""
    leading = next((place for place, number in enumerate(asked) if number), len(asked) - 1)
    return leading + 1


def _is_long_term(name: str, actual: Release) -> bool:
    if not actual or actual[0] % 2:
        return False
    return actual[0] == _LONG_TERM.get(name, actual[0])


def _channel_of(have: str) -> str:
    return next((channel for channel in _CHANNELS if f"-{channel}" in have), "stable")


def _same_stage(version: str, have: str) -> bool:
    """A pre-release fits only where one is asked for."""
    return _channel_of(have) in ("stable", _channel_of(version))
