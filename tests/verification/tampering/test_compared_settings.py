"""Settings, scripts, pipelines, snapshots and planted files: what demands less, and what only differs."""

import pytest

from tests.verification.tampering.comparing import Edit, findings, holds, settings_edits

_SNAPSHOT = "exports[`a 1`] = `<a/>`;\n\nexports[`b 1`] = `<b/>`;\n"


@pytest.mark.parametrize("edit", settings_edits(), ids=lambda edit: edit.name)
def test_a_file_that_judges_is_asked_about_when_it_demands_less_and_only_then(edit: Edit) -> None:
    assert holds(edit)


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("__snapshots__/a.test.js.snap", _SNAPSHOT, _SNAPSHOT.replace("<b/>", "<c/>")),
        ("__snapshots__/a.test.js.snap", _SNAPSHOT, _SNAPSHOT.partition("\n\n")[0]),
        ("__snapshots__/test_a.ambr", "# name: test_a\n  1\n# ---\n", "# name: test_a\n  2\n# ---\n"),
        ("src/snapshots/a.snap", "---\nsource: a.rs\n---\none\n", "---\nsource: a.rs\n---\ntwo\n"),
        ("testdata/a.golden", "one\n", "two\n"),
        ("a.snap", "one\n", None),
    ],
)
def test_a_recorded_result_that_changes_is_shown(path: str, base: str, head: str | None) -> None:
    assert {one.kind for one in findings(path, base, head)} == {"snapshot_rewritten"}


def test_a_new_snapshot_is_not_shown() -> None:
    assert findings("__snapshots__/a.test.js.snap", None, _SNAPSHOT) == ()


def test_a_lock_that_changes_is_shown() -> None:
    (found,) = findings("Cargo.lock", "a = 1\n", "a = 2\n")
    assert (found.kind, found.severity) == ("trust_root_changed", "notice")


def test_a_changed_setting_is_shown_with_its_line() -> None:
    base = "[project]\nname = 'a'\n\n[tool.coverage.report]\nfail_under = 90\n"
    (found,) = findings("pyproject.toml", base, base.replace("90", "80"))
    assert found.lines == (5, 5)


def test_the_settings_of_two_tools_are_not_mixed_up() -> None:
    base = "[tool.a]\nfail_under = 90\n\n[tool.b]\nfail_under = 70\n"
    head = "[tool.a]\nfail_under = 90\n\n[tool.b]\nfail_under = 60\n"
    (found,) = findings("pyproject.toml", base, head)
    assert found.lines == (5, 5)
    assert "tool.b.fail_under" in found.detail
