"""From what a change did to files to what a reviewer should see of it."""

from collections.abc import Collection, Sequence

from journeyman.verification.tampering.changed_file import ChangedFile
from journeyman.verification.tampering.collected import find_uncollected
from journeyman.verification.tampering.findings import Finding

__all__ = ["ChangedFile", "find_tampering"]


def find_tampering(
    files: Sequence[ChangedFile],
    *,
    collected_on_base: Collection[str] = (),
    collected_on_head: Collection[str] = (),
) -> tuple[Finding, ...]:
    """`collected_*`: the ids of tests in the runner's reports."""
    return tuple(find_uncollected(collected_on_base, collected_on_head, ()))
