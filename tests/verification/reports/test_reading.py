"""Reports as untrusted bytes: forged, cut, huge, hostile, and those of runners that are not here."""

import json
import time

import pytest

from journeyman.verification.per_test import SuiteReport
from journeyman.verification.reports import cargo, dotnet, golang, java
from journeyman.verification.reports.family import ReportFile, ReportRequest
from journeyman.verification.reports.junit import read_junit
from journeyman.verification.reports.lines import read_sessions
from journeyman.verification.reports.text import clean_id, clean_message, clean_path

REQUEST = ReportRequest(directory="/tmp/x")


def lines(*records: object, is_cut: bool = False) -> SuiteReport:
    content = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    return read_sessions([ReportFile(path="/r/pytest.1.jsonl", content=content, is_cut=is_cut)], REQUEST)


def junit(text: str, is_cut: bool = False) -> SuiteReport:
    return read_junit("x", [ReportFile(path="/r/a.xml", content=text.encode(), is_cut=is_cut)], REQUEST)


BEGIN, END = {"begin": "pytest", "is_part": False}, {"end": 0}
PASSED = {"id": "a::b", "outcome": "passed"}


def test_a_session_with_its_end_is_complete() -> None:
    report = lines(BEGIN, PASSED, {"left": 0}, END)
    assert (report.runner, len(report.tests), report.is_complete, report.notes) == ("pytest", 1, True, ())


@pytest.mark.parametrize(
    ("records", "note"),
    [
        ([BEGIN, PASSED], "the runner did not come to its end"),
        ([PASSED, END], "the runner did not come to its end"),
        ([BEGIN, PASSED, END, PASSED], "the report goes on after its end"),
        ([BEGIN, END, BEGIN, PASSED, END], "the report begins twice"),
        ([BEGIN, {"left": 3}, END], "3 of the collected tests have no result"),
        ([BEGIN, {"raised": "a::c"}, PASSED, END], "1 tests raised and were not reported: a::c"),
        ([BEGIN, {"id": "a", "outcome": "splendid"}, END], "a line of the report makes no sense"),
        ([BEGIN, ["a"], END], "a line of the report makes no sense"),
        ([BEGIN, {"id": 3, "outcome": "passed"}, END], "a line of the report makes no sense"),
    ],
)
def test_a_report_that_contradicts_itself_is_not_complete(records: list[object], note: str) -> None:
    report = lines(*records)
    assert not report.is_complete
    assert note in report.notes


def test_a_line_that_is_no_json_is_noticed() -> None:
    deep = b"[" * 100_000
    for line in (b"passed", deep, b"\xff\xfe"):
        content = json.dumps(BEGIN).encode() + b"\n" + line + b"\n" + json.dumps(END).encode() + b"\n"
        report = read_sessions([ReportFile(path="/r/pytest.1.jsonl", content=content)], REQUEST)
        assert not report.is_complete


def test_a_test_has_failed_when_one_of_its_phases_has() -> None:
    report = lines(BEGIN, PASSED, {"id": "a::b", "outcome": "failed", "message": "in teardown"}, PASSED, END)
    assert [(case.outcome, case.message) for case in report.tests] == [("failed", "in teardown")]


@pytest.mark.parametrize(
    ("records", "rewritten"),
    [
        ([{"raised": "a::b"}, PASSED], ("a::b",)),
        ([{"raised": "a::b"}, {"id": "a::b", "outcome": "skipped"}], ("a::b",)),
        ([{"raised": "a::b"}, {"id": "a::b", "outcome": "xfailed"}], ()),
        ([{"raised": "a::b"}, {"id": "a::b", "outcome": "failed"}], ()),
        ([{"raised": "a::b"}, {"returned": "a::b"}, PASSED], ()),
    ],
)
def test_what_raised_and_is_reported_as_anything_else_was_rewritten(
    records: list[object], rewritten: tuple[str, ...]
) -> None:
    assert lines(BEGIN, *records, END).rewritten == rewritten


