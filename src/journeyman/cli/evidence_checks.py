"""Check signed evidence on any machine, and run its checks again.

File, key and repository may all come from a stranger: the file is read only so far, the repository is read
without its configuration, and nothing is run before the signature is known to be good.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from journeyman.access.signing import PublicKey, evidence_key, parse_public_key
from journeyman.cli.client import Client
from journeyman.cli.order_request import repository_address
from journeyman.cli.terminal import console, note, print_json, single_line, styled
from journeyman.errors import InvalidEvidence, InvalidInput, NotFound, Transient
from journeyman.files.home import EVIDENCE_KEY
from journeyman.forges.base import Remote
from journeyman.forges.local_directory import stand_in
from journeyman.git.locks import FileLock
from journeyman.git.mirror import Mirror
from journeyman.settings import Settings
from journeyman.verification.envelope import MAX_BYTES
from journeyman.verification.examine import (
    EvidenceFinding,
    Examined,
    evidence_in,
    examine_evidence,
    resolve_commit,
)
from journeyman.verification.replay import Replayed
from journeyman.verification.statement import Statement
from journeyman.work_orders.repositories import parse_repository

_SIGNS = {"good": ("✓", "green"), "bad": ("✗", "red"), "open": ("○", "yellow")}


@dataclass(frozen=True)
class KeySource:
    """Where the public keys come from that are trusted."""

    settings: Settings
    file: str | None
    server: str | None

    def keys(self) -> Mapping[str, PublicKey]:
        if self.file is not None:
            found = _keys_in(Path(self.file))
        elif self.server is not None:
            found = _keys_of(self.settings.model_copy(update={"url": self.server}))
        else:
            found = self._usual()
        return {key.key_id: key for key in found}

    def _usual(self) -> list[PublicKey]:
        """Those of the usual server; where none answers, the key of this home."""
        try:
            return _keys_of(self.settings)
        except Transient:
            if self.settings.evidence_key is None and not (self.settings.home / EVIDENCE_KEY).exists():
                raise InvalidInput(
                    "there is no public key to check the signature with",
                    hint="Give it with --key, or name the server that has it with --server.",
                ) from None
            return [evidence_key(self.settings).public]


@dataclass(frozen=True)
class Wanted:
    target: str
    """A file, or a commit of the repository."""
    repository: str | None = None
    commit: str | None = None
    must_have_passed: bool = False

    def content(self) -> bytes | None:
        """What the file holds; None where the target is no file."""
        path = Path(self.target)
        return _read(path) if path.exists() and not path.is_dir() else None

    def directory(self) -> Path | None:
        return None if self.repository is None else Path(repository_address(self.repository)).resolve()


def verify(source: KeySource, wanted: Wanted, *, as_json: bool) -> int:
    examined = asyncio.run(_examine(source.keys(), wanted, wanted.content(), wanted.directory()))
    if as_json:
        print_json(_document(examined))
    else:
        _print(examined)
    return 0 if examined.is_valid else 1


def replay(source: KeySource, file: str, repository: str, *, as_json: bool) -> int:
    content, directory = _read(Path(file)), Path(repository_address(repository)).resolve()
    examined = asyncio.run(_examine(source.keys(), Wanted(file), content, directory))
    if not examined.is_valid or examined.statement is None:
        _print(examined)
        raise InvalidEvidence(
            "evidence that is not valid is not replayed", hint="Its commands would be a stranger's."
        )
    if not as_json:
        note("Installing what the checks need, then running them; this can take as long as it did then.")
    replayed = asyncio.run(_replay(source.settings, examined.statement, directory))
    if as_json:
        print_json({"same": replayed.is_same, **asdict(replayed)})
    else:
        _print_replayed(examined.statement, replayed)
    return 0 if replayed.is_same else 1


async def _examine(
    keys: Mapping[str, PublicKey], wanted: Wanted, content: bytes | None, directory: Path | None
) -> Examined:
    if content is None and directory is None:
        raise NotFound(
            f"there is no file {wanted.target}", hint="For a commit, name its clone with --repository."
        )
    async with _opened(directory) as repository:
        revision = wanted.target if content is None else wanted.commit
        commit = await _commit_of(repository, revision) if revision else None
        if content is None:
            assert repository is not None
            assert commit is not None
            found = evidence_in(repository, commit)
        else:
            found = _given(content)
        return await _first_valid(found, keys, repository, commit, wanted.must_have_passed)


async def _first_valid(
    found: AsyncIterator[bytes],
    keys: Mapping[str, PublicKey],
    repository: Mirror | None,
    commit: str | None,
    must_have_passed: bool,
) -> Examined:
    """The first evidence that holds, else what is wrong with the newest."""
    refused: Examined | None = None
    async for content in found:
        examined = await examine_evidence(
            content, keys, repository=repository, commit=commit, must_have_passed=must_have_passed
        )
        if examined.is_valid:
            return examined
        refused = refused or examined
    nothing = EvidenceFinding("commit", "bad", f"the branch of {commit} carries no evidence")
    return refused or Examined(None, [nothing])


async def _given(content: bytes) -> AsyncIterator[bytes]:
    yield content


@asynccontextmanager
async def _opened(directory: Path | None) -> AsyncIterator[Mirror | None]:
    """A repository of this machine, to read from: its own configuration counts for nothing."""
    if directory is None:
        yield None
        return
    async with stand_in(directory) as shown:
        yield Mirror(shown.path, FileLock(shown.path / "lock"))


async def _commit_of(repository: Mirror | None, revision: str) -> str:
    if repository is None:
        raise InvalidInput("--commit needs the repository", hint="Name a clone with --repository.")
    commit = await resolve_commit(repository, revision)
    if commit is None:
        raise NotFound(f"the repository has no commit {revision!r}", hint="Fetch it first.")
    return commit


async def _replay(settings: Settings, statement: Statement, directory: Path) -> Replayed:
    from journeyman.app import replaying

    repository = parse_repository(str(directory), github_url=settings.github_url, allow_local=True)
    async with replaying(settings) as (replays, mirrors):
        mirror = await mirrors.refresh(repository, Remote(repository.url))
        return await replays.run(statement, mirror, _address(statement) or repository.url)


def _address(statement: Statement) -> str | None:
    """The repository's address, where the statement has one: an environment is named by it as well."""
    name = statement.subject[0].name
    return name.removeprefix("git+").partition("@")[0] if name.startswith("git+") else None


