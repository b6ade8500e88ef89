"""A link in the documentation leads somewhere: to a file that exists, at a heading that it has.

Links to other hosts are left alone, because a test needs no network.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source import ROOT

_CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def pages() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def links(text: str) -> list[str]:
    """Where a page's links go, those to other hosts left out."""
    # Code is blanked, not removed: a link's own text may be code.
    return [link for link in _LINK.findall(_CODE.sub("code", text)) if "://" not in link]


def anchors(text: str) -> set[str]:
    """The names under which a forge shows a page's headings."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(text)}


def broken(page: Path) -> Iterator[str]:
    for link in links(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{page.name}: {link} leads nowhere"
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{page.name}: {target.name} has no heading for #{anchor}"


def test_every_link_leads_somewhere() -> None:
    assert len(pages()) > 10
    found = [fault for page in pages() for fault in broken(page)]
    assert not found, "\n".join(found)


def test_every_page_can_be_reached_from_the_first_one() -> None:
    index = ROOT / "docs" / "index.md"
    reached, waiting = {index}, [index]
    while waiting:
        page = waiting.pop()
        for link in links(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target not in reached:
                reached.add(target)
                waiting.append(target)
    lost = [str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if page not in reached]
    assert not lost, "no page links to: " + ", ".join(lost)


@pytest.mark.parametrize(
    ("link", "faults"),
    [
        ("other.md", 0),
        ("other.md#the-jails-walls", 0),
        ("#a-page", 0),
        ("https://example.org/nowhere", 0),
        ("nowhere.md", 1),
        ("other.md#nowhere", 1),
        ("#nowhere", 1),
        ("other.md#in-code", 1),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, link: str, faults: int) -> None:
    (tmp_path / "other.md").write_text("# Other\n\n## The jail's `walls`\n\n```\n# In code\n```\n")
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\nSee [the `other` one]({link}).\n\n```\n[not a link](in-code.md)\n```\n")
    assert len(list(broken(page))) == faults
