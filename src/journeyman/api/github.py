"""Whether a repository can be worked on, asked before an order is made of it."""

from datetime import UTC, datetime

from fastapi import APIRouter

from journeyman.api.forge_limits import in_time
from journeyman.api.models import ConnectedRepository, RepositoryAnswer, RepositoryQuestion
from journeyman.api.services import Given
from journeyman.api.submission import check_may_push
from journeyman.errors import InvalidRepository, JourneymanError
from journeyman.work_orders.repositories import parse_repository

router = APIRouter(prefix="/api/github", tags=["github"])


@router.post("/verify-repository")
async def verify_repository(question: RepositoryQuestion, services: Given) -> RepositoryAnswer:
    """A repository that cannot be worked on is an answer, not a problem: it says why and what to do."""
    settings = services.settings
    try:
        repository = parse_repository(
            question.repository_url,
            github_url=settings.github_url,
            allow_local=settings.allow_local_repositories,
        )
    except InvalidRepository as error:
        return RepositoryAnswer(repository=None, verification_success=False, error_message=_message(error))
    facts, reason = None, None
    try:
        facts = await in_time(services.forges[repository.forge].verify(repository), repository)
        check_may_push(repository, facts)
    except JourneymanError as error:
        reason = _message(error)
    return RepositoryAnswer(
        repository=ConnectedRepository(
            repository_owner=repository.owner,
            repository_name=repository.name,
            repository_url=repository.url,
            default_branch=facts and facts.default_branch,
            is_accessible=facts is not None,
            can_push=facts is not None and facts.can_push,
            access_verified_at=datetime.now(UTC),
        ),
        verification_success=reason is None,
        error_message=reason,
    )


def _message(error: JourneymanError) -> str:
    return f"{error.message}. {error.hint}" if error.hint else error.message
