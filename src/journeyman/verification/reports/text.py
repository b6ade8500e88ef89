"""Text out of reports, cleaned: ids stay the same on every commit, and nothing of it breaks a page or a line.

A test may have any name: ten kilobytes, line breaks, markup, terminal codes.
"""

import hashlib
import re

_MOST_ID = 400
_MOST_MESSAGE = 2_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean_id(text: str) -> str:
    """Control characters escaped; a long one is cut and ends with a hash of all of it."""
    clean = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text).strip() or "(no name)"
    if len(clean) <= _MOST_ID:
        return clean
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return f"{clean[:_MOST_ID]}…{digest}"


def clean_message(text: str) -> str:
    """Readable text of several lines; of a long one the beginning."""
    clean = _UNPRINTABLE.sub("", _CODES.sub("", text[: 2 * _MOST_MESSAGE])).strip()
    return clean if len(clean) <= _MOST_MESSAGE else f"{clean[:_MOST_MESSAGE]}…"


def clean_path(text: str, workspace: str) -> str | None:
    """A path in the repository; None for one that leads out of it."""
    path = text.removeprefix(f"{workspace}/").removeprefix("./")
    if not path or path.startswith("/") or ".." in path.split("/") or len(path) > _MOST_ID:
        return None
    return clean_id(path)
