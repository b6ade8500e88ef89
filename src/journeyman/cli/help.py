"""`jm --help`: the commands in groups, each with its whole summary.

Typer draws groups with rich, which takes longer to import than the rest of the help, and its plain help cuts
summaries off. A command names its group by `rich_help_panel`.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup

_NEVER_CUT = 1000


class GroupedCommands(TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if isinstance(command, TyperCommand | TyperGroup) and not command.hidden:
                rows = groups.setdefault(command.rich_help_panel or "Commands", [])
                rows.append((name, command.get_short_help_str(_NEVER_CUT)))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)


class ShowByDefault(TyperGroup):
    """A group whose first argument may be no command but what its command `show` is given."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])
