"""The types of single fields: what a request may hold, and how the OpenAPI document describes it.

Every rule that is checked, here or further in, is part of the description.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from journeyman.work_orders.order import MAX_PROMPT_CHARACTERS, visible

_UNSEEN = r"\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
"""The common ones of what `visible` takes out."""
_VISIBLE = f"^[^{_UNSEEN}]*$"
_PLAIN_TEXT = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
_TASK = r"^(?=[\s\S]*\S)" + _PLAIN_TEXT.removeprefix("^")
_ADDRESS = f"^(https?://|file://|ssh://git@|git@|/)[^{_UNSEEN}]*$"
_MODEL = f"^[^/{_UNSEEN}]+/[^{_UNSEEN}]+$"
_BRANCH_NAME = (
    r"^(?!(refs|HEAD)$|refs/)(?!.*(\.\.|//|/\.|\./|\.lock(/|$)))[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9_-])?$"
)
_ISO_8601 = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?", re.ASCII)
_MOST_ISSUES = 9_999_999_999


def _only_visible(text: str) -> str:
    if visible(text) != text:
        raise ValueError("characters that cannot be seen are not accepted")
    return text


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _digits(value: Any) -> Any:
    """Python would also take 1_000, 5.0 and blanks around a number that stands in an address."""
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]+", value):
        raise ValueError("a whole number is needed, in digits alone")
    return value


def _iso_8601(value: Any) -> Any:
    """A number would be taken for seconds since 1970."""
    if isinstance(value, str) and not _ISO_8601.fullmatch(value):
        raise ValueError("a time as in 2026-11-15T21:32:46Z is needed")
    return value


def _in_utc(moment: datetime) -> datetime:
    """A time without a zone is meant in UTC."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("the time is out of range") from None


OneLineText = Annotated[
    str,
    Field(max_length=2000, json_schema_extra={"pattern": _VISIBLE}),
    AfterValidator(_only_visible),
]
NameText = Annotated[
    str,
    Field(min_length=1, max_length=200, json_schema_extra={"pattern": _VISIBLE}),
    AfterValidator(_only_visible),
]
Address = Annotated[OneLineText, Field(min_length=1, json_schema_extra={"pattern": _ADDRESS})]
"""Checked by `parse_repository`."""
ModelNameText = Annotated[NameText, Field(json_schema_extra={"pattern": _MODEL})]
"""Checked by the gateway, which knows the providers."""
BranchName = Annotated[NameText, Field(json_schema_extra={"pattern": _BRANCH_NAME})]
"""Checked by `check_branch_name`, which says more than a pattern can."""
PromptText = Annotated[
    str, Field(json_schema_extra={"maxLength": MAX_PROMPT_CHARACTERS, "pattern": _PLAIN_TEXT})
]
"""Checked by `check_prompt`, for the same reason."""
Task = Annotated[PromptText, Field(json_schema_extra={"pattern": _TASK})]
"""A prompt that says something."""
Comment = Annotated[str, Field(max_length=10_000, json_schema_extra={"pattern": _PLAIN_TEXT})]
IssueNumber = Annotated[
    str,
    BeforeValidator(_as_text),
    Field(pattern=r"^[1-9][0-9]{0,9}$"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": "^[1-9][0-9]{0,9}$"},
                {"type": "integer", "minimum": 1, "maximum": _MOST_ISSUES},
            ]
        }
    ),
]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
InDigits = BeforeValidator(_digits)
"""For a number in an address or a header, where everything is text. It stands after the bounds."""
Timestamp = Annotated[datetime, BeforeValidator(_iso_8601), AfterValidator(_in_utc)]
Position = Annotated[int, Field(ge=0, le=1_000_000_000), InDigits]
OrderId = Annotated[str, Field(json_schema_extra={"pattern": "^wo-[0-9a-z]{8}$"})]
"""What is none is not found; it is not a wrong request."""
