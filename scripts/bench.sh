#!/usr/bin/env bash
# Run every benchmark; each prints ratios that were measured side by side.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test

for bench in bench/[!_]*.py; do
  echo "== $bench"
  PYTHONPATH=. .venv/bin/python "$bench"
done