def _keys_in(path: Path) -> list[PublicKey]:
    text = _read(path).decode(errors="replace")
    if not text.lstrip().startswith("{"):
        return [parse_public_key(text)]
    try:
        return [parse_public_key(key["public_key"]) for key in json.loads(text)["keys"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput(f"{path} holds no public keys", hint="`jm evidence --json` writes them.") from None


def _keys_of(settings: Settings) -> list[PublicKey]:
    answer = Client(settings).get("/api/evidence/keys")
    return [parse_public_key(key["public_key"]) for key in answer["keys"]]


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _document(examined: Examined) -> dict[str, object]:
    statement = examined.statement
    return {
        "valid": examined.is_valid,
        "findings": [asdict(one) for one in examined.findings],
        "statement": statement.model_dump(mode="json", by_alias=True) if statement else None,
    }


def _print(examined: Examined) -> None:
    out = console()
    for one in examined.findings:
        sign, style = _SIGNS[one.state]
        out.print(styled((f"{sign} ", style), (f"{one.about:<10}", "bold"), single_line(one.detail)))
    if examined.is_valid:
        out.print(styled(("The evidence is valid.", "bold green")))
    else:
        out.print(styled(("The evidence is NOT valid.", "bold red")))


def _print_replayed(statement: Statement, replayed: Replayed) -> None:
    out = console()
    for one in replayed.checks:
        sign, style = _SIGNS["good" if one.is_same else "bad"]
        again = f"{one.again}, as before" if one.is_same else f"{one.again}; the evidence says {one.recorded}"
        out.print(styled((f"{sign} ", style), (f"{single_line(one.name):<20} ", "bold"), again))
    if replayed.layer != statement.facts.environment.layer:
        note("The environment is another one than then: another system, or other versions of its tools.")
    words = "The checks ended as the evidence says." if replayed.is_same else "The checks ended otherwise."
    out.print(styled((words, "bold green" if replayed.is_same else "bold red")))
