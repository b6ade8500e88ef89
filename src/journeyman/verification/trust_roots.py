"""Files that decide what a check means: settings of runners and linters, scripts, locks, CI.

A change that edits one of them could make any check green, so the proving run shows the base's. Where that
makes tests fail which pass with the change's own file, a person decides; see decision 22.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from journeyman.verification.manifests import MANIFESTS, with_judging_parts_of
from journeyman.verification.tampering.conftest_parts import acts_on_all_tests

_NAMES = re.compile(
    r"""
    (?: conftest\.py | (?:site|user)customize\.py | .*\.pth
    | \.?pytest\.(?:ini|toml) | tox\.(?:ini|toml) | setup\.cfg | pyproject\.toml | noxfile\.py
    | \.coveragerc | \.flake8 | \.?mypy\.ini | \.?pylintrc | \.?ruff\.toml | pyrightconfig\.json
    | \.isort\.cfg | \.pre-commit-config\.ya?ml | \.bandit
    | package\.json | \.npmrc | \.yarnrc(?:\.yml)? | \.pnpmfile\.c?js | pnpm-workspace\.yaml | deno\.jsonc?
    | (?:jest|vitest|vite|ava|karma|cypress|playwright|wdio|eslint|prettier|stylelint|nyc|babel)
      (?:\.[\w-]+)*\.(?:config|conf|workspace)\.(?:[cm]?[jt]s|json)
    | (?:tsconfig|jsconfig)(?:[.-][\w.-]+)?\.json | \.mocharc(?:\..+)? | \.(?:nyc|c8|tap|swc)rc(?:\..+)?
    | \.(?:eslint|prettier|stylelint|babel)(?:rc(?:\..+)?|ignore) | biome\.jsonc? | nx\.json | turbo\.json
    | Cargo\.toml | clippy\.toml | \.clippy\.toml | \.?rustfmt\.toml | rust-toolchain(?:\.toml)?
    | \.golangci\.(?:ya?ml|toml|json) | staticcheck\.conf | go\.work
    | pom\.xml | build\.gradle(?:\.kts)? | settings\.gradle(?:\.kts)? | gradle\.properties
    | \.rspec | \.rubocop(?:_todo)?\.yml | \.simplecov | Rakefile
    | phpunit\.xml(?:\.dist)? | phpstan\.neon(?:\.dist)? | .*\.runsettings
    | Directory\.Build\.(?:props|targets) | CTestCustom\.cmake
    | (?:GNU)?[Mm]akefile | .*\.mk | [Jj]ustfile | Taskfile\.ya?ml
    | \.gitattributes | \.gitmodules | \.envrc | codecov\.ya?ml | \.codecov\.ya?ml
    | \.gitlab-ci\.ya?ml | azure-pipelines\.ya?ml | bitbucket-pipelines\.yml | \.travis\.yml | Jenkinsfile
    | appveyor\.yml | \.appveyor\.yml | \.cirrus\.(?:yml|star) | \.drone\.yml
    )
    """,
    re.VERBOSE,
)
_PATHS = re.compile(
    r"(?:^|.*/)(?:\.cargo/config(?:\.toml)?|\.config/nextest\.toml|\.mvn/.+|\.husky/.+|\.githooks/.+|\.yarn/.+)"
    r"|\.github/(?:workflows|actions)/.+|\.circleci/.+|\.buildkite/.+|\.woodpecker/.+|\.gitea/workflows/.+"
    r"|\.journeyman/environment\.ya?ml"
)
_LOCKS = {
    "uv.lock": ("pyproject.toml",),
    "poetry.lock": ("pyproject.toml",),
    "pdm.lock": ("pyproject.toml",),
    "pylock.toml": ("pyproject.toml",),
    "Pipfile.lock": ("Pipfile",),
    "package-lock.json": ("package.json",),
    "npm-shrinkwrap.json": ("package.json",),
    "yarn.lock": ("package.json",),
    "pnpm-lock.yaml": ("package.json",),
    "bun.lock": ("package.json",),
    "bun.lockb": ("package.json",),
    "deno.lock": ("deno.json", "deno.jsonc"),
    "Cargo.lock": ("Cargo.toml",),
    "go.sum": ("go.mod",),
    "Gemfile.lock": ("Gemfile",),
    "composer.lock": ("composer.json",),
    "requirements.lock": ("pyproject.toml", "requirements.in"),
    "gradle.lockfile": ("build.gradle", "build.gradle.kts"),
    "packages.lock.json": (),
}
"""Each lock with the manifests that it is made from."""
_BY_NAME = re.compile(
    r"(?:GNU)?[Mm]akefile|.*\.mk|[Jj]ustfile|Taskfile\.ya?ml|noxfile\.py|Rakefile|nx\.json|turbo\.json"
)
"""Read only when a command names them, and the commands are the base's: a new one judges nothing."""


