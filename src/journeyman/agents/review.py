"""A judgement of a change, as a reviewing agent hands it over. It is an opinion, never evidence."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from journeyman.agents.plan import in_one_line


class Finding(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Annotated[str, BeforeValidator(in_one_line)] = Field(
        min_length=1, max_length=500, description="The file, relative to the repository."
    )
    line: int | None = Field(default=None, ge=1, description="Where in it, as the file is now.")
    problem: str = Field(
        min_length=1, max_length=4_000, description="What is wrong, and a case that shows it."
    )


class Review(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Literal["approve", "request_changes"] = Field(
        description="`request_changes` when something has to change before this is merged."
    )
    summary: str = Field(min_length=1, max_length=4_000, description="The judgement in a few sentences.")
    findings: list[Finding] = Field(default=[], max_length=50, description="What has to change.")
