"""The local forge's pull requests in the database.

A branch has one pull request for ever: a unique key enforces it, concurrent calls included.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select, update

from journeyman.database import Database, upserting
from journeyman.errors import NotFound
from journeyman.forges.base import PullRequest
from journeyman.forges.tables import local_pull_requests as table


class LocalPullRequests:
    def __init__(self, database: Database, server_url: str) -> None:
        self._database = database
        self._pages = f"{server_url.rstrip('/')}/local-forge/pull-requests"

    async def open(
        self, repository_url: str, *, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        """The branch's pull request: the existing one, else a new draft."""
        now = datetime.now(UTC)
        insert = upserting(self._database.dialect)
        of_branch = (table.c.repository_url == repository_url, table.c.branch == branch)
        async with self._database.writing() as connection:
            row = (await connection.execute(select(table).where(*of_branch))).first()
            if row is not None:
                return self._pull_request(row)
            made = await connection.execute(
                insert(table)
                .values(
                    repository_url=repository_url,
                    branch=branch,
                    base=base,
                    title=title,
                    body=body,
                    draft=True,
                    state="open",
                    created_at=now,
                    updated_at=now,
                )
                .on_conflict_do_nothing(index_elements=["repository_url", "branch"])
                .returning(table.c.number)
            )
            was_created = made.scalar() is not None
            row = (await connection.execute(select(table).where(*of_branch)))[0]
        return replace(self._pull_request(row), was_created=was_created)

    async def get(self, number: int) -> PullRequest:
        async with self._database.reading() as connection:
            row = (await connection.execute(select(table).where(table.c.number == number))).first()
        if row is None:
            raise _missing(number)
        return self._pull_request(row)

    async def change(
        self, repository_url: str, number: int, changed: Callable[[PullRequest], PullRequest]
    ) -> PullRequest:
        """Store what `changed` makes of the pull request, with no other write in between."""
        wanted = (table.c.repository_url == repository_url, table.c.number == number)
        async with self._database.writing() as connection:
            row = (await connection.execute(select(table).where(*wanted).with_for_update())).first()
            if row is None:
                raise _missing(number)
            after = changed(self._pull_request(row))
            if after != self._pull_request(row):
                await connection.execute(
                    update(table)
                    .where(*wanted)
                    .values(
                        title=after.title,
                        body=after.body,
                        draft=after.draft,
                        state=after.state,
                        updated_at=datetime.now(UTC),
                    )
                )
        return after

    async def page(
        self, *, repository_url: str | None, limit: int, offset: int
    ) -> tuple[list[PullRequest], int]:
        """Newest first, and how many there are in all."""
        wanted: list[ColumnElement[bool]] = []
        if repository_url is not None:
            wanted.append(table.c.repository_url == repository_url)
        async with self._database.reading() as connection:
            count = select(func.count()).select_from(table).where(*wanted)
            total = (await connection.execute(count)).scalar()
            query = select(table).where(*wanted).order_by(table.c.number.desc()).limit(limit).offset(offset)
            rows = await connection.execute(query)
        return [self._pull_request(row) for row in rows], total

    def _pull_request(self, row: Any) -> PullRequest:
        return PullRequest(
            number=row["number"],
            url=f"{self._pages}/{row['number']}",
            title=row["title"],
            body=row["body"],
            draft=row["draft"],
            state=row["state"],
            branch=row["branch"],
            base=row["base"],
            repository_url=row["repository_url"],
        )


def _missing(number: int) -> NotFound:
    return NotFound(
        f"there is no local pull request {number}",
        hint="GET /api/local-forge/pull-requests lists those that exist.",
    )
