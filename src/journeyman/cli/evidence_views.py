"""Show an order's evidence, and the keys that sign it."""

import json
from pathlib import Path
from typing import Any

from journeyman.cli.client import Client, order_path
from journeyman.cli.terminal import console, note, print_json, seconds, short, single_line, styled
from journeyman.errors import NotFound
from journeyman.settings import Settings

_SIGNS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "timed_out": ("✗", "red")}
_INCONCLUSIVE = ("○", "yellow")
_LISTS = {"new_failures": "new failures", "old_failures": "failed before", "fixed": "fixed", "flaky": "flaky"}


def show_keys(settings: Settings, *, as_json: bool) -> None:
    answer = Client(settings).get("/api/evidence/keys")
    if as_json:
        print_json(answer)
        return
    if not answer["keys"]:
        note("No key yet: one is made when the first checks have run.")
    for key in answer["keys"]:
        console().print(
            styled((f"{key['algorithm']} ", "dim"), key["public_key"], (f"  {key['key_id']}", "dim"))
        )


def show_evidence(settings: Settings, order_id: str, *, output: str | None, as_json: bool) -> None:
    answer = Client(settings).get(order_path(order_id) + "/evidence")
    if output is not None:
        _write(answer["evidence"], Path(output))
    if as_json:
        print_json(answer)
    elif output is not None:
        note(f"Written to {output}; `jm evidence verify {output}` checks it.")
    elif not answer["evidence"]:
        note("Nothing was checked yet.")
    else:
        for record in answer["evidence"]:
            _print(record)


def _write(evidence: list[dict[str, Any]], path: Path) -> None:
    signed = [record["statement"] for record in evidence if record["statement"]]
    if not signed:
        raise NotFound("the order has no signed evidence", hint="It gets some when its checks have run.")
    path.write_text(json.dumps(signed[-1]) + "\n", encoding="utf-8")


def _print(record: dict[str, Any]) -> None:
    out = console()
    sign, style = _SIGNS.get(record["outcome"], _INCONCLUSIVE)
    signed = "signed" if record["statement"] else "not signed"
    where = f"round {record['round']}, {single_line(record['step'])}, attempt {record['attempt']}"
    out.print(
        styled(
            (f"{sign} {record['outcome']}", f"bold {style}"), f"  {record['commit_sha']}  {where}, {signed}"
        )
    )
    for check in record["checks"]:
        mark, colour = _SIGNS.get(check["outcome"], _INCONCLUSIVE)
        took = seconds(check["duration_seconds"])
        about = short(check["summary"] or check["command"], 100)
        out.print(
            styled((f"  {mark} ", colour), f"{single_line(check['name']):<20} {took:>7}  ", (about, "dim"))
        )
        for name, words in _LISTS.items():
            for test in check[name]:
                out.print(styled((f"      {words}: ", "dim"), short(test, 120)))
    for finding in record["tampering"]:
        text = f"{finding.get('kind', '')} {finding.get('path', '')}: {finding.get('detail', '')}"
        out.print(styled(("  ! ", "yellow"), short(text, 140)))
