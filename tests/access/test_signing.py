"""The key that signs evidence: one for a home, for its owner only, shown nowhere."""

import base64
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import SecretStr

from journeyman.access.signing import evidence_key, parse_private_key, parse_public_key, stored_key
from journeyman.access.store import SigningKeys
from journeyman.database import Database
from journeyman.errors import Conflict, InvalidEvidence, InvalidSetting
from journeyman.files.home import EVIDENCE_KEY
from journeyman.settings import Settings
from tests.verification.evidences import KEY, OTHER_KEY

_SEED = base64.b64encode(b"k" * 32).decode()
_MAKES = "import sys, pathlib; from journeyman.access.signing import stored_key as key; "
_PRINTS = "sys.stdin.readline(); print(key(pathlib.Path(sys.argv[1])))"


def test_ten_processes_that_start_together_have_one_key(home: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _MAKES + _PRINTS, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(10)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    keys = {process.communicate()[0] for process in processes}
    assert keys == {stored_key(home) + "\n"}
    assert [path.name for path in home.iterdir()] == [EVIDENCE_KEY]


def test_the_key_is_for_its_owner_only_and_stays(home: Path) -> None:
    first = stored_key(home)
    assert stat.S_IMODE((home / EVIDENCE_KEY).stat().st_mode) == 0o600
    assert stored_key(home) == first
    assert "\n" not in first


def test_a_damaged_key_is_not_replaced(home: Path) -> None:
    (home / EVIDENCE_KEY).write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    with pytest.raises(Conflict, match="damaged"):
        stored_key(home)


def test_a_key_that_is_given_goes_before_that_of_the_home(settings: Settings) -> None:
    own = evidence_key(settings).public
    given = evidence_key(settings.model_copy(update={"evidence_key": SecretStr(_SEED)})).public
    assert given == KEY.public != own


def test_every_way_of_writing_the_key_is_the_same_key(home: Path) -> None:
    pem = (home / EVIDENCE_KEY, stored_key(home))[0].read_text()
    written = [pem, pem.strip(), stored_key(home), pem.replace("\n", "\r\n")]
    assert len({parse_private_key(one).public for one in written}) == 1
    assert parse_private_key(_SEED).public == KEY.public


@pytest.mark.parametrize("text", ["", "x", "AAAA", _SEED[:-4], "-----BEGIN RSA PRIVATE KEY-----", "ÿ"])
def test_what_is_no_key_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        parse_private_key(text)
    assert len(text) < 2 or text not in f"{refused.value.message} {refused.value.hint}"
    with pytest.raises(InvalidEvidence):
        parse_public_key(text)


def test_a_key_shows_nothing_of_itself(settings: Settings) -> None:
    given = settings.model_copy(update={"evidence_key": SecretStr(_SEED)})
    assert _SEED not in repr(given) + repr(KEY) + str(KEY)
    assert _SEED in given.secrets()


def test_a_public_key_is_read_as_it_is_served_and_as_openssl_writes_it() -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    private = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    pem = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert parse_public_key(pem) == parse_public_key(KEY.public.text + "\n") == KEY.public


async def test_the_public_keys_of_all_workers_are_kept_once(database: Database) -> None:
    keys = SigningKeys(database)
    assert await keys.all() == []
    for key in (KEY, OTHER_KEY, KEY):
        await keys.register(key.public)
    found = await keys.all()
    assert {one.key for one in found} == {KEY.public, OTHER_KEY.public}
    assert [one.created_at for one in found] == sorted(one.created_at for one in found)
