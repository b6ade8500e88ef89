#!/usr/bin/env bash
# The web UI's own checks: style, types, and its components. Browsers, and whether it fits the API, come with pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/web.sh packages
cd web
node_modules/.bin/biome check --error-on-warnings .
node_modules/.bin/tsc --noEmit
node_modules/.bin/vitest run --reporter=dot
