"""Commands for testing that make files and documents name."""

import posixpath
import re
from collections.abc import Iterator

from journeyman.environments.detect.found import SeenCommand
from journeyman.environments.detect.shell_lines import commands_of
from journeyman.environments.project import Project

_TARGET = re.compile(
    r"^(tests?|check|unittests?|lint)[ \t]*::?(?!=)[^\n]*\n((?:\t[^\n]*(?:\n|$)|[ \t]*\n)+)", re.MULTILINE
)
_ASSIGNED = re.compile(r"^(\w+)[ \t]*[:?]?=[ \t]*([^\n#$]*?)[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_USED = re.compile(r"\$[({](\w+)[)}]")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_DOCUMENT = re.compile(r"(?:^|/)(?:README|CONTRIBUTING)(?:\.\w+)?$", re.IGNORECASE)
_TESTING = re.compile(
    r"(?:\./)?(?:(?:(?:uv|poetry|pdm|hatch|pipenv) run )?(?:python3? -m )?(?:pytest|tox|nox|unittest)\b"
    r"|(?:python3? )?(?:\./)?[\w./-]*(?:run_?tests?|test_all)(?:\.py|\.sh)?\b"
    r"|(?:npm|yarn|pnpm|bun)(?: run)? test|make (?:test|check)\b|cargo test|go test|ctest|meson test"
    r"|ninja test|(?:mvn|\./mvnw|\./gradlew|gradle) [\w -]*(?:test|check|verify)\b"
    r"|(?:bundle exec )?(?:rake(?: test)?|rspec)$|composer (?:run )?test|(?:vendor/bin/)?phpunit|dotnet test)"
)
_INLINE = re.compile(r"``?([^`\n]{3,200})``?")
_PROMPT = re.compile(r"^(?:[$>%#]\s+)")
_MAX_FROM_ONE = 20


def of_makefiles(project: Project) -> Iterator[SeenCommand]:
    found = [
        path for path in project.contents if posixpath.basename(path) in _MAKEFILES and path.count("/") <= 2
    ]
    for path in sorted(found, key=lambda path: (path.count("/"), path)):
        yield from _of_makefile(path, project.text(path), posixpath.dirname(path))


def _of_makefile(path: str, text: str, directory: str) -> Iterator[SeenCommand]:
    text = text.replace("\\\n", " ")
    values = dict(_ASSIGNED.findall(text))
    values.setdefault("MAKE", "make")
    for _, recipe in _TARGET.findall(text):
        script = "\n".join(line.strip().lstrip("@-+ ") for line in recipe.splitlines())
        for line in commands_of(_USED.sub(lambda found: values.get(found[1], found[0]), script), directory):
            yield SeenCommand(command=line.command, said_in=path, workdir=line.workdir)


def of_documents(project: Project) -> Iterator[SeenCommand]:
    """Lines and quoted words that begin like a command for testing, in documents near the root."""
    for path in sorted(project.contents, key=lambda path: (path.count("/"), path)):
        if _DOCUMENT.search(path) and path.count("/") <= 1:
            found = dict.fromkeys(_commands(project.text(path)))
            for command in list(found)[:_MAX_FROM_ONE]:
                yield SeenCommand(command=command, said_in=path)


def _commands(text: str) -> Iterator[str]:
    for line in text.splitlines():
        is_indented = line.startswith((" ", "\t", "$"))
        stripped = _PROMPT.sub("", line.strip())
        words = [stripped] if is_indented or "`" not in line else []
        for candidate in (*words, *_INLINE.findall(line)):
            command = _PROMPT.sub("", candidate.strip())
            # A sentence may begin with the name of a tool as well.
            if _TESTING.match(command) and not command.endswith((".", ":", ",")) and len(command) <= 200:
                yield command
