"""Who runs the product in the hostile suite, and places that this user can reach.

Most ways out of a jail depend on who built it, so every case runs for root and for an ordinary user.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from journeyman.files.removal import remove_tree
from tests.hostile import ordinary
from tests.journeys.product import Product

AS_ROOT, AS_ORDINARY_USER = "root", "ordinary user"
USERS = (AS_ROOT, AS_ORDINARY_USER) if os.geteuid() == 0 else (AS_ORDINARY_USER,)
"""Root can become anybody; an ordinary user tests only for itself."""


def run_as(user: str, command: Sequence[str | Path]) -> list[str]:
    """The command line with which this user runs a program."""
    plain = [str(word) for word in command]
    if user == AS_ROOT or os.geteuid() != 0:
        return plain
    return [sys.executable, str(Path(ordinary.__file__)), *plain]


def give_to(user: str, path: Path) -> Path:
    """Let the user own a tree, so that its server can write there."""
    if user == AS_ORDINARY_USER and os.geteuid() == 0:
        for directory, _, names in os.walk(path):
            for name in (".", *names):
                os.chown(os.path.join(directory, name), ordinary.UID, ordinary.UID, follow_symlinks=False)
    return path


@contextmanager
def place_of(user: str) -> Iterator[Path]:
    """A directory of the user's own that is open on the way down, unlike pytest's."""
    place = Path(tempfile.mkdtemp(prefix="jm-hostile-"))
    place.chmod(0o755)
    try:
        yield give_to(user, place)
    finally:
        remove_tree(place)  # what a case left may be deeper than Python's own way can go


def product_of(user: str, place: Path, **environment: str) -> Product:
    home = place / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    give_to(user, home)
    # The interpreter that people have: it reads a user's own packages, unlike that of a virtual environment.
    plain = {"JOURNEYMAN_SANDBOX_PATHS": ""}
    return Product(home, prefix=run_as(user, ()), **plain | environment)
