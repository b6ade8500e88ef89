"""What is wrong in an environment file is said with its line, and with what to write instead."""

import pickle

import pytest

from journeyman.environments.definition import MAX_BYTES, parse_definition
from journeyman.errors import InvalidEnvironment


def refused(text: str) -> InvalidEnvironment:
    with pytest.raises(InvalidEnvironment) as caught:
        parse_definition(text, source="environment.yaml")
    assert all(one.hint and one.line >= 1 and one.column >= 1 for one in caught.value.errors)
    return caught.value


@pytest.mark.parametrize(
    ("text", "place", "what", "hint"),
    [
        ("env: {A: b}\ninstal: [make]", (2, 1), "unknown field 'instal'", "Did you mean 'install'?"),
        ("setup: make", (1, 1), "unknown field 'setup'", "Did you mean 'install'?"),
        ("zzz: make", (1, 1), "unknown field 'zzz'", "Fields: install, start"),
        ("start:\n  - comand: x", (2, 5), "unknown field 'comand'", "Did you mean 'command'?"),
        ("start:\n  - ready: x", (2, 5), "lacks 'command'", "Add 'command: …'."),
        ("checks: {a: {command: x, kind: tests}}", (1, 32), "'kind' is 'tests'", "'test'"),
        ("checks: [pytest]", (1, 9), "'checks' is not a mapping", "name: value"),
        ("checks: {a: [x]}", (1, 13), "not text or a mapping", "command:"),
        ("install: 5", (1, 10), "'install' is not a list", "Write a list"),
        ("install:\n  - 5", (2, 5), "not text or a mapping", "Write a command"),
        ("install: ['']", (1, 11), "the command is empty", "remove the line"),
        ("install: [' ']", (1, 11), "the command is empty", "remove the line"),
        ("start: [{command: x, timeout: soon}]", (1, 31), "'timeout' of 'start' is not a number", "seconds"),
        ("start: [{command: x, timeout: 0}]", (1, 31), "greater than 0", "Correct"),
        ("start: [{command: x, timeout: .inf}]", (1, 31), "'timeout' of 'start'", ""),
        ("secrets_in_agent_phase: 'maybe'", (1, 25), "not true or false", "true or false"),
        ("secrets: NPM_TOKEN", (1, 10), "'secrets' is not a list", "Write a list"),
        ("network: none", (1, 10), "'network' is not", ""),
        ("network: {agent: open}", (1, 18), "'agent' is 'open'", "'none', or a list of hosts"),
        ("image: -v /:/host", (1, 8), "not an image", "registry.example.com"),
        ("tools: {node: }", (1, 14), "no version", ">=20"),
        ("tools: {node: '$(id)'}", (1, 15), "not a version", ">=20"),
        ("tools: {'node; id': '1'}", (1, 9), "not a program", "'node'"),
        ("checks: {a: {command: x, needs: ['a; b']}}", (1, 34), "not a program", "'uv'"),
        ("env: {A: }", (1, 9), "no value", 'Write ""'),
        ("env: {A: [b]}", (1, 10), "is not text", "quotes"),
        ("env: {TOKEN: x}\nsecrets: [TOKEN]", (1, 1), "TOKEN is both", "Keep it in 'secrets'"),
        ("- install", (1, 1), "not a mapping", "Begin with 'install:'"),
    ],
)
def test_a_mistake_has_its_place_and_a_remedy(
    text: str, place: tuple[int, int], what: str, hint: str
) -> None:
    error = refused(text)
    first = error.errors[0]
    assert (first.line, first.column) == place
    assert what in first.message
    assert hint in first.hint
    assert error.message == f"environment.yaml:{first.line}: {first.message}"
    assert error.hint == first.hint


def test_every_mistake_is_reported_at_once_in_the_order_of_lines() -> None:
    error = refused("workdir: ../x\ninstal: [a]\nenv:\n  PATH: /x\n  OK: fine\n")
    assert [one.line for one in error.errors] == [1, 2, 4]
    assert error.message.endswith("(and 2 more)")


@pytest.mark.parametrize(
    ("host", "what", "hint"),
    [
        ("https://registry.example.com/simple", "is an address", "'registry.example.com'"),
        ("registry.example.com/simple", "is an address", "'registry.example.com'"),
        ("registry.example.com:8443", "names a port", "'registry.example.com'"),
        ("*.example.com", "is a pattern", "Name each host"),
        ("user@example.com", "user's name", "settings"),
        ("10.0.0.1", "raw address", "name"),
        ("10.0.0.1:80", "raw address", "name"),
        ("2130706433", "raw address", "name"),
        ("0x7f.1", "raw address", "name"),
        ("::1", "raw address", "name"),
        ("[::ffff:169.254.169.254]", "raw address", "name"),
        ("localhost", "the sandbox itself", "Remove it"),
        ("registry.exämple.com", "not plain ASCII", "xn--"),
        ("a..b", "not a host", "registry.example.com"),
        ("-a.example", "not a host", "registry.example.com"),
        ("a b", "not a host", "registry.example.com"),
        ("a\\nb.example", "not a host", "registry.example.com"),
        ("", "not a host", "registry.example.com"),
        ("a" * 300, "not a host", "registry.example.com"),
    ],
)
@pytest.mark.parametrize("phase", ["setup", "agent"])
def test_a_host_is_a_name_and_nothing_else(phase: str, host: str, what: str, hint: str) -> None:
    [mistake] = refused(f'network: {{{phase}: ["{host}"]}}').errors
    assert what in mistake.message
    assert hint in mistake.hint


