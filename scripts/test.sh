#!/usr/bin/env bash
# Everything that must be true before a change is done; stops at the first stage that fails.
# Arguments go to pytest: scripts/test.sh tests/house -x
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
scripts/lint.sh
scripts/web_test.sh
scripts/web.sh

# Each worker begins with half of the files, so that tests of one file share its server, and takes from the other
# when it is done.
workers=$(nproc)
.venv/bin/pytest -n "$((workers < 4 ? workers : 4))" --dist worksteal "$@"
