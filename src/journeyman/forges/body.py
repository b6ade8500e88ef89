"""Text for pull requests and issues: our section separate from people's, and untrusted text sanitized.

A forge finds mentions and references in the rendered text, after backslashes and entities are resolved. So
untrusted text is broken up with zero-width spaces, which survive rendering.
"""

import re

BEGIN = "<!-- journeyman:begin -->"
END = "<!-- journeyman:end -->"
MAX_CHARACTERS = 65_536
"""Longest body that GitHub accepts."""
_MAX_TITLE = 250
_CUT = "\n\n… (cut: too long for one pull request)"
_ZERO_WIDTH_SPACE = "\u200b"

_OWN_SECTION = re.compile(f"{BEGIN}(?:(?!{BEGIN}).)*?{END}", re.DOTALL)
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_TRIGGERS = (
    r"@(?=\S)",  # a mention
    r"#(?=\d)|\bGH-(?=\d)",  # a reference to an issue
    r"\b(?:clos|fix|resolv)(?=(?:e|es|ed)?\b.{0,40}://)",  # a keyword that closes an issue
    r"\[(?=(?:skip|no) (?:ci|actions)\]|(?:ci|actions) skip\])",  # a keyword that skips checks
)
_IN_PLAIN_TEXT = re.compile("|".join(_TRIGGERS), re.IGNORECASE | re.DOTALL)
_ACTIVE = re.compile(
    "|".join(
        (
            *_TRIGGERS,
            r"<(?=[a-z/!?])",  # HTML: comments, images, frames
            r"&(?=#?\w+;)",  # an entity, which could spell any of these
            r"!(?=\[)",  # an image, fetched when the page is opened
            r"^[ \t]*(?=/[a-z])",  # a command to a bot
        )
    ),
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def sanitize(text: str) -> str:
    """Text of a user, an agent or a repository, without mentions, closing keywords, HTML and images."""
    return _ACTIVE.sub(lambda found: found.group() + _ZERO_WIDTH_SPACE, _visible(text))


def sanitize_message(text: str) -> str:
    """The same for a commit message, which a forge searches for mentions but does not render."""
    return _IN_PLAIN_TEXT.sub(lambda found: found.group() + _ZERO_WIDTH_SPACE, text)


def title_line(text: str) -> str:
    """Sanitized text on one line, as long as a title may be."""
    return " ".join(sanitize(text).split())[:_MAX_TITLE]


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any in the text: for output of commands, and files."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{_visible(text)}\n{fence}"


def marker(name: str) -> str:
    """An HTML comment by which a comment of ours is found again."""
    return f"<!-- journeyman:{name} -->"


def marked(body: str, marker_text: str) -> str:
    """A comment's body behind its marker, where no cut can reach it."""
    return fit(f"{marker_text}\n{body.replace(marker_text, '').strip()}", MAX_CHARACTERS)


def merge_body(existing: str, own: str) -> str:
    """Replace our section between its markers, or append it when people removed them."""
    found = _OWN_SECTION.search(existing)
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
