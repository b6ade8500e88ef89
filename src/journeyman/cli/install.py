"""`jm agents install`: agents of other makers, under terms that are the user's to accept."""

import typer

from journeyman.agents.npm_packages import PACKAGES, NpmPackages
from journeyman.cli.terminal import print_json_line
from journeyman.settings import Settings


def install(settings: Settings, names: list[str], *, as_json: bool) -> None:
    """Each is printed as soon as it is installed; with JSON, on a line of its own."""
    packages = NpmPackages(settings)
    for name in names:
        is_new = packages.install(name)
        version, needs = PACKAGES[name].version, packages.readiness(name).needs
        if as_json:
            print_json_line({"name": name, "version": version, "is_new": is_new, "needs": needs})
        else:
            _print_installed(name, is_new, needs)


def _print_installed(name: str, is_new: bool, needs: str) -> None:
    package = PACKAGES[name]
    typer.echo(f"{name} {package.version} {'is installed' if is_new else 'was installed already'}.")
    if is_new:
        typer.echo(
            f"It is made by {package.maker} ({package.package} on npm). "
            "Its terms of use are between you and its maker: by using it you accept them."
        )
    if needs:
        typer.echo(needs)
