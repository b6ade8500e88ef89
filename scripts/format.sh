#!/usr/bin/env bash
# Format the code, and mend what the linter can mend by itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh run

.venv/bin/ruff check --fix
.venv/bin/ruff format
