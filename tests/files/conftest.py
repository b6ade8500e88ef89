"""A place that an ordinary user can write too: the rights of whoever removes a tree matter."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.remover import ORDINARY, Remover


@pytest.fixture
def place() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="journeyman-files-"))
    path.chmod(0o777)
    yield path
    Remover(None).remove(path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(params=[None, ORDINARY], ids=["as started", "as an ordinary user"])
def remover(request: pytest.FixtureRequest) -> Remover:
    return Remover(request.param)
