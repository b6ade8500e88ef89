#!/usr/bin/env bash
# Real public repositories: what `jm doctor` makes of each, beside its documented commands run by hand. Takes long.
#   FIELD_MIRRORS=DIRECTORY scripts/field.sh     takes them from mirrors, as DIRECTORY/<owner>+<name>/repo
#   scripts/field.sh flask express               only these
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh field
.venv/bin/python -m tests.field "$@"
