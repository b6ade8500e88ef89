"""Projects for tests: files by path, as they would be read from a commit."""

from journeyman.environments.project import Project


def project_of(files: dict[str, str | None]) -> Project:
    """A file whose content is None is in the commit and was too large to be read."""
    return Project(
        paths=tuple(sorted(files)),
        contents={path: text for path, text in files.items() if text is not None},
        blobs={path: f"{number:040x}" for number, path in enumerate(sorted(files))},
    )
