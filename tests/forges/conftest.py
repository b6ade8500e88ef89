"""A stand-in GitHub with one repository, and the forge that talks to it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from journeyman.forges.github import GitHubForge
from journeyman.settings import Settings
from journeyman.work_orders.repositories import Repository, parse_repository
from tests.forges.repository import make_repository
from tests.standins.github import GitHubStandIn


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHubStandIn]:
    with GitHubStandIn(tmp_path) as github:
        github.add_repository("acme", "api", make_repository(tmp_path / "origin"))
        yield github


@pytest.fixture
def github_settings(settings: Settings, github: GitHubStandIn) -> Settings:
    return settings.model_copy(
        update={
            "github_url": github.url,
            "github_api_url": github.api_url,
            "github_token": SecretStr(github.token),
        }
    )


@pytest.fixture
async def forge(github_settings: Settings) -> AsyncIterator[GitHubForge]:
    forge = GitHubForge(github_settings)
    yield forge
    await forge.aclose()


@pytest.fixture
def repository(github: GitHubStandIn) -> Repository:
    return parse_repository(f"{github.url}/acme/api", github_url=github.url, allow_local=False)
