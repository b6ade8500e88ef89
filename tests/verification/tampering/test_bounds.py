"""Sources that are large, deep, broken or made to keep a parser busy."""

import subprocess
import sys

import pytest

from journeyman.verification.tampering.apart import find_tampering_apart
from journeyman.verification.tampering.report import ChangedFile, find_tampering


def _file(path: str, base: bytes | None, head: bytes | None) -> ChangedFile:
    return ChangedFile(path=path, base=base, head=head)


_SKIPPED = _file(
    "tests/test_a.py",
    b"def test_a():\n    assert f() == 1\n",
    b"@pytest.mark.skip\ndef test_a():\n    assert f() == 1\n",
)


async def test_findings_are_the_same_in_a_process_of_its_own() -> None:
    files = [_SKIPPED, _file("setup.cfg", b"[a]\n\xff", b"[b]\n")]
    assert await find_tampering_apart(files) == find_tampering(files)


async def test_a_source_that_keeps_the_parser_busy_is_left_out_and_said_so() -> None:
    hostile = _file("tests/test_b.py", b"", b"a?" * 400_000)
    found = await find_tampering_apart([hostile, _SKIPPED], seconds=3)
    assert [(one.kind, one.path) for one in found] == [
        ("not_compared", "tests/test_b.py"),
        ("test_skipped", "tests/test_a.py"),
    ]


async def test_many_hostile_sources_end_with_everything_said_to_be_not_compared() -> None:
    hostile = [_file(f"tests/test_{number}.py", b"", b"a?" * 400_000) for number in range(5)]
    found = await find_tampering_apart([_SKIPPED, *hostile], seconds=1)
    assert {one.kind for one in found} == {"not_compared"}
    assert len(found) == 6


@pytest.mark.parametrize(
    "head",
    [
        b"(" * 100_000,
        b"[" * 100_000,
        b"if a:\n" * 10_000,
        b"".join(b" " * depth + b"if a:\n" for depth in range(500)),
        b"\xff\xfe\x80" * 10_000,
        b"def test_" * 10_000,
        b"assert " + b"a and " * 20_000 + b"b\n",
        b"a" + b".b()" * 20_000,
    ],
    ids=range(8),
)
@pytest.mark.parametrize(
    "path", ["tests/test_a.py", "a.test.ts", "pyproject.toml", "package.json", ".gitlab-ci.yml"]
)
def test_a_broken_source_is_compared_as_far_as_it_goes(path: str, head: bytes) -> None:
    find_tampering([_file(path, b"def test_a():\n    assert f() == 1\n", head)])


def test_ten_thousand_tests_in_a_file_are_compared() -> None:
    base = b"".join(b"def test_%d():\n    assert f(%d) == %d\n" % (n, n, n) for n in range(10_000))
    head = base.replace(b"assert f(77) == 77", b"assert f(77)").replace(b"def test_9999(", b"def _9999(")
    found = find_tampering([_file("tests/test_a.py", base, head)])
    assert {one.kind for one in found} == {"assertion_weakened", "test_removed"}


def test_ten_thousand_renamed_tests_are_found_again_or_shown_in_bounds() -> None:
    base = b"".join(b"def test_%d():\n    assert f(%d) == %d\n" % (n, n, n) for n in range(10_000))
    found = find_tampering([_file("tests/test_a.py", base, base.replace(b"def test_", b"def test_new_"))])
    assert len(found) <= 21


@pytest.mark.parametrize(
    ("path", "content"),
    [("tests/test_a.py", b"a = 1\n" * 200_000), ("conftest.py", b"\0" * 100), ("tsconfig.json", b"\0\1\2")],
)
def test_a_file_that_is_too_large_or_no_text_is_said_to_be_not_compared(path: str, content: bytes) -> None:
    assert "not_compared" in {one.kind for one in find_tampering([_file(path, b"", content)])}


@pytest.mark.parametrize(
    "text",
    [
        "k0: &k0 [x, x]\n" + "".join(f"k{n + 1}: &k{n + 1} [*k{n}, *k{n}]\n" for n in range(20)),
        "a: &a {x: 1}\n" + "".join(f"k{n}: &k{n} {{<<: [*a, *a]}}\n" for n in range(50)),
        "a: &a [*a]\n",
        "jobs: " + "[" * 3000,
        "!!python/object/apply:os.system ['true']\n",
    ],
)
def test_yaml_that_describes_more_than_memory_holds_is_not_expanded(text: str) -> None:
    find_tampering([_file(".github/workflows/a.yml", b"jobs: {}\n", text.encode())])


@pytest.mark.parametrize("word", ["|| ", "--reruns ", "jest -x ", "; ", "@ Disabled ", "- ", "exports[`"])
def test_long_lines_cost_no_more_than_their_length(word: str) -> None:
    line = (word * 200_000)[:900_000].encode()
    for path in ("Makefile", "package.json", "a.snap", "pytest.ini", ".npmrc"):
        find_tampering([_file(path, b"", line)])


def test_a_test_id_with_markup_and_newlines_is_shown_on_one_short_line() -> None:
    hostile = "tests/a.py::test_`a`\n# heading\x1b[31m" + "x" * 10_000
    (found,) = find_tampering([], collected_on_base=[hostile, "b"], collected_on_head=["b"])
    assert len(found.detail) < 400
    assert found.detail.isprintable()
    assert found.detail.count("`") == 2


def test_the_grammars_are_not_loaded_before_they_are_needed() -> None:
    code = (
        "import sys, journeyman.verification.tampering.report, journeyman.verification.trust_roots;"
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
