#!/usr/bin/env bash
# Make the pictures in docs/images anew, from the product as it is now.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
scripts/web.sh
PYTHONPATH=. .venv/bin/python -m tests.web.screenshots
