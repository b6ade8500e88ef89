"""Split a list into pages and link them."""

from pager.links import page_links, render_links
from pager.pages import Page, page_count, paginate

__all__ = ["Page", "page_count", "page_links", "paginate", "render_links"]
