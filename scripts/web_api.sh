#!/usr/bin/env bash
# Write the web UI's types anew from the API's own description; with --check, say whether they are stale.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

document=$(mktemp --suffix=.json)
trap 'rm -f "$document"' EXIT
.venv/bin/python - >"$document" <<'PYTHON'
import json

from journeyman.api.application import described

print(json.dumps(described().openapi()))
PYTHON
web/node_modules/.bin/openapi-typescript "$document" --output web/src/api/schema.d.ts "$@" >/dev/null || {
  echo "web/src/api/schema.d.ts does not fit the API any more; scripts/web_api.sh writes it anew." >&2
  exit 1
}
