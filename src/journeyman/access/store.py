"""The responses to requests that carried a key, so that the same request sent again has no second effect, and
the public keys that check evidence."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, delete, func, select, update

from journeyman.access.signing import PublicKey
from journeyman.access.tables import answered_requests as table
from journeyman.access.tables import signing_keys
from journeyman.database import Database, upserting


@dataclass(frozen=True)
class StoredResponse:
    status: int
    content_type: str
    body: str


@dataclass(frozen=True)
class Earlier:
    """A request that came before with the same key."""

    request_digest: str
    response: StoredResponse | None
    """None while it is being carried out, and for ever when that was cut off."""
    reserved_id: str | None = None
    """Without a response: the id of what the request creates, if it got as far as that."""


class AnsweredRequests:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, key: str, request_digest: str, reserved_id: str) -> Earlier | None:
        """Take a key for a request; None when it was free, else the request that has it."""
        new = {
            "idempotency_key": key,
            "request_digest": request_digest,
            "body": reserved_id,
            "created_at": datetime.now(UTC),
        }
        async with self._database.writing() as connection:
            taken = await connection.execute(
                upserting(self._database.dialect)(table)
                .values(new)
                .on_conflict_do_nothing(index_elements=["idempotency_key"])
                .returning(table.c.idempotency_key)
            )
            if taken.scalar() is not None:
                return None
            [row] = await connection.execute(select(table).where(_is(key)))
        if row["status"] is None:
            return Earlier(row["request_digest"], None, reserved_id=row["body"])
        return Earlier(row["request_digest"], StoredResponse(row["status"], row["content_type"], row["body"]))

    async def finish(self, key: str, response: StoredResponse) -> None:
        values = {"status": response.status, "content_type": response.content_type, "body": response.body}
        async with self._database.writing() as connection:
            await connection.execute(update(table).where(_is(key)).values(values))

    async def release(self, key: str) -> None:
        """Let the key be used again: the request was refused and changed nothing."""
        async with self._database.writing() as connection:
            await connection.execute(delete(table).where(_is(key)))

    async def count_before(self, moment: datetime) -> int:
        async with self._database.reading() as connection:
            query = select(func.count()).select_from(table).where(table.c.created_at < moment)
            return int((await connection.execute(query)).scalar())

    async def forget_before(self, moment: datetime) -> None:
        async with self._database.writing() as connection:
            await connection.execute(delete(table).where(table.c.created_at < moment))


def _is(key: str) -> ColumnElement[bool]:
    return table.c.idempotency_key == key


@dataclass(frozen=True)
class RegisteredKey:
    key: PublicKey
    created_at: datetime


class SigningKeys:
    """Public keys stay for good: what was signed once can be verified for ever."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, key: PublicKey) -> None:
        """Safe to repeat because a key that is there stays as it is."""
        new = {"key_id": key.key_id, "public_key": key.raw, "created_at": datetime.now(UTC)}
        async with self._database.writing() as connection:
            insert = upserting(self._database.dialect)(signing_keys)
            await connection.execute(insert.values(new).on_conflict_do_nothing(index_elements=["key_id"]))

    async def all(self) -> list[RegisteredKey]:
        """Oldest first."""
        query = select(signing_keys).order_by(signing_keys.c.created_at, signing_keys.c.key_id)
        async with self._database.reading() as connection:
            rows = await connection.execute(query)
        return [RegisteredKey(PublicKey(bytes(row["public_key"])), row["created_at"]) for row in rows]
