"""Ruby: Bundler, RSpec, Rake and Minitest.

Gems go into the home, so that a Gemfile of the workspace finds them whatever directory it stands in.
"""

import re
from collections.abc import Iterator

from journeyman.environments.detect.found import Detected, Hints, SeenCommand, there, under, workdir_of
from journeyman.environments.detect.listing import paths_below
from journeyman.environments.detect.pins import pinned
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_GEMS = "/home/agent/.bundle/gems"
_VERSION = re.compile(r"""(?m)^\s*ruby[ (]+["']([^"']+)["']""")
_REQUIRED = re.compile(r"""required_ruby_version\s*=\s*(?:Gem::Requirement\.new\()?\[?\s*["']([^"']+)["']""")
_TEST_TASK = re.compile(
    r"""Rake::TestTask\.new(?:\s*(?:do|\{)|\(\s*\)|\s*\(?\s*[:"']test\b)|^\s*task\s*\(?\s*[:"']?test\b""",
    re.MULTILINE,
)
_SPEC_TASK = re.compile(r"RSpec::Core::RakeTask")
_TEST_FILE = re.compile(r"test/(?:.+/)?(?:test_[^/]+|[^/]+_test)\.rb$")
_SPEC_FILE = re.compile(r"spec/(?:.+/)?[^/]+_spec\.rb$")
_SAID = re.compile(r"(?:bundle exec )?(?:rake(?: (?:test|spec|default))?|rspec|(?:bin/)?rails test)")


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    names = project.names(directory)
    gemspecs = sorted(name for name in names if name.endswith(".gemspec"))
    has_gemfile = "Gemfile" in names
    if (
        not has_gemfile
        and not gemspecs
        and not ("Rakefile" in names and _test_command(project, directory, hints))
    ):
        return None
    tools = [_ruby(project, directory, gemspecs)]
    install: tuple[InstallCommand, ...] = ()
    if has_gemfile:
        why = under(directory, "Gemfile.lock" if "Gemfile.lock" in names else "Gemfile")
        tools.append(ToolNeed(tool="bundle", version="", said_in=under(directory, "Gemfile")))
        install = (InstallCommand(command="bundle install", why=why, workdir=workdir_of(directory)),)
    return Detected(
        ecosystem="Ruby (Bundler)" if has_gemfile else "Ruby",
        directory=directory,
        tools=tuple(tools),
        install=install,
        checks=tuple(_checks(project, directory, hints, has_gemfile=has_gemfile)),
        env={"BUNDLE_PATH": _GEMS} if has_gemfile else {},
        key_files=tuple(under(directory, name) for name in ("Gemfile", "Gemfile.lock", *gemspecs)),
    )


def _ruby(project: Project, directory: str, gemspecs: list[str]) -> ToolNeed:
    if pin := pinned(project, directory, "ruby"):
        return pin
    gemfile = under(directory, "Gemfile")
    if found := _VERSION.search(project.text(gemfile)):
        return ToolNeed(tool="ruby", version=found[1], said_in=gemfile)
    for name in gemspecs:
        if found := _REQUIRED.search(project.text(path := under(directory, name))):
            return ToolNeed(tool="ruby", version=found[1], said_in=path)
    names = ("Gemfile", *gemspecs, "Rakefile")
    said_in = next(path for name in names if project.has(path := under(directory, name)))
    return ToolNeed(tool="ruby", version="", said_in=said_in)


def _checks(project: Project, directory: str, hints: Hints, *, has_gemfile: bool) -> Iterator[Check]:
    before = "bundle exec " if has_gemfile else ""
    # Without --dry-run it would write a lock file.
    probe = f"{there('bundle')} && bundle check --dry-run >/dev/null" if has_gemfile else there("ruby")
    tool = "Ruby with the project's gems" if has_gemfile else "Ruby"
    workdir = workdir_of(directory)
    if command := _test_command(project, directory, hints):
        name, ruby, why = command
        yield Check(
            name=name,
            kind="test",
            command=f"{before}{ruby}",
            workdir=workdir,
            tool=tool,
            why=why,
            probe=probe,
        )
    if ".rubocop.yml" in project.names(directory) and has_gemfile:
        yield Check(
            name="rubocop",
            kind="lint",
            command="bundle exec rubocop",
            workdir=workdir,
            tool="RuboCop",
            why=under(directory, ".rubocop.yml"),
            probe=f"{probe} && bundle exec rubocop --version >/dev/null",
        )


def _test_command(project: Project, directory: str, hints: Hints) -> tuple[str, str, str] | None:
    """Name, command without Bundler, and where it is said."""
    prefix = f"{directory}/" if directory else ""
    below = [path[len(prefix) :] for path in paths_below(project, directory)]
    has_specs = any(_SPEC_FILE.match(path) for path in below)
    has_tests = any(_TEST_FILE.match(path) for path in below)
    if said := _said(hints, workdir_of(directory)):
        command = said.command.removeprefix("bundle exec ")
        return ("rspec" if command == "rspec" else command), command, said.said_in
    rakefile = under(directory, "Rakefile")
    if has_specs:
        return "rspec", "rspec", under(directory, "spec")
    if "bin/rails" in below and has_tests:
        return "rails test", "rails test", under(directory, "bin/rails")
    if _TEST_TASK.search(project.text(rakefile)):
        return "rake test", "rake test", rakefile
    if _SPEC_TASK.search(project.text(rakefile)):
        return "rake spec", "rake spec", rakefile
    if has_tests:
        load = 'Dir["test/**/{test_*,*_test}.rb"].sort.each { |file| require "./#{file}" }'
        return "minitest", f"ruby -Ilib -Itest -e '{load}'", under(directory, "test")
    return None


def _said(hints: Hints, workdir: str) -> SeenCommand | None:
    return next(
        (one for one in hints.commands if one.workdir == workdir and _SAID.fullmatch(one.command)), None
    )
