#!/usr/bin/env bash
# Write requirements.lock anew from pyproject.toml: versions and hashes, no address of any registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! uv=$(command -v uv || command -v .venv/bin/uv); then
  echo "uv makes the lock and is not on PATH. Install it, for example with: pip install uv" >&2
  exit 1
fi
"$uv" pip compile pyproject.toml --quiet --universal --python-version 3.11 --extra dev \
  --generate-hashes --no-header --no-annotate --output-file requirements.lock
