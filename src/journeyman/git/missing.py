"""What a workspace lacks, compared with a full clone."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Missing:
    kind: Literal["submodule", "lfs"]
    path: str
    reason: str
    hint: str
