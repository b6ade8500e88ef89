"""What every event is: a frozen value that allows no unknown field."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Phase = Literal["planning", "implementing", "testing", "completed"]


class EventModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
