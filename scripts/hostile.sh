#!/usr/bin/env bash
# Every hostile case, for a server of root's and for one of an ordinary user; as an ordinary user only the latter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
.venv/bin/pytest tests/hostile --full "$@"
