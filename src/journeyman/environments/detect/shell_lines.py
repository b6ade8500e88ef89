"""The commands of a shell script as single lines, each with the directory in which it runs.

Read, never run: what needs a shell to be understood (loops, conditions, here documents) is left out.
"""

import posixpath
import re
import shlex
from dataclasses import dataclass

_CONTINUED = re.compile(r"[ \t]*\\\n[ \t]*")
_CONTROL = re.compile(
    r"(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|function|set|shopt|export)\b|[{}()]"
)
_CHANGE = re.compile(r"(?:cd|pushd)\s+([\w./-]+)\s*(?:(?:&&|;)\s*(.*))?")
_BLOCK = re.compile(r"(?:if|for|while|until|case)\b")
_BLOCK_END = re.compile(r"(?:fi|done|esac)\b")
_HERE = re.compile(r"<<-?\s*[\"']?(\w+)")
_APT = re.compile(
    r"(?:^|&&|;|\bsudo\b)\s*(?:sudo\s+)?(?:-E\s+)?apt(?:-get)?\s+(?:-\S+\s+)*install\s+([^&;|]+)"
)
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+")
_MAX_LINE = 1000


@dataclass(frozen=True)
class ShellLine:
    command: str
    workdir: str = "."


def commands_of(script: str, workdir: str = "") -> list[ShellLine]:
    place = _inside(".", workdir) or "."
    found: list[ShellLine] = []
    depth, ends = 0, ""
    for line in (one.strip() for one in _CONTINUED.sub(" ", script).splitlines()):
        if ends:
            ends = "" if line == ends else ends
            continue
        if not line or line.startswith("#") or len(line) > _MAX_LINE:
            continue
        if here := _HERE.search(line):
            ends = here[1]
            continue
        is_block = bool(_BLOCK.match(line))
        depth = max(0, depth + is_block - bool(_BLOCK_END.search(line)))
        if is_block or depth or _CONTROL.match(line):
            continue
        if change := _CHANGE.fullmatch(line):
            entered = _inside(place, change[1])
            if not change[2]:
                place = entered or place
            elif entered:
                found.append(ShellLine(change[2].strip(), entered))
            continue
        found.append(ShellLine(line, place))
    return found


def apt_packages(command: str) -> list[str]:
    """The packages of the system that a line installs."""
    found: list[str] = []
    for words in _APT.findall(_EXPRESSION.sub("", command)):
        try:
            parts = shlex.split(words, comments=True)
        except ValueError:
            parts = words.split()
        found += [part for part in parts if _PACKAGE.fullmatch(part)]
    return found


def _inside(place: str, path: str) -> str | None:
    """A directory of the repository; None where a path leaves it or needs a shell to be known."""
    if "$" in path or path.startswith(("/", "~")):
        return None
    joined = posixpath.normpath(posixpath.join(place, path or "."))
    return None if joined.startswith("..") else joined
