"""The server's settings: the name, value and meaning of each that is of use to its operator.

Of a secret, only whether it is there; addresses are shown without the credential they may hold.
"""

import re

from fastapi import APIRouter
from pydantic import BaseModel, SecretStr

from journeyman.api.services import Given
from journeyman.settings import SETTING_NAMES, Settings

router = APIRouter(prefix="/api", tags=["look-ups"])

_FOR_TESTS = frozenset({"JOURNEYMAN_FAILPOINTS"})
"""Of no use to an operator."""


class SettingView(BaseModel):
    name: str
    meaning: str
    is_secret: bool
    is_set: bool
    """Whether it differs from its default."""
    value: str | None
    """Null for a secret, and for what is not set."""


class SettingViews(BaseModel):
    settings: list[SettingView]


@router.get("/settings")
async def settings(services: Given) -> SettingViews:
    shown = [alias for alias in SETTING_NAMES if alias not in _FOR_TESTS]
    return SettingViews(settings=[_view(services.settings, alias) for alias in shown])


def _view(settings: Settings, alias: str) -> SettingView:
    field = Settings.model_fields[SETTING_NAMES[alias]]
    value = getattr(settings, SETTING_NAMES[alias])
    secret = "SecretStr" in str(field.annotation)
    return SettingView(
        name=alias,
        meaning=" ".join((field.description or "").split()),
        is_secret=secret,
        is_set=value != field.get_default(call_default_factory=True),
        value=None if isinstance(value, SecretStr) or value in (None, "", []) else _text(value),
    )


def _text(value: object) -> str:
    if isinstance(value, list):
        return ":".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    # Up to the last @: a password may hold any character, and hiding a part of a path does no harm.
    return re.sub(r"//\S*@", "//…@", str(value))
