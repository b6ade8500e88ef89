#!/usr/bin/env bash
# Every test, those that take long or repeat a promise on another store, agent or user included.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/test.sh --full "$@"
