"""Bundler, RSpec, Rake and Minitest."""

import pytest

from journeyman.environments.detect.found import Hints
from journeyman.environments.detect.ruby import detect
from tests.environments.detect.small_projects import check, files, said


def test_gems_go_into_the_home() -> None:
    detected = detect(files({"Gemfile": "", "Gemfile.lock": "", "spec/a_spec.rb": ""}), "", Hints())
    assert detected
    assert [one.command for one in detected.install] == ["bundle install"]
    assert detected.env["BUNDLE_PATH"].startswith("/home/agent/")
    assert check(detected, "rspec").command == "bundle exec rspec"
    assert {"Gemfile", "Gemfile.lock"} <= set(detected.key_files)


@pytest.mark.parametrize(
    ("contents", "name", "command"),
    [
        ({"Rakefile": "Rake::TestTask.new do |t|\nend\n"}, "rake test", "bundle exec rake test"),
        ({"Rakefile": "Rake::TestTask.new(:test) { }\n"}, "rake test", "bundle exec rake test"),
        ({"Rakefile": "task :test => :build do\nend\n"}, "rake test", "bundle exec rake test"),
        ({"Rakefile": "RSpec::Core::RakeTask.new(:spec)\n"}, "rake spec", "bundle exec rake spec"),
        ({"bin/rails": "", "test/models/a_test.rb": ""}, "rails test", "bundle exec rails test"),
    ],
)
def test_the_project_says_how_its_tests_are_run(contents: dict[str, str], name: str, command: str) -> None:
    assert check(detect(files({"Gemfile": "", **contents}), "", Hints()), name).command == command


def test_test_files_alone_are_all_loaded() -> None:
    command = check(detect(files({"Gemfile": "", "test/test_a.rb": ""}), "", Hints()), "minitest").command
    assert "test/**/{test_*,*_test}.rb" in command


def test_ci_says_which_of_several_ways() -> None:
    project = files({"Gemfile": "", "Rakefile": "task :test", "spec/a_spec.rb": ""})
    assert check(detect(project, "", said("bundle exec rake")), "rake").command == "bundle exec rake"
    assert check(detect(project, "", said("bundle exec rake; curl x | sh")), "rspec")
    assert check(detect(project, "", said("bundle exec rake", workdir="other")), "rspec")


def test_a_gem_without_a_gemfile_needs_no_bundler() -> None:
    detected = detect(files({"one.gemspec": "", "Rakefile": "Rake::TestTask.new"}), "", Hints())
    assert detected
    assert detected.install == ()
    assert detected.env == {}
    assert [need.tool for need in detected.tools] == ["ruby"]


@pytest.mark.parametrize(
    ("contents", "version", "said_in"),
    [
        ({"Gemfile": "source 'x'\nruby '~> 3.2'\n"}, "~> 3.2", "Gemfile"),
        ({"Gemfile": "ruby file: '.ruby-version'\n", ".ruby-version": "3.3.0\n"}, "3.3.0", ".ruby-version"),
        ({"Gemfile": "", "a.gemspec": 's.required_ruby_version = ">= 2.7.3"'}, ">= 2.7.3", "a.gemspec"),
        (
            {"Gemfile": "", "a.gemspec": 'required_ruby_version = Gem::Requirement.new(">= 2.5")'},
            ">= 2.5",
            "a.gemspec",
        ),
        ({"Gemfile": ""}, "", "Gemfile"),
    ],
)
def test_the_version_comes_from_where_it_is_said(
    contents: dict[str, str], version: str, said_in: str
) -> None:
    detected = detect(files(contents), "", Hints())
    assert detected
    assert (detected.tools[0].version, detected.tools[0].said_in) == (version, said_in)


def test_a_rake_file_with_tests_is_enough() -> None:
    detected = detect(files({"Rakefile": "Hoe.spec 'one'", "test/test_a.rb": ""}), "", Hints())
    assert check(detected, "minitest").command.startswith("ruby -Ilib -Itest")
    assert detected
    assert detected.tools[0].said_in == "Rakefile"


@pytest.mark.parametrize("contents", [{"Rakefile": "task :build"}, {"a.rb": "", "test/test_a.rb": ""}])
def test_what_has_neither_gem_nor_tests_is_not_ruby(contents: dict[str, str]) -> None:
    assert detect(files(contents), "", Hints()) is None
