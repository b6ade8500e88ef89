"""`jm evidence verify` on a machine that has a file, a public key and perhaps a clone, and nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeyman.access.signing import stored_key
from journeyman.cli.evidence_checks import KeySource, Wanted, replay, verify
from journeyman.errors import InvalidEvidence, InvalidInput, InvalidRepository, NotFound
from journeyman.settings import Settings, load_settings
from journeyman.verification.records import EVIDENCE_FILE
from tests.api.parts import git
from tests.cli.jm import Terminal
from tests.verification.evidences import KEY, OTHER_KEY, an_evidence, resealed, sealed

RECORDS = ".journeyman/wo-1a2b3c4d"


class Clone:
    """A repository whose branch carries a change and the evidence for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        git(path, "init", "-q", "-b", "main")
        self.base = self.commit("pager.py", "PAGE = 10\n")
        self.checked = self.commit("pager.py", "PAGE = 11\n")

    def commit(self, name: str, content: str) -> str:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(content)
        git(self.path, "add", "-A")
        git(self.path, "commit", "-q", "-m", "Change")
        return git(self.path, "rev-parse", "HEAD").strip()

    def tree(self, commit: str) -> str:
        return git(self.path, "rev-parse", f"{commit}^{{tree}}").strip()

    def envelope(self, **fields: Any) -> dict[str, Any]:
        known = {
            "commit_sha": self.checked,
            "tree_sha": self.tree(self.checked),
            "base_commit_sha": self.base,
            "base_tree_sha": self.tree(self.base),
        }
        return sealed(an_evidence(**{**known, **fields}))


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone")


@pytest.fixture
def source(tmp_path: Path, settings: Settings) -> KeySource:
    (tmp_path / "key.pub").write_text(KEY.public.text)
    return KeySource(settings, str(tmp_path / "key.pub"), None)


