"""How the repository of an order is reached: its mirror, its forge, its author, its commands."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from journeyman.forges.base import Forge, Person, Remote
from journeyman.git.commits import JOURNEYMAN
from journeyman.git.lfs import LfsStore
from journeyman.git.lfs_transfer import fetch_lfs
from journeyman.git.mirror import FreshMirror, Mirror
from journeyman.git.mirrors import Mirrors
from journeyman.git.missing import Missing
from journeyman.git.run import host_author
from journeyman.git.submodules import Submodules
from journeyman.knowledge.command_cache import CommandCache
from journeyman.settings import Settings
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.repositories import Repository, parse_repository


@dataclass(frozen=True, kw_only=True)
class Repositories:
    settings: Settings
    mirrors: Mirrors
    forges: Mapping[str, Forge]
    """By `Repository.forge`."""
    commands: CommandCache = field(default_factory=CommandCache)
    _authors: dict[str, Person] = field(default_factory=dict)
    """Who commits are made for, by forge: asked once."""

    def of(self, order: WorkOrder) -> Repository:
        return parse_repository(
            order.repository_url,
            github_url=self.settings.github_url,
            allow_local=True,
            must_exist=False,
        )

    def forge(self, order: WorkOrder) -> Forge:
        return self.forges[self.of(order).forge]

    async def remote(self, order: WorkOrder) -> Remote:
        return await self.forge(order).remote(self.of(order))

    def mirror(self, order: WorkOrder) -> Mirror:
        """The mirror as it is on this machine, or where it would be."""
        return self.mirrors.at(self.of(order))

    async def refresh(self, order: WorkOrder) -> FreshMirror:
        """The mirror, brought up to date with the remote."""
        return await self.mirrors.refresh(self.of(order), await self.remote(order))

    async def fetch_contents(self, order: WorkOrder, mirror: Mirror) -> list[Missing]:
        """Bring what the base commit refers to, submodules and files in LFS, onto this machine; returns what
        cannot be had."""
        assert order.base_commit_sha is not None
        base, repository = order.base_commit_sha, self.of(order)
        max_files, max_bytes = self.settings.repository_max_files, self.settings.repository_max_bytes
        submodules = Submodules(
            mirrors=self.mirrors,
            remote_of=lambda one: self.forges[one.forge].remote(one),
            github_url=self.settings.github_url,
            max_files=max_files,
            max_bytes=max_bytes,
        )
        missing = await submodules.fetch(mirror, repository, base)
        if (await mirror.check_checkout(base, max_files=max_files, max_bytes=max_bytes)).uses_lfs:
            missing += await fetch_lfs(
                LfsStore(mirror.path),
                await self.remote(order),
                base,
                max_bytes=self.settings.lfs_max_bytes,
                hosts=self.settings.lfs_hosts,
            )
        return missing

    async def author(self, order: WorkOrder) -> Person:
        """Who the order's commits are made for."""
        if self.settings.git_author_name and self.settings.git_author_email:
            return Person(self.settings.git_author_name, self.settings.git_author_email)
        forge = self.forge(order)
        if forge.name not in self._authors:
            self._authors[forge.name] = await forge.author() or await host_author() or JOURNEYMAN
        return self._authors[forge.name]
