"""The agents that `scripts/setup.sh test` installed once for all tests of this checkout."""

from pathlib import Path

INSTALLED = Path(__file__).parents[2] / ".agents"
