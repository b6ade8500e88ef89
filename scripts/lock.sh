#!/usr/bin/env bash
# Write the locks anew: requirements.lock from pyproject.toml, and those of the agents that npm installs.
# Versions and hashes, no address of any registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! uv=$(command -v uv || command -v .venv/bin/uv); then
  echo "uv makes the lock and is not on PATH. Install it, for example with: pip install uv" >&2
  exit 1
fi
"$uv" pip compile pyproject.toml --quiet --universal --python-version 3.11 --extra dev \
  --generate-hashes --no-header --no-annotate --output-file requirements.lock
for bundle in src/journeyman/agents/packages/*/; do
  rm -f "$bundle/package-lock.json"
  npm install --prefix "$bundle" --package-lock-only --no-audit --no-fund --loglevel=error
  sed -i '/"resolved":/d' "$bundle/package-lock.json"
done
