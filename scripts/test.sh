#!/usr/bin/env bash
# Everything that must be true before a change is done; stops at the first stage that fails.
# Arguments go to pytest: scripts/test.sh tests/house -x
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
scripts/lint.sh
scripts/web_test.sh
scripts/web.sh

# One worker more than processors, because tests also wait. Each begins with files of its own, so that the tests of a
# file share its server, and takes from the others when it has none left.
workers=$(($(nproc) + 1))
.venv/bin/pytest -n "$((workers < 4 ? workers : 4))" --dist worksteal "$@"
