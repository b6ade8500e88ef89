"""Pages of a sequence. Pages are counted from 1."""

from dataclasses import dataclass
from typing import Generic, List, Sequence, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    items: List[T]
    number: int
    total: int

    @property
    def has_previous(self) -> bool:
        return self.number > 1

    @property
    def has_next(self) -> bool:
        return self.number < self.total


def page_count(length: int, size: int) -> int:
    """How many pages of this size are needed. An empty sequence has one empty page."""
    if size < 1:
        raise ValueError("size must be at least 1")
    return max(1, length // size)


def paginate(items: Sequence[T], number: int, size: int) -> Page[T]:
    """One page of the items. Raises IndexError when there is no such page."""
    total = page_count(len(items), size)
    if not 1 <= number <= total:
        raise IndexError(f"there is no page {number}; pages go from 1 to {total}")
    start = (number - 1) * size
    return Page(list(items[start : start + size]), number, total)
