"""Draw the rooms of the house and who imports whom, from the source itself.

`scripts/picture.sh` writes it to docs/images/the-house.svg. An arrow that a longer way already shows is left
out: where `api` imports `engine` and `engine` imports `git`, there is no arrow from `api` to `git`.
"""

import sys
from html import escape

from tests.house.source import FLOOR_PLAN, ROOT, modules, own_imports

PICTURE = ROOT / "docs" / "images" / "the-house.svg"
_WIDTH, _ROW, _MARGIN = 640, 62, 16
_BOX_WIDTH, _BOX_HEIGHT, _GAP = 116, 30, 40
_STYLE = """
  rect.page { fill: #ffffff }
  rect.room { fill: #f1f5f9; stroke: #475569 }
  text { fill: #0f172a; font: 14px ui-monospace, monospace; text-anchor: middle }
  path { fill: none; stroke: #94a3b8; stroke-width: 1.2 }
  marker path { fill: #94a3b8; stroke: none }
"""

Arrow = tuple[str, str]


def arrows() -> set[Arrow]:
    """Which room imports which, however often."""
    rooms = {room for row in FLOOR_PLAN for room in row}
    found = {(module.room, name.partition(".")[0]) for module in modules() for name, _ in own_imports(module)}
    return {(user, used) for user, used in found if user != used and {user, used} <= rooms}


def shortest(found: set[Arrow]) -> set[Arrow]:
    """The arrows that no longer way replaces."""
    used = {user: {to for start, to in found if start == user} for user, _ in found}

    def reached(room: str) -> set[str]:
        return used.get(room, set()).union(*(reached(one) for one in used.get(room, ())))

    return {
        (user, to)
        for user, to in found
        if not any(to in reached(between) for between in used[user] if between != to)
    }


def draw() -> str:
    places = _places()
    lines = [_line(places[user], places[used]) for user, used in sorted(shortest(arrows()))]
    boxes = [_box(room, *places[room]) for room in sorted(places)]
    height = 2 * _MARGIN + _ROW * (len(FLOOR_PLAN) - 1) + _BOX_HEIGHT
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">\n'
        f"<title>The rooms of Journeyman; an arrow means: imports</title>\n<style>{_STYLE}</style>\n"
        '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker>\n'
        f'<rect class="page" width="{_WIDTH}" height="{height}" rx="8"/>\n'
    )
    return head + "\n".join([*lines, *boxes]) + "\n</svg>\n"


def _places() -> dict[str, tuple[int, int]]:
    """The middle of each room's upper edge; rows from top to bottom, as the floor plan has them."""
    found = {}
    for number, row in enumerate(FLOOR_PLAN):
        wide = len(row) * _BOX_WIDTH + (len(row) - 1) * _GAP
        # Rows lean to one side and the other, so that a long arrow is not hidden behind rooms.
        lean = 0 if len(row) > 1 else (-1) ** number * 60
        left = (_WIDTH - wide) // 2 + lean
        for place, room in enumerate(sorted(row)):
            middle = left + place * (_BOX_WIDTH + _GAP) + _BOX_WIDTH // 2
            found[room] = (middle, _MARGIN + number * _ROW)
    return found


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    (x1, y1), (x2, y2) = (start[0], start[1] + _BOX_HEIGHT), end
    bend = (y2 - y1) // 2
    return f'<path d="M{x1} {y1}C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}" marker-end="url(#head)"/>'


def _box(room: str, x: int, y: int) -> str:
    left = x - _BOX_WIDTH // 2
    return (
        f'<rect class="room" x="{left}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="5"/>'
        f'<text x="{x}" y="{y + 20}">{escape(room)}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}\n")