def test_a_report_that_is_too_large_is_cut_and_says_so() -> None:
    report = lines(BEGIN, PASSED, {"id": "lost", "outcome": "passed"}, is_cut=True)
    assert not report.is_complete
    assert [case.test_id for case in report.tests] == ["a::b", "lost"]


@pytest.mark.parametrize("read", ["lines", "junit"])
def test_fifty_thousand_tests_are_read_in_no_time(read: str) -> None:
    started = time.process_time()
    if read == "lines":
        records = ({"id": f"t{number}", "outcome": "passed", "message": "x"} for number in range(50_000))
        report = lines(BEGIN, *records, END)
    else:
        cases = (f'<testcase classname="A" name="t{number}" time="0.1"/>' for number in range(50_000))
        report = junit(f'<testsuite tests="50000">{"".join(cases)}</testsuite>')
    assert (len(report.tests), report.is_complete) == (50_000, True)
    assert time.process_time() - started < 20


def test_an_id_of_any_kind_becomes_one_short_line_that_stays_the_same() -> None:
    long = "x" * 10_000 + "\n<script>\x1b[31m\u202e"
    assert clean_id(long) == clean_id(long)
    assert clean_id(long) != clean_id(long + "y")
    assert len(clean_id(long)) < 500
    assert clean_id("a\nb\tc\x1b\ud800") == r"a\x0ab\x09c\x1b\xd800"
    assert clean_id(" ") == "(no name)"


def test_a_message_is_plain_text_and_not_too_long() -> None:
    assert clean_message("\x1b[31mred\x1b[0m\x00\nline") == "red\nline"
    assert len(clean_message("x" * 1_000_000)) < 3_000


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("/workspace/a/b.py", "a/b.py"),
        ("./a.rb", "a.rb"),
        ("../a", None),
        ("/etc/passwd", None),
        ("a/../../b", None),
        ("", None),
    ],
)
def test_a_path_stays_in_the_repository(path: str, clean: str | None) -> None:
    assert clean_path(path, "/workspace") == clean


SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="com.example.CalcTest" time="0.05"
    tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="adds" classname="com.example.CalcTest" time="0.012"/>
  <testcase name="isWrong" classname="com.example.CalcTest" time="1,234.5">
    <failure message="expected: &lt;4&gt; but was: &lt;3&gt;" type="AssertionFailedError"><![CDATA[
      org.opentest4j.AssertionFailedError]]></failure>
  </testcase>
  <testcase name="later" classname="com.example.CalcTest" time="0"><skipped message="not today"/></testcase>
  <testcase name="breaks" classname="com.example.CalcTest" time="0">
    <error type="java.lang.IllegalStateException">no database</error>
    <system-out>&lt;failure/&gt;</system-out>
  </testcase>
</testsuite>
"""


@pytest.mark.parametrize(
    ("path", "runner"),
    [
        ("/workspace/app/target/surefire-reports/TEST-com.example.CalcTest.xml", "Maven Surefire"),
        ("/workspace/app/build/test-results/test/TEST-com.example.CalcTest.xml", "Gradle"),
    ],
)
def test_reports_that_maven_and_gradle_leave_are_read(path: str, runner: str) -> None:
    file = ReportFile(path=path, content=SUREFIRE.encode())
    assert java.FAMILY.reads(file)
    report = java.FAMILY.read([file], REQUEST, "")
    assert report is not None
    assert (report.runner, report.is_complete) == (runner, True)
    assert {case.test_id: (case.outcome, case.message) for case in report.tests} == {
        "com.example.CalcTest::adds": ("passed", ""),
        "com.example.CalcTest::isWrong": ("failed", "expected: <4> but was: <3>"),
        "com.example.CalcTest::later": ("skipped", "not today"),
        "com.example.CalcTest::breaks": ("failed", "no database"),
    }
    assert [case.duration_seconds for case in report.tests] == [0.012, 1234.5, 0, 0]


NEXTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="2" failures="1" errors="0">
  <testsuite name="calc" tests="2" disabled="0" errors="0" failures="1">
    <testcase name="tests::adds" classname="calc" time="0.008"/>
    <testcase name="tests::is_wrong" classname="calc" time="0.009">
      <failure type="test failure">panicked</failure>
    </testcase>
  </testsuite>
</testsuites>
"""


