"""Takes what cannot run in a sandbox out of a shell command: system packages, and containers.

Files of other products are written for a machine of one's own, where the first commands often install
packages of the system as root. A command is split only where that is safe to do by looking: at `&&`, `;` and
line ends outside of quotes and brackets, and never in a script with branches or loops.
"""

import re

_AS_ROOT = re.compile(
    r"sudo|doas|su|apt|apt-get|aptitude|dpkg|add-apt-repository|yum|dnf|apk|pacman|zypper|brew"
    r"|systemctl|service|useradd|usermod|groupadd|chown|setcap"
)
_CONTAINERS = re.compile(r"docker|docker-compose|dockerd|podman")
_NO_ROOT = (
    "it needs root, which nothing in the sandbox has. "
    "Have it installed on the machine, or use an image that has it"
)
_NO_CONTAINERS = (
    "there are no containers in the sandbox. Start the program itself, under 'start' of an environment file"
)
_CALLED = re.compile(
    r"""(?x) (?:^|[|&;(\n]) [^\S\n]*
    (?: (?:env|exec|command|nohup|time|then|do|else)[^\S\n]+ | [A-Za-z_]\w*=[^\s;&|(]*[^\S\n]+ )*
    (?:/[^\s;&|(]*/)? ([\w.-]+) """
)
"""Programs that commands begin with. No repetition goes past a separator, so a long text costs little."""
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*+\"""", re.DOTALL)
_SCRIPT = re.compile(r"(?:^|[\s;&|(])(?:if|for|while|until|case|function|select|\{|\[\[)\s|<<|\(\)\s*\{|`")
_PIECES = re.compile(
    r"""(?x) '[^']*' | "(?:\\.|[^"\\])*+" | \\. | (?P<open>\$?\() | (?P<close>\))
    | (?P<comment>(?:(?<=[\s;&|(])|\A)\#[^\n]*) | (?P<end>&&|;|\n) """,
    re.DOTALL,
)


def without_root(command: str) -> tuple[str, list[str]]:
    """What is left of a command, and a note for each part that was taken out."""
    command = command.replace("\\\n", " ")
    if not _reason(command):
        return command, []
    parts = _split(command)
    if parts is None:
        program, reason = _reason(command) or ("", "")
        return command, [f"`{_short(command)}` calls {program}, which will fail: {reason}."]
    kept, notes = "", []
    for part, end in parts:
        if found := _reason(part):
            notes.append(f"left out `{_short(part)}`: {found[1]}.")
        elif part.strip():
            kept += f"{part.strip()}{f' {end} ' if end == '&&' else end}"
    return re.sub(r"(?:\s*&&|[;\s])+\Z", "", kept), notes


def needs_root(command: str) -> bool:
    return _reason(command) is not None


def _reason(text: str) -> tuple[str, str] | None:
    """The first program that cannot run here, and why."""
    for program in _CALLED.findall(_QUOTED.sub("''", text)):
        if _AS_ROOT.fullmatch(program):
            return program, _NO_ROOT
        if _CONTAINERS.fullmatch(program):
            return program, _NO_CONTAINERS
    return None


def _split(command: str) -> list[tuple[str, str]] | None:
    """Parts with what ends each; None where a part may belong to another one."""
    if _SCRIPT.search(command):
        return None
    parts, begin, depth, text = [], 0, 0, ""
    for piece in _PIECES.finditer(command):
        depth += bool(piece["open"]) - bool(piece["close"])
        if piece["comment"]:
            text, begin = text + command[begin : piece.start()], piece.end()
        elif piece["end"] and not depth:
            parts.append((text + command[begin : piece.start()], piece["end"]))
            text, begin = "", piece.end()
    parts.append((text + command[begin:], ""))
    return parts if not depth and not re.search(r"['\"]", _PIECES.sub("", command)) else None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"
