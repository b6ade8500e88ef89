"""What we write into pull requests and issues, kept apart from what people wrote, and made harmless.

A forge looks for mentions and references in the rendered text, after backslashes and entities are
resolved. So text of others is broken up with zero-width spaces, which survive rendering.
"""

import re

BEGIN = "<!-- journeyman:begin -->"
END = "<!-- journeyman:end -->"
MAX_CHARACTERS = 65_536
"""Longest body that GitHub accepts."""
_MAX_TITLE = 250
_CUT = "\n\n… (cut: too long for one pull request)"
_APART = "\u200b"

_OWN_PART = re.compile(f"{BEGIN}(?:(?!{BEGIN}).)*?{END}", re.DOTALL)
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_CALLING = (
    r"@(?=\S)",  # a mention
    r"#(?=\d)|\bGH-(?=\d)",  # a reference to an issue
    r"\b(?:clos|fix|resolv)(?=(?:e|es|ed)?\b.{0,40}://)",  # a keyword that closes an issue
    r"\[(?=(?:skip|no) (?:ci|actions)\]|(?:ci|actions) skip\])",  # a word that keeps checks from running
)
_IN_PLAIN_TEXT = re.compile("|".join(_CALLING), re.IGNORECASE | re.DOTALL)
_ACTIVE = re.compile(
    "|".join(
        (
            *_CALLING,
            r"<(?=[a-z/!?])",  # HTML: comments, images, frames
            r"&(?=#?\w+;)",  # an entity, which could spell any of these
            r"!(?=\[)",  # an image, fetched when somebody looks
            r"^[ \t]*(?=/[a-z])",  # a command to a bot
        )
    ),
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def sanitize(text: str) -> str:
    """Text of a user, an agent or a repository, so that it calls nobody, closes nothing and loads nothing."""
    return _ACTIVE.sub(lambda found: found.group() + _APART, _visible(text))


def sanitize_message(text: str) -> str:
    """The same for a commit's message, which a forge searches for calls but does not render."""
    return _IN_PLAIN_TEXT.sub(lambda found: found.group() + _APART, text)


def title_line(text: str) -> str:
    """`plain` text on one line, as long as a title may be."""
    return " ".join(sanitize(text).split())[:_MAX_TITLE]


def fenced(text: str, language: str = "") -> str:
    """A code block that the text cannot leave: output of commands, files."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{_visible(text)}\n{fence}"


def marker(name: str) -> str:
    """An invisible sign by which a comment of ours is found again."""
    return f"<!-- journeyman:{name} -->"


def marked(body: str, sign: str) -> str:
    """A comment's body behind its marker, where no cut can reach it."""
    return fit(f"{sign}\n{body.replace(sign, '').strip()}", MAX_CHARACTERS)


def merge_body(existing: str, own: str) -> str:
    """Put our part between its markers, or at the end when people took them away."""
    found = _OWN_PART.search(existing)
    if found:
        before, after = existing[: found.start()], existing[found.end() :]
    else:
        before, after = (f"{existing.rstrip()}\n\n" if existing.strip() else ""), ""
    own = own.replace(BEGIN, "").replace(END, "")
    room = MAX_CHARACTERS - len(before) - len(after) - len(BEGIN) - len(END) - 2
    return f"{before}{BEGIN}\n{fit(own, room)}\n{END}{after}"


def fit(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(0, room - len(_CUT))] + _CUT


def _visible(text: str) -> str:
    return _HIDDEN.sub("", _TERMINAL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
