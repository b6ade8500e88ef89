#!/usr/bin/env bash
# Remove what set-up, tests and builds made in this directory. The home, with orders and repositories, is not here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rm -rf .venv .venv-peers web/node_modules src/journeyman/web_dist .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
find . -name node_modules -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
