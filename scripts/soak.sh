#!/usr/bin/env bash
# Hand in orders while something is killed every 5 to 40 seconds; prints counts, ends with 1 at any violation.
#   MINUTES=60 SEED=7 scripts/soak.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test

PYTHONPATH=. .venv/bin/python -m tests.faults.soak --minutes "${MINUTES:-10}" --seed "${SEED:-$RANDOM}"
