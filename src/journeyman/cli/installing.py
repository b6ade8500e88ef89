"""`jm agents install`: agents that others make, under terms that are the user's to accept."""

import typer

from journeyman.agents.installs import PACKAGES, Installs
from journeyman.settings import Settings


def install(settings: Settings, names: list[str]) -> None:
    installs = Installs(settings)
    for name in names:
        is_new = installs.install(name)
        package = PACKAGES[name]
        typer.echo(f"{name} {package.version} {'is installed' if is_new else 'was installed already'}.")
        if is_new:
            typer.echo(
                f"It is made by {package.maker} ({package.package} on npm). "
                "Its terms of use are between you and its maker: by using it you accept them."
            )
        if needs := installs.readiness(name).needs:
            typer.echo(needs)
