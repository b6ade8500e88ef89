"""Composer and PHPUnit."""

import json

import pytest

from journeyman.environments.detect.found import Hints
from journeyman.environments.detect.php import detect
from journeyman.environments.tool_versions import fits
from tests.environments.detect.small_projects import check, files


def composer(**fields: object) -> str:
    return json.dumps(fields)


def test_packages_are_installed_into_vendor_which_belongs_to_the_layer() -> None:
    text = composer(**{"require": {"php": ">=8.1"}, "require-dev": {"phpunit/phpunit": "^10"}})
    detected = detect(files({"api/composer.json": text, "api/composer.lock": "{}"}), "api", Hints())
    assert detected
    assert detected.install[0].command == "composer install --no-interaction --no-progress"
    assert detected.install[0].workdir == "api"
    assert detected.directories == ("api/vendor",)
    assert check(detected, "phpunit").command == "vendor/bin/phpunit"
    otherwise = check(detected, "phpunit").otherwise
    assert otherwise
    assert otherwise.command == "phpunit"


def test_a_vendor_directory_of_the_repository_stays_its_own() -> None:
    detected = detect(files({"composer.json": "{}", "vendor/autoload.php": ""}), "", Hints())
    assert detected
    assert detected.directories == ()


def test_the_projects_own_script_goes_first() -> None:
    detected = detect(
        files({"composer.json": composer(scripts={"test": "pest"}), "phpunit.xml": ""}), "", Hints()
    )
    assert detected
    assert [one.command for one in detected.checks] == ["composer test"]


def test_analysers_are_checked_where_they_are_configured() -> None:
    detected = detect(files({"composer.json": "{}", "phpstan.neon.dist": ""}), "", Hints())
    assert check(detected, "phpstan").kind == "types"


def test_a_tilde_is_read_as_composer_does() -> None:
    detected = detect(files({"composer.json": composer(require={"php": "~8.1"})}), "", Hints())
    assert detected
    assert fits(detected.tools[0].version, "8.4.1")
    assert not fits(detected.tools[0].version, "9.0.0")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"require": [], "scripts": 3}'])
def test_a_manifest_that_makes_no_sense_is_no_error(text: str) -> None:
    detected = detect(files({"composer.json": text}), "", Hints())
    assert detected
    assert bool(detected.notes) == (not text.startswith('{"'))
