"""The commits of a branch in a local repository, for the page of its pull request."""

from pathlib import Path

from journeyman.errors import InvalidRepository
from journeyman.forges.local_directory import stand_in
from journeyman.git.progress import LOG_FORMAT, LoggedCommit, parse_log
from journeyman.git.run import run_git
from journeyman.work_orders.order import check_branch_name

MOST_COMMITS = 250


async def commits_of(repository: Path, branch: str, *, since: str) -> list[LoggedCommit]:
    """The newest commits that are not in `since`, oldest first; none where either of the two is gone."""
    try:
        async with stand_in(repository) as shown:
            answer = await run_git(
                "log", "-z", "--reverse", "--topo-order", f"--max-count={MOST_COMMITS}",
                f"--format={LOG_FORMAT}",
                f"refs/heads/{check_branch_name(branch)}", "--not", since, "--",
                git_dir=shown.path,
            )  # fmt: skip
    except InvalidRepository:
        return []
    return [] if answer.exit_code else parse_log(answer.output)
