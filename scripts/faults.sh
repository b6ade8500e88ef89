#!/usr/bin/env bash
# Every test of faults and of agents, those that take minutes included, then the whole crash matrix; prints counts.
#   SEED=7 scripts/faults.sh                 plays the same matrix again
#   scripts/faults.sh --only 'push'          only the cells of the matrix whose name holds this text
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test

if [ $# -eq 0 ]; then
  .venv/bin/pytest tests/faults tests/contracts/test_agents.py --full
fi
PYTHONPATH=. .venv/bin/python -m tests.faults.matrix --seed "${SEED:-$RANDOM}" "$@"
