"""Which page links to show: the first, the last, and those around the current page."""

from typing import List, Optional

from pager.pages import Page


def page_links(number: int, total: int, around: int = 1) -> List[Optional[int]]:
    """Page numbers in order; None stands for a gap."""
    shown = sorted({1, total, *range(max(1, number - around), min(total, number + around) + 1)})
    links: List[Optional[int]] = []
    for page in shown:
        if links and links[-1] is not None and page - links[-1] > 1:
            links.append(None)
        links.append(page)
    return links


def render_links(page: Page, around: int = 1) -> str:
    """The links as text, with the current page in brackets."""
    words = []
    for link in page_links(page.number, page.total, around):
        words.append("…" if link is None else f"[{link}]" if link == page.number else str(link))
    return " ".join(words)
