"""The part of a pull request that says what was shown, and what was not.

A screen at the most: lists of tests are cut, and everything beyond a line is folded. All text of a repository
goes through `cell`, so that no test id or output can leave its place or mention a person.

Safe to repeat because it only makes text.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeyman.forges.body import sanitize
from journeyman.verification.records import NOT_VERIFIED, outcome_of
from journeyman.work_orders.order import Evidence, WorkOrder

_VERDICTS = {
    "passed": "✅ The checks passed on commit `{sha}`.",
    "failed": "❌ The checks did **not** pass on commit `{sha}`. Do not merge without looking.",
    "none": "⚪ Not verified: {why}",
    "outdated": "⏳ The branch has changed since its checks ran on commit `{sha}`; they run again.",
    "reviewed": "🔎 Reviewed on commit `{sha}`; there were no checks to run.",
}
_MOST_NAMED = 10
_LONGEST_CELL = 300
_LISTS = {
    "new_failures": "New failures",
    "still_failing": "Still failing, and named in the task",
    "old_failures": "Failed before the change, too",
    "fixed": "Fixed by the change",
    "flaky": "Flaky: failed, then passed on the same files",
}


def verification_section(order: WorkOrder, evidence: Sequence[Evidence]) -> str:
    if not evidence:
        return "⏳ Not verified yet."
    last = evidence[-1]
    why = sanitize(last.summary.removeprefix(NOT_VERIFIED))
    parts = [
        _VERDICTS[order.verification].format(sha=last.commit_sha[:12], why=why),
        _table(last.checks),
        f"Attempt {last.attempt}." if last.attempt > 1 else "",
        _red_to_green(last.red_to_green),
        _tampering(last.tampering),
        *_folded_lists(last.checks),
    ]
    return "\n\n".join(part for part in parts if part)


def cell(text: str) -> str:
    """Text that stays in one cell of a table, or one line of a list, whatever it holds."""
    line = " ".join(sanitize(text).split())
    line = line if len(line) <= _LONGEST_CELL else f"{line[:_LONGEST_CELL]}…"
    return line.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'")


def _table(checks: Sequence[Mapping[str, Any]]) -> str:
    if not checks:
        return ""
    rows = [
        " | ".join(
            (
                f"| {cell(one['command'])}",
                cell((one.get("base") or {}).get("outcome", "–")),
                cell(outcome_of(one)),
                *(str(len(one.get(name) or ())) for name in ("new_failures", "fixed", "flaky")),
                f"{cell(one['summary'])} |",
            )
        )
        for one in checks
    ]
    head = "| check | before | after | new failures | fixed | flaky | |"
    return "\n".join([head, "| --- | --- | --- | ---: | ---: | ---: | --- |", *rows])


def _red_to_green(proofs: Sequence[Mapping[str, Any]] | None) -> str:
    if not proofs:
        return ""
    shown = [one for one in proofs if one["on_head"] == "passed" and one["on_base"] in ("failed", "not_run")]
    if not shown:
        return "⚠️ The tests of this change pass without it, too: they do not show it."
    tests = (
        "1 test fails without this change and passes with it"
        if len(shown) == 1
        else (f"{len(shown)} tests fail without this change and pass with it")
    )
    return f"🔴→🟢 {tests}:\n{_listed([one['test'] for one in shown])}"


def _tampering(findings: Sequence[Mapping[str, Any]] | None) -> str:
    if not findings:
        return ""
    lines = [f"{one['path']}{_at(one.get('lines'))}: {one['detail']}" for one in findings]
    return f"⚠️ The change touches what judges it:\n{_listed(lines, code=False)}"


def _at(lines: Sequence[int] | None) -> str:
    return f":{lines[0]}" if lines else ""


def _folded_lists(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for name, title in _LISTS.items():
        tests = [test for one in checks for test in one.get(name) or ()]
        if tests:
            yield f"<details><summary>{title} ({len(tests)})</summary>\n\n{_listed(tests)}\n\n</details>"


def _listed(texts: Sequence[str], *, code: bool = True) -> str:
    quote = "`" if code else ""
    lines = [f"- {quote}{cell(text)}{quote}" for text in texts[:_MOST_NAMED]]
    more = len(texts) - _MOST_NAMED
    return "\n".join([*lines, *([f"- and {more:,} more"] if more > 0 else [])])
