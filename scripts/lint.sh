#!/usr/bin/env bash
# Style, format and types; stops at the first that is not clean.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh run

.venv/bin/ruff check
.venv/bin/ruff format --check
.venv/bin/mypy
