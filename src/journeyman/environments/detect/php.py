"""PHP: Composer and PHPUnit."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from journeyman.environments.detect.found import Detected, Hints, there, under, workdir_of
from journeyman.environments.detect.pins import pinned
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_TILDE = re.compile(r"~\s*(\d)")
_ANALYSERS = (
    ("phpstan", ("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"), "phpstan analyse --no-progress"),
    ("psalm", ("psalm.xml", "psalm.xml.dist"), "psalm --no-progress"),
)


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    path = under(directory, "composer.json")
    if not project.has(path):
        return None
    package = _read(project.text(path))
    if package is None:
        note = f"{path} is not valid JSON, so nothing is known of the package."
        return Detected(ecosystem="PHP (Composer)", directory=directory, notes=(note,))
    lock = under(directory, "composer.lock")
    is_vendored = "vendor/" in project.names(directory)
    install = InstallCommand(
        command="composer install --no-interaction --no-progress",
        why=lock if project.has(lock) else path,
        workdir=workdir_of(directory),
    )
    return Detected(
        ecosystem="PHP (Composer)",
        directory=directory,
        tools=(_php(project, directory, package), ToolNeed(tool="composer", version="", said_in=path)),
        install=(install,),
        checks=tuple(_checks(project, directory, package)),
        directories=() if is_vendored else (under(directory, "vendor"),),
        key_files=(path, lock),
    )


def _read(text: str) -> Mapping[str, Any] | None:
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return package if isinstance(package, dict) else None


def _table(package: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = package.get(key)
    return value if isinstance(value, dict) else {}


def _php(project: Project, directory: str, package: Mapping[str, Any]) -> ToolNeed:
    asked = _table(package, "require").get("php")
    # Composer's `~8.1` is Ruby's `~> 8.1`, and not npm's.
    version = _TILDE.sub(r"~> \1", asked) if isinstance(asked, str) else ""
    said = ToolNeed(tool="php", version=version, said_in=under(directory, "composer.json"))
    return pinned(project, directory, "php") or said


def _checks(project: Project, directory: str, package: Mapping[str, Any]) -> Iterator[Check]:
    names, workdir = project.names(directory), workdir_of(directory)
    needed = {**_table(package, "require"), **_table(package, "require-dev")}
    installed = f"{there('php')} && test -f vendor/autoload.php"
    runner = "pest" if "pestphp/pest" in needed else "phpunit"
    configured = next(
        (name for name in ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml") if name in names), None
    )
    if _table(package, "scripts").get("test"):
        yield Check(
            name="composer test",
            kind="test",
            command="composer test",
            workdir=workdir,
            tool="Composer with the project's packages",
            why=f"{under(directory, 'composer.json')}: scripts.test",
            probe=f"{there('composer')} && test -f vendor/autoload.php",
        )
    elif configured or "phpunit/phpunit" in needed or runner == "pest":
        installed_runner = Check(
            name=runner,
            kind="test",
            command=f"vendor/bin/{runner}",
            workdir=workdir,
            tool="PHP with the project's packages",
            why=under(directory, configured or "composer.json"),
            probe=f"test -x vendor/bin/{runner}",
            otherwise=None
            if runner == "pest"
            else Check(
                name=runner,
                kind="test",
                command="phpunit",
                workdir=workdir,
                tool="PHPUnit",
                why=under(directory, configured or "composer.json"),
                probe=f"{there('phpunit')} && test -f vendor/autoload.php",
            ),
        )
        yield installed_runner
    for name, files, command in _ANALYSERS:
        if found := next((one for one in files if one in names), None):
            yield Check(
                name=name,
                kind="types",
                command=f"vendor/bin/{command}",
                workdir=workdir,
                tool=name,
                why=under(directory, found),
                probe=f"{installed} && test -x vendor/bin/{name}",
            )
