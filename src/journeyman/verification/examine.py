"""What evidence shows to somebody who has it, a public key and perhaps a clone, but no server.

Each finding is about one thing: the signature, the commit, the base, the commit that was asked about, the
outcome. Evidence is valid when none of them is wrong; what could not be looked at is said, not assumed.
"""

import posixpath
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from journeyman.access.signing import PublicKey
from journeyman.errors import InvalidEvidence
from journeyman.git.mirror import Mirror
from journeyman.git.refs import checked_commit
from journeyman.git.run import git, run_git
from journeyman.verification.envelope import MAX_BYTES, open_envelope, read_envelope
from journeyman.verification.records import EVIDENCE_FILE
from journeyman.verification.statement import GitDigest, Statement, read_statement
from journeyman.work_orders.lifecycle import is_own_record

_RECORDS = ".journeyman"
_MOST_COMMITS = 20

FindingState = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class EvidenceFinding:
    about: Literal["signature", "commit", "base", "head", "outcome"]
    state: FindingState
    """`open`: it could not be looked at, or decides nothing."""
    detail: str


@dataclass(frozen=True)
class Examined:
    statement: Statement | None
    """None where the signature is not good: nothing that it says can be relied on."""
    findings: list[EvidenceFinding] = field(default_factory=list)

    @property
    def is_valid(self) -> bool:
        return all(one.state != "bad" for one in self.findings)


async def examine_evidence(
    content: bytes,
    keys: Mapping[str, PublicKey],
    *,
    repository: Mirror | None = None,
    commit: str | None = None,
    must_have_passed: bool = False,
) -> Examined:
    """`commit` is the one that the evidence has to be about; its repository is needed to see that."""
    try:
        opened = open_envelope(read_envelope(content), keys)
        statement = read_statement(opened.payload)
    except InvalidEvidence as error:
        return Examined(None, [EvidenceFinding("signature", "bad", error.message)])
    signed = f"the key {opened.key.key_id[:16]}… signed what it says, byte for byte"
    findings = [EvidenceFinding("signature", "good", signed)]
    if repository is None:
        findings.append(EvidenceFinding("commit", "open", "not looked for: no repository was given"))
    else:
        findings.append(await _commit_finding(repository, statement.head))
        findings.append(await _base_finding(repository, statement.facts.base))
        if commit is not None and findings[1].state == "good":
            findings.append(await _head_finding(repository, statement, commit))
    return Examined(statement, [*findings, _outcome_finding(statement, must_have_passed)])


async def evidence_in(repository: Mirror, commit: str) -> AsyncIterator[bytes]:
    """The envelopes that a commit, or one before it, carries among the records; the newest first."""
    log = ("log", "--format=%H", f"--max-count={_MOST_COMMITS}", checked_commit(commit), "--", _RECORDS)
    for sha in (await git(*log, git_dir=repository.path)).decode().split():
        listing = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", sha, "--", f"{_RECORDS}/")
        for name in (await git(*listing, git_dir=repository.path)).split(b"\0"):
            path = name.decode(errors="surrogateescape")
            if posixpath.basename(path) != EVIDENCE_FILE:
                continue
            if (content := await repository.file_at(sha, path, limit=MAX_BYTES + 1)) is not None:
                yield content


async def resolve_commit(repository: Mirror, revision: str) -> str | None:
    """The full name of a commit; None where a repository has none by this name."""
    answer = await run_git(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}",
        git_dir=repository.path,
    )  # fmt: skip
    return answer.output.decode().strip() or None


async def _commit_finding(repository: Mirror, head: GitDigest) -> EvidenceFinding:
    tree = await _tree_of(repository, head.gitCommit)
    if tree is None:
        return EvidenceFinding("commit", "bad", f"the repository has no commit {head.gitCommit}")
    if tree != head.gitTree:
        return EvidenceFinding("commit", "bad", f"the files of {head.gitCommit} are others: tree {tree}")
    return EvidenceFinding("commit", "good", f"{head.gitCommit} is in the repository, with the same files")


async def _base_finding(repository: Mirror, base: GitDigest) -> EvidenceFinding:
    tree = await _tree_of(repository, base.gitCommit)
    if tree is None:
        return EvidenceFinding("base", "open", f"the repository does not have the base {base.gitCommit}")
    if tree != base.gitTree:
        return EvidenceFinding("base", "bad", f"the files of the base {base.gitCommit} are others")
    return EvidenceFinding("base", "good", f"the change began at {base.gitCommit}")


async def _head_finding(repository: Mirror, statement: Statement, commit: str) -> EvidenceFinding:
    """Whether the evidence is about a commit: that was checked, or differs from it in records alone."""
    checked = statement.head.gitCommit
    changed = await repository.changed_paths(checked, commit)
    others = [path for path in changed if not is_own_record(statement.facts.agent_work_order_id, path)]
    if others:
        detail = f"it is about {checked}; {commit} has other files, such as {others[0]}"
        return EvidenceFinding("head", "bad", detail)
    since = "" if commit == checked else ", from which it differs in the order's own records alone"
    return EvidenceFinding("head", "good", f"it is about {checked}{since}")


def _outcome_finding(statement: Statement, must_have_passed: bool) -> EvidenceFinding:
    facts = statement.facts
    words = {"passed": "the checks passed", "failed": "the checks failed", "none": "nothing was shown"}
    state: FindingState = "good" if facts.outcome == "passed" else "bad" if must_have_passed else "open"
    return EvidenceFinding("outcome", state, f"{words[facts.outcome]}: {facts.summary}")


async def _tree_of(repository: Mirror, commit: str) -> str | None:
    answer = await run_git(
        "rev-parse", "--verify", "--quiet", f"{checked_commit(commit)}^{{tree}}", git_dir=repository.path
    )
    return answer.output.decode().strip() or None
