"""The dependency graph of a workflow: cycle detection, and what is upstream of a step."""

from collections.abc import Mapping, Sequence


def cycle_in(needs: Mapping[str, Sequence[str]]) -> list[str] | None:
    """The steps of a dependency cycle, the first repeated at the end; None when there is no cycle."""
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
    """Every step that this one depends on, directly or not."""
    found: set[str] = set()
    pending = list(needs[name])
    while pending:
        step = pending.pop()
        if step not in found:
            found.add(step)
            pending.extend(needs[step])
    return frozenset(found)
