"""What lies below a directory, found without a look at the rest of a large repository."""

from bisect import bisect_left

from journeyman.environments.project import Project

_AFTER_SLASH = chr(ord("/") + 1)


def paths_below(project: Project, directory: str) -> tuple[str, ...]:
    """All files below a directory, as paths from the root; they are sorted, so these stand together."""
    if not directory:
        return project.paths
    start = bisect_left(project.paths, f"{directory}/")
    return project.paths[start : bisect_left(project.paths, f"{directory}{_AFTER_SLASH}", start)]
