"""The message and the signatures of a commit that Journeyman makes.

Phases and finished subtasks are read back from the trailers, so these stand alone in the last paragraph: what
an agent puts into subject or body cannot be taken for one. Forges act on mentions and closing keywords in
commit messages too, so both are made harmless.
"""

import unicodedata
from dataclasses import dataclass

from journeyman.events.types import Phase
from journeyman.forges.base import Person
from journeyman.forges.body import sanitize_message

JOURNEYMAN = Person("Journeyman", "agent@journeyman.invalid")
_SUBJECT_CHARACTERS = 72
_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")


@dataclass(frozen=True, kw_only=True)
class CommitMessage:
    subject: str
    body: str = ""
    order_id: str
    phase: Phase
    step: str
    subtask: int | None = None
    round: int | None = None
    """Distinguishes the same subtask of different rounds."""
    co_author: Person = JOURNEYMAN

    @property
    def text(self) -> str:
        trailers = {
            "Agent-Work-Order": self.order_id,
            "Agent-Phase": self.phase,
            "Agent-Step": self.step,
            "Agent-Subtask": self.subtask,
            "Agent-Round": self.round,
            "Co-authored-by": f"{self.co_author.name} <{self.co_author.email}>",
        }
        last = "\n".join(
            f"{name}: {one_line(str(value))}" for name, value in trailers.items() if value is not None
        )
        body = "\n".join(_visible(line).rstrip() for line in self.body.splitlines()).strip()
        parts = (sanitize_message(_subject(self.subject)), sanitize_message(body), last)
        return "\n\n".join(part for part in parts if part) + "\n"


def identity(author: Person) -> dict[str, str]:
    """The environment variables with which git records author and committer."""
    return {
        "GIT_AUTHOR_NAME": one_line(author.name).strip("<>,.;:\"' ") or JOURNEYMAN.name,
        "GIT_AUTHOR_EMAIL": one_line(author.email).strip("<> ") or JOURNEYMAN.email,
        "GIT_COMMITTER_NAME": JOURNEYMAN.name,
        "GIT_COMMITTER_EMAIL": JOURNEYMAN.email,
    }


def one_line(text: str) -> str:
    return " ".join(_visible(" ".join(text.split())).split())


def _subject(text: str) -> str:
    line = one_line(text) or "Change files"
    return line if len(line) <= _SUBJECT_CHARACTERS else line[: _SUBJECT_CHARACTERS - 1].rstrip() + "…"


def _visible(text: str) -> str:
    """Without control and formatting characters, which change how the rest is displayed."""
    return "".join(c for c in text if c == "\t" or unicodedata.category(c) not in _INVISIBLE)