def is_trust_root(path: str) -> bool:
    name = posixpath.basename(path)
    return name in _LOCKS or bool(_NAMES.fullmatch(name) or _PATHS.fullmatch(path))


def is_lock(path: str) -> bool:
    return posixpath.basename(path) in _LOCKS


def restored(path: str, base: bytes | None, head: bytes | None) -> bytes | None:
    """What the proving run shows at a path; None: no file. `head` itself where nothing in it judges."""
    if not is_trust_root(path) or base == head:
        return head
    name = posixpath.basename(path)
    if name == "conftest.py" and head is not None and not acts_on_all_tests(base, head):
        return head
    if name in MANIFESTS and head is not None:
        return with_judging_parts_of(name, base, head)
    if base is None and _BY_NAME.fullmatch(name):
        return head
    return base


def restored_files(changed: Mapping[str, tuple[bytes | None, bytes | None]]) -> dict[str, bytes | None]:
    """What the proving run shows otherwise than the head has it, of all paths that differ (base, head).

    A lock goes with its manifest: where the change edits what is depended on, the head's lock is shown, or
    nothing could be installed or resolved.
    """
    shown = {}
    for path, (base, head) in changed.items():
        if _is_lock_of_changed_manifest(path, changed):
            continue
        proving = restored(path, base, head)
        if proving != head:
            shown[path] = proving
    return shown


def _is_lock_of_changed_manifest(path: str, changed: Mapping[str, tuple[bytes | None, bytes | None]]) -> bool:
    """Whether a manifest of the lock's directory, or of one below it, is changed too."""
    directory, name = posixpath.split(path)
    below = f"{directory}/" if directory else ""
    manifests = _LOCKS.get(name, ())
    return any(
        other.startswith(below)
        and posixpath.basename(other) in manifests
        and restored(other, *pair) != pair[0]
        for other, pair in changed.items()
    )


@dataclass(frozen=True, kw_only=True)
class TrustRootVerdict:
    outcome: Literal["passed", "failed", "needs_approval"]
    failed: tuple[str, ...] = ()
    """Fail in the head as it is: the change's own failures, which the agent may be given."""
    unproven: tuple[str, ...] = ()
    """Pass in the head as it is, and not with the base's trust roots: for a person, never for the agent."""
    reason: str = ""


def settle(
    head: Mapping[str, bool],
    proving: Mapping[str, bool] | None,
    *,
    changed: Sequence[str] = (),
    has_checks_on_base: bool = True,
) -> TrustRootVerdict:
    """The verdict of two runs of the same commit: as it is (`head`), and with the base's trust roots.

    Each maps a test, or a check without single results, to whether it is no new failure. `proving` is None
    where the change leaves the trust roots alone, so that one run is both. A test that the proving run does
    not have counts as not passed there. A project without checks on its base has no judge to protect.
    """
    failed = tuple(sorted(one for one, is_fine in head.items() if not is_fine))
    if failed:
        return TrustRootVerdict(outcome="failed", failed=failed, reason="fails in the head as it is")
    if proving is None or not has_checks_on_base:
        return TrustRootVerdict(outcome="passed")
    hidden = {one for one, is_fine in proving.items() if not is_fine}
    unproven = tuple(sorted(hidden | {one for one in head if not proving.get(one, False)}))
    if not unproven:
        return TrustRootVerdict(outcome="passed")
    return TrustRootVerdict(
        outcome="needs_approval",
        unproven=unproven,
        reason=f"passes only with the change's own {', '.join(sorted(changed))}",
    )
