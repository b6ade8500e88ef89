"""How projects write versions, and which versions fit."""

import pytest

from journeyman.environments.tool_versions import fits, release_of


@pytest.mark.parametrize(
    ("wanted", "have"),
    [
        ("", "20.1.0"),
        ("*", "20.1.0"),
        ("3.12", "3.12.1"),
        ("20", "20.11.1"),
        ("v20.11.1", "20.11.1"),
        ("20.x", "20.1.0"),
        ("3.*", "3.9.2"),
        (">=20", "20.0.0"),
        (">=1.22", "1.22"),
        (">=1.22.0", "1.22"),
        (">= 20", "22.1.0"),
        (">=3.8,<3.13", "3.12.1"),
        (">=18 <21", "20.1.0"),
        ("^18 || >=20", "22.0.0"),
        ("^18 || >=20", "18.2.0"),
        ("^8.1|^7.4", "8.2.35"),
        ("^0.12", "0.12.7"),
        ("~18.2", "18.2.9"),
        ("~> 3.2", "3.4.1"),
        ("~> 3.2.1", "3.2.9"),
        ("~=3.8", "3.12.1"),
        ("==3.11.*", "3.11.7"),
        ("!=3.9.*", "3.10.1"),
        ("<=3.12", "3.12.4"),
        ("14 - 18", "16.1.0"),
        ("lts/*", "20.1.0"),
        ("lts/iron", "20.9.0"),
        ("stable", "1.80.0"),
        ("nightly", "1.82.0-nightly"),
        ("1.8", "1.8.0_352"),
        ("8", "1.8.0_352"),
        ("temurin-17.0.15", "17.0.15"),
        ("17.0.15-tem", "17.0.15"),
        ("ruby-3.1", "3.1.2"),
        ("go1.19", "1.19.8"),
    ],
)
def test_a_version_fits(wanted: str, have: str) -> None:
    assert fits(wanted, have)


@pytest.mark.parametrize(
    ("wanted", "have"),
    [
        ("3.12", "3.11.7"),
        ("3.1", "3.12.0"),
        ("20", "2.0.0"),
        (">=20", "18.19.0"),
        (">=1.22", "1.19.8"),
        (">=3.8,<3.13", "3.13.0"),
        (">3.12", "3.12.4"),
        ("^18 || >=20", "19.1.0"),
        ("^0.12", "0.13.0"),
        ("~18.2", "18.3.0"),
        ("~> 3.2", "4.0.0"),
        ("~> 3.2", "3.1.2"),
        ("~> 3.2.1", "3.3.0"),
        ("!=3.9.*", "3.9.1"),
        ("lts/*", "21.0.0"),
        ("lts/iron", "22.0.0"),
        ("stable", "1.82.0-nightly"),
        ("nightly", "1.80.0"),
        ("1.82.0", "1.82.0-nightly"),
        ("pypy3.10", "3.10.13"),
        ("whatever", "3.10.13"),
        (">=3.8 and more", "3.10.13"),
        ("3.12", "no version at all"),
        ("${{ matrix.python }}", "3.12.1"),
    ],
)
def test_a_version_does_not_fit(wanted: str, have: str) -> None:
    assert not fits(wanted, have)


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("Python 3.12.1", (3, 12, 1)),
        ("go version go1.19.8 linux/amd64", (1, 19, 8)),
        ('openjdk version "17.0.15" 2025-04-15', (17, 0, 15)),
        ('java version "1.8.0_352"', (8, 0)),
        ("ruby 3.1.2p20 (2022-04-12 revision 4491bb740a)", (3, 1, 2)),
        ("nothing", ()),
    ],
)
def test_the_numbers_of_a_version_are_found_in_what_a_tool_says(said: str, numbers: tuple[int, ...]) -> None:
    assert release_of(said) == numbers