def test_the_report_that_nextest_is_set_up_to_write_is_read() -> None:
    file = ReportFile(path="/workspace/target/nextest/ci/junit.xml", content=NEXTEST.encode())
    assert cargo.FAMILY.reads(file)
    report = cargo.FAMILY.read([file], REQUEST, "")
    assert report is not None
    assert (report.runner, [(case.test_id, case.outcome) for case in report.tests]) == (
        "nextest",
        [("calc::tests::adds", "passed"), ("calc::tests::is_wrong", "failed")],
    )


TRX = """<?xml version="1.0" encoding="utf-8"?>
<TestRun id="1" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult testName="Calc.Tests.Adds" outcome="Passed" duration="00:00:01.5000000"/>
    <UnitTestResult testName="Calc.Tests.Wanted(number: 4)" outcome="Failed" duration="00:00:00.01">
      <Output><ErrorInfo><Message>Assert.Equal() Failure</Message></ErrorInfo></Output>
    </UnitTestResult>
    <UnitTestResult testName="Calc.Tests.Later" outcome="NotExecuted"/>
  </Results>
  {summary}
</TestRun>
"""
SUMMARY = (
    '<ResultSummary outcome="Failed"><Counters total="3" executed="2" passed="1" failed="1"/></ResultSummary>'
)


@pytest.mark.parametrize(("summary", "is_complete"), [(SUMMARY, True), ("", False)])
def test_the_report_of_dotnet_is_read(summary: str, is_complete: bool) -> None:
    file = ReportFile(path="/r/a.trx", content=TRX.format(summary=summary).encode())
    report = dotnet.FAMILY.read([file], REQUEST, "")
    assert report is not None
    assert report.is_complete is is_complete
    assert [(case.test_id, case.outcome, case.message, case.duration_seconds) for case in report.tests] == [
        ("Calc.Tests.Adds", "passed", "", 1.5),
        ("Calc.Tests.Wanted(number: 4)", "failed", "Assert.Equal() Failure", 0.01),
        ("Calc.Tests.Later", "skipped", "", None),
    ]


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>',
        f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><testsuite><testcase name="&l9;"/></testsuite>',
        '<!DOCTYPE a SYSTEM "http://registry.example/a.dtd"><testsuite/>',
        "<a>" * 200,
        "<testsuite><testcase name='a'/>",
        "",
        "\x00",
        "<testsuite tests='3'><testcase name='a'/></testsuite>",
    ],
)
def test_xml_that_is_hostile_broken_or_short_is_not_complete(text: str) -> None:
    report = junit(text)
    assert not report.is_complete
    assert report.notes
    assert not any("root:" in case.test_id or "haha" in case.test_id for case in report.tests)


def test_of_a_cut_xml_what_is_there_is_read() -> None:
    report = junit('<testsuite tests="9"><testcase name="a"/><testcase name="b', is_cut=True)
    assert ([case.test_id for case in report.tests], report.is_complete) == (["a"], False)


ENDLESS = "the runner did not come to its end"


@pytest.mark.parametrize(
    ("log", "note"),
    [
        ("binary c::c\nok a\n", ENDLESS),
        ("binary c::c\nok a\nlisted 2\nend 0\n", "c::c has tests without a result"),
        ("binary c::c\nfailed a\nlisted 1\nend 1\n", "cargo ended with the first binary that failed"),
        ("/workspace\n=== RUN   TestA\n\nend 0\n", "tests began and have no result: TestA"),
        ("/workspace\n=== RUN   TestA\n--- PASS: TestA (0.00s)\n", ENDLESS),
    ],
)
def test_a_log_without_an_end_or_with_missing_results_is_not_complete(log: str, note: str) -> None:
    family = golang.FAMILY if log.startswith("/") else cargo.FAMILY
    report = family.read([ReportFile(path="/r/x.log", content=log.encode())], REQUEST, "")
    assert report is not None
    assert (report.is_complete, report.notes) == (False, (note,))
