"""The shape of a workflow: who comes before whom, and whether anybody waits for himself."""

from collections.abc import Mapping, Sequence


def cycle_in(needs: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Steps that wait for one another in a circle, the first repeated at the end; None when nobody does."""
    finished: set[str] = set()
    for start in needs:
        trail: list[str] = []
        pending = [iter((start,))]
        while pending:
            name = next(pending[-1], None)
            if name is None:
                pending.pop()
                if trail:
                    finished.add(trail.pop())
            elif name in trail:
                return [*trail[trail.index(name) :], name]
            elif name not in finished:
                trail.append(name)
                pending.append(iter(needs[name]))
    return None


def upstream_of(name: str, needs: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Every step that is done before this one begins."""
    found: set[str] = set()
    pending = list(needs[name])
    while pending:
        step = pending.pop()
        if step not in found:
            found.add(step)
            pending.extend(needs[step])
    return frozenset(found)
