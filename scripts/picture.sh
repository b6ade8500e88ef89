#!/usr/bin/env bash
# Draw the rooms of the house for docs/explanation/the-house.md, from the imports as they are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
PYTHONPATH=. .venv/bin/python -m tests.house.picture
