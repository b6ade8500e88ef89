"""What cannot run in a sandbox is taken out of a command, and nothing else."""

import pytest

from journeyman.environments.adopted.shell import without_root


@pytest.mark.parametrize(
    ("command", "left", "taken"),
    [
        ("npm ci", "npm ci", 0),
        ("sudo apt-get install -y x", "", 1),
        ("apt-get update && apt-get install -y x && npm ci && make", "npm ci && make", 2),
        ("npm ci && sudo chown -R me .", "npm ci", 1),
        ("make; sudo x; make b", "make;make b", 1),
        ("make\nsudo x\nmake b", "make\nmake b", 1),
        ("sudo apt-get install \\\n  a \\\n  b\nmake", "make", 1),
        ("curl x | sudo bash - && make", "make", 1),
        ("DEBIAN_FRONTEND=noninteractive apt-get install x && make", "make", 1),
        ("/usr/bin/sudo x && make", "make", 1),
        ("docker compose up -d && make", "make", 1),
        ("make && (cd a; sudo x) && make b", "make && make b", 1),
        ("echo 'a && sudo b' && sudo c", "echo 'a && sudo b'", 1),
        ('echo "sudo; x"', 'echo "sudo; x"', 0),
        ("echo sudo", "echo sudo", 0),
        ("./sudo x", "./sudo x", 0),
        ("# sudo x\nmake", "# sudo x\nmake", 0),
        ("make # no; x\nsudo y", "make", 1),
    ],
)
def test_what_needs_root_is_taken_out(command: str, left: str, taken: int) -> None:
    usable, notes = without_root(command)
    assert (usable, len(notes)) == (left, taken)


@pytest.mark.parametrize(
    "command",
    [
        "if true; then sudo x; fi",
        "for a in b; do sudo $a; done",
        "cat <<E\n; sudo x\nE",
        "sudo x 'not ended",
        "sudo (x",
        "f() { sudo x; }; sudo y",
    ],
)
def test_a_script_with_branches_is_kept_whole_with_a_warning(command: str) -> None:
    usable, [note] = without_root(command)
    assert usable == command
    assert "will fail" in note
