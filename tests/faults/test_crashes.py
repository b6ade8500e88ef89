"""Whatever is killed, at whatever moment: nothing is lost and nothing is done twice.

A few cells of the matrix, one for each kind of loss that a crash could bring; `make faults` plays all.
"""

import pytest

from journeyman.failpoints import MOMENTS
from tests.faults.matrix import BOUNDARIES, Cell, cells, play
from tests.faults.stage import Stage, Store

_FEW = {
    ("accept", "before", "server", "sqlite"),
    ("accept", "after", "server", "postgresql"),
    ("enqueue", "after", "server", "sqlite"),
    ("workspace", "during", "server", "sqlite"),
    ("tool call", "after", "server", "postgresql"),
    ("tool call", "during", "agent", "sqlite"),
    ("tool call", "before", "jail", "sqlite"),
    ("snapshot", "before", "server", "sqlite"),
    ("commit", "after", "server", "sqlite"),
    ("push", "after", "worker", "workers"),
    ("pull request", "after", "server", "sqlite"),
    ("approval", "after", "server", "postgresql"),
    ("teardown", "after", "server", "sqlite"),
}
FEW = [cell for cell in cells(seed=1) if (cell.boundary, cell.when, cell.victim, cell.store) in _FEW]


@pytest.mark.parametrize("cell", FEW, ids=str)
def test_an_order_survives_a_kill(stages: dict[Store, Stage], cell: Cell) -> None:
    assert play(stages[cell.store], cell) == []


def test_the_matrix_reaches_every_moment_and_every_chosen_cell_exists() -> None:
    assert {moment for one in BOUNDARIES for moment in (one.before, one.after)} == set(MOMENTS)
    assert len(FEW) == len(_FEW)


def test_the_same_seed_makes_the_same_choices() -> None:
    assert cells(seed=7) == cells(seed=7)
    assert cells(seed=7) != cells(seed=8)