def examined(
    source: KeySource, capsys: pytest.CaptureFixture[str], **wanted: Any
) -> tuple[int, dict[str, str]]:
    """The exit code, and what was found about each thing."""
    code = verify(source, Wanted(**wanted), as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["valid"] is (code == 0)
    return code, {one["about"]: one["state"] for one in document["findings"]}


def written(directory: Path, envelope: Any) -> str:
    path = directory / "evidence.json"
    path.write_bytes(envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode())
    return str(path)


def test_evidence_is_checked_as_far_as_there_is_something_to_check_it_with(
    clone: Clone, source: KeySource, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = written(tmp_path, clone.envelope())
    alone = examined(source, capsys, target=target)
    assert alone == (0, {"signature": "good", "commit": "open", "outcome": "good"})
    beside = examined(source, capsys, target=target, repository=str(clone.path))
    assert beside == (0, {"signature": "good", "commit": "good", "base": "good", "outcome": "good"})
    asked = examined(source, capsys, target=target, repository=str(clone.path), commit="HEAD")
    assert asked[0] == 0
    assert asked[1]["head"] == "good"


Forge = Callable[[Clone], Any]
FORGED: dict[str, tuple[str, Forge]] = {
    "another tree": ("commit", lambda it: it.envelope(tree_sha="f" * 40)),
    "a commit that is not there": ("commit", lambda it: it.envelope(commit_sha="f" * 40)),
    "another tree of the base": ("base", lambda it: it.envelope(base_tree_sha="f" * 40)),
    "evidence of the base": (
        "head",
        lambda it: it.envelope(commit_sha=it.base, tree_sha=it.tree(it.base)),
    ),
    "checks that failed": ("outcome", lambda it: it.envelope(passed=False)),
    "checks that showed nothing": ("outcome", lambda it: it.envelope(passed=None)),
    "signed by a stranger": (
        "signature",
        lambda it: resealed(it.envelope(passed=False), lambda _: None, OTHER_KEY),
    ),
    "a verdict changed afterwards": (
        "signature",
        lambda it: {
            **it.envelope(passed=False),
            "payload": resealed(it.envelope(), lambda _: None, OTHER_KEY)["payload"],
        },
    ),
    "a second signature": (
        "signature",
        lambda it: {**it.envelope(), "signatures": it.envelope()["signatures"] * 2},
    ),
    "another payload type": ("signature", lambda it: {**it.envelope(), "payloadType": "text/plain"}),
    "a statement of another kind": (
        "signature",
        lambda it: resealed(it.envelope(), lambda one: one.update(predicateType="https://slsa.dev")),
    ),
    "no envelope": ("signature", lambda it: {"passed": True}),
    "no JSON": ("signature", lambda it: b"PASSED"),
    "a huge file": ("signature", lambda it: b"[" * 9_000_000),
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
def test_forged_evidence_is_refused(
    clone: Clone,
    source: KeySource,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    forged: tuple[str, Forge],
) -> None:
    wrong, forge = forged
    target = written(tmp_path, forge(clone))
    code, found = examined(
        source, capsys, target=target, repository=str(clone.path), commit="HEAD", must_have_passed=True
    )
    assert code == 1
    assert [about for about, state in found.items() if state == "bad"] == [wrong]


def test_a_commit_is_verified_by_what_its_own_branch_carries(
    clone: Clone, source: KeySource, capsys: pytest.CaptureFixture[str]
) -> None:
    clone.commit(f"{RECORDS}/{EVIDENCE_FILE}", json.dumps(clone.envelope()))
    code, found = examined(source, capsys, target="HEAD", repository=str(clone.path))
    assert (code, found["head"]) == (0, "good")
    git(clone.path, "rm", "-q", "-r", ".journeyman")
    git(clone.path, "commit", "-q", "-m", "Take the records out")
    assert examined(source, capsys, target="main", repository=str(clone.path))[0] == 0


def test_evidence_of_an_earlier_commit_does_not_cover_a_later_one(
    clone: Clone, source: KeySource, capsys: pytest.CaptureFixture[str]
) -> None:
    clone.commit(f"{RECORDS}/{EVIDENCE_FILE}", json.dumps(clone.envelope()))
    clone.commit("pager.py", "PAGE = 12\n")
    code, found = examined(source, capsys, target="HEAD", repository=str(clone.path))
    assert (code, found["signature"], found["head"]) == (1, "good", "bad")


def test_what_a_stranger_put_beside_the_evidence_does_not_hide_it(
    clone: Clone, source: KeySource, capsys: pytest.CaptureFixture[str]
) -> None:
    clone.commit(f"{RECORDS}/{EVIDENCE_FILE}", json.dumps(clone.envelope()))
    (clone.path / RECORDS / "a").mkdir()
    clone.commit(f"{RECORDS}/a/{EVIDENCE_FILE}", "[" * 100_000)
    assert examined(source, capsys, target="HEAD", repository=str(clone.path))[0] == 0
    git(clone.path, "checkout", "-q", "--orphan", "empty")
    git(clone.path, "rm", "-q", "-r", "-f", ".")
    clone.commit("README", "nothing\n")
    assert examined(source, capsys, target="HEAD", repository=str(clone.path)) == (1, {"commit": "bad"})


def test_the_configuration_of_a_hostile_repository_runs_nothing(
    clone: Clone, source: KeySource, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "ran"
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "gpg.program"):
        git(clone.path, "config", name, f"touch {mark}; false")
    git(clone.path, "config", "log.showSignature", "true")
    target = written(tmp_path, clone.envelope())
    code, _ = examined(source, capsys, target=target, repository=str(clone.path), commit="HEAD")
    assert (code, mark.exists()) == (0, False)


def test_what_cannot_be_looked_at_is_an_error_of_its_own(
    clone: Clone, source: KeySource, tmp_path: Path, settings: Settings
) -> None:
    target, here = written(tmp_path, clone.envelope()), str(clone.path)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidRepository):
        verify(source, Wanted(target, str(empty)), as_json=False)
    with pytest.raises(NotFound, match="no commit"):
        verify(source, Wanted("nowhere", here), as_json=False)
    with pytest.raises(NotFound, match="no commit"):
        verify(source, Wanted("--output=x", here), as_json=False)
    with pytest.raises(NotFound, match="no file"):
        verify(source, Wanted(str(tmp_path / "missing")), as_json=False)
    with pytest.raises(InvalidInput, match="--commit needs"):
        verify(source, Wanted(target, commit="HEAD"), as_json=False)
    for text in ("no key", "{}", '{"keys": 1}', '{"keys": [{"public_key": 1}]}'):
        Path(tmp_path / "key.pub").write_text(text)
        with pytest.raises((InvalidEvidence, InvalidInput)):
            verify(source, Wanted(target), as_json=False)


def test_keys_come_from_a_file_or_from_this_home(
    clone: Clone, source: KeySource, tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = written(tmp_path, clone.envelope())
    served = {"keys": [{"public_key": one.public.text, "key_id": "any"} for one in (OTHER_KEY, KEY)]}
    Path(tmp_path / "key.pub").write_text(json.dumps(served))
    assert examined(source, capsys, target=target)[0] == 0
    no_server = {"JOURNEYMAN_HOME": str(home), "JOURNEYMAN_URL": "http://127.0.0.1:9"}
    with pytest.raises(InvalidInput, match="no public key"):
        verify(KeySource(load_settings(no_server), None, None), Wanted(target), as_json=False)
    stored_key(home)
    own = KeySource(load_settings(no_server), None, None)
    assert examined(own, capsys, target=target) == (1, {"signature": "bad"})


def test_what_is_not_valid_is_not_replayed(clone: Clone, source: KeySource, tmp_path: Path) -> None:
    target = written(tmp_path, resealed(clone.envelope(), lambda _: None, OTHER_KEY))
    with pytest.raises(InvalidEvidence, match="not replayed"):
        replay(source, target, str(clone.path), as_json=False)


async def test_the_command_says_in_words_what_was_verified_and_exits_with_0_or_1(
    clone: Clone, source: KeySource, tmp_path: Path
) -> None:
    terminal = Terminal(tmp_path, "http://127.0.0.1:9")
    options = ("--repository", str(clone.path), "--key", str(source.file))
    good = await terminal.run("evidence", "verify", written(tmp_path, clone.envelope()), *options)
    assert (good.code, good.err) == (0, "")
    assert "the same files" in good.out
    assert "The evidence is valid." in good.out
    forged = written(tmp_path, clone.envelope(tree_sha="f" * 40, summary="\x1b]0;owned\x07fine"))
    bad = await terminal.run("evidence", "verify", forged, *options)
    assert bad.code == 1
    assert "NOT valid" in bad.out
    assert "\x1b" not in bad.out