@pytest.mark.parametrize(
    "directory", ["/etc", "..", "a/../../b", "~/x", "a/..", ".git", "a/.git/hooks", "a\\b", "' '"]
)
@pytest.mark.parametrize("field", ["workdir: {}", "install: [{{command: x, workdir: {}}}]", "cache: [{}]"])
def test_a_directory_stays_in_the_repository(field: str, directory: str) -> None:
    if field.startswith("cache") and directory == "~/x":
        return
    [mistake] = refused(field.format(directory)).errors
    assert mistake.line == 1


@pytest.mark.parametrize("directory", [".", "./", "~/.", "~/../x", "~/"])
def test_what_is_cached_is_a_directory_and_not_everything(directory: str) -> None:
    refused(f"cache: ['{directory}']")


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "Path", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "IFS", "JM_SANDBOX"),
        *("http_proxy", "HTTPS_PROXY", "no_proxy", "ALL_PROXY", "npm_config_https_proxy", "CARGO_HTTP_PROXY"),
        *("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "JOURNEYMAN_HOME"),
        *("A-B", "1A", "A B", "", "Ä", "A" * 101),
    ],
)
@pytest.mark.parametrize("field", ["env: {{'{}': x}}", "secrets: ['{}']"])
def test_variables_of_the_sandbox_cannot_be_set(field: str, name: str) -> None:
    [mistake] = refused(field.format(name)).errors
    assert mistake.hint


@pytest.mark.parametrize(
    "name", ["MY_PATH", "LDFLAGS", "PROXY_URL", "HOMEPAGE", "ENV", "NODE_ENV", "PYTHONPATH"]
)
def test_variables_that_only_look_like_them_can_be_set(name: str) -> None:
    assert parse_definition(f"env: {{{name}: x}}", source="x").env == {name: "x"}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("env: &a {A: b}\n", 1, "anchors"),
        ("install: [x]\nenv: *a\n", 2, "anchors"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", 1, "anchors"),
        ("install:\n  - !!python/object/apply:os.system [id]\n", 2, "tags"),
        ("install: !include x", 1, "tags"),
        ("install: [a]\nenv: {A: b}\ninstall: [b]\n", 3, "'install' is given twice"),
        ("env:\n  A: b\n  A: c\n", 3, "'A' is given twice"),
        ("install: [a]\n---\ninstall: [b]\n", 2, "document"),
        ("install: [a\n", 2, ""),
        ("install:\n\t- a\n", 2, ""),
        ("? [a]\n: b\n", 1, "plain text"),
        ("env: {A: b}\ninstall: [a\x07]\n", 2, "U+0007"),
        ("install: ['a\x00b']", 1, "U+0000"),
        ('env: {A: b}\ninstall: ["a\\0b"]', 2, "U+0000"),
        ('install: ["\\uD800"]', 1, "U+D800"),
        ('env: {"A\\u202E": x}', 1, "control character"),
        ("install: [a\u202eb]", 1, "U+202E"),
        ("install: [a\ufffd]", 1, "U+FFFD"),
        ("install: \ud800", 1, "U+D800"),
    ],
)
def test_yaml_that_is_broken_or_clever_is_refused_with_its_line(text: str, line: int, what: str) -> None:
    [mistake] = refused(text).errors
    assert mistake.line == line
    assert what in mistake.message


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x" * 10_000_000, "larger than"),
        ("# ä\n" * (MAX_BYTES // 5 + 1), "larger than"),
        ("install:\n" + "- a\n" * 10_000, "more than 200 entries"),
        ("env: {" + ",".join(f"A{n}: x" for n in range(3000)) + "}", "more than 200 entries"),
        (
            "network: {setup: [" + ",".join(f"h{n}.example" for n in range(3000)) + "]}",
            "more than 100 entries",
        ),
        ("install: " + "[" * 30_000, "nested too deeply"),
        ("install: " + "{a: " * 10_000, "nested too deeply"),
        ("- " * 30_000, "nested too deeply"),
        ("install: [" + "a" * 30_000 + "]", "longer than 20,000"),
        ("env: {A: " + "a" * 40_000 + "}", "32000"),
    ],
)
def test_a_definition_that_is_huge_is_refused(text: str, what: str) -> None:
    assert what in refused(text).errors[0].message


def test_a_number_of_a_million_digits_is_not_computed() -> None:
    assert "not a list" in refused("install: " + "9" * 50_000).errors[0].message


def test_the_error_survives_being_stored_with_its_lines() -> None:
    error = refused("instal: [a]")
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.hint, again.errors) == (error.message, error.hint, error.errors)
