#!/usr/bin/env bash
# Run every benchmark; each prints ratios that were measured side by side. `scripts/bench.sh --quick` is rougher.
# The agents that ours is measured against are installed into .venv-peers, from bench/requirements-peers.lock.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
scripts/web.sh

stamp=.venv-peers/journeyman.stamp
wanted="$PWD $(sha256sum bench/requirements-peers.lock)"
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
  echo "Installing the agents to measure against"
  .venv/bin/python -m venv --clear .venv-peers
  .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
    -r bench/requirements-peers.lock
  echo "$wanted" >"$stamp"
fi

missed=0
for bench in agent_loop start orders load submit_to_pull_request gateway egress agents environments workspaces web; do
  PYTHONPATH=. .venv/bin/python "bench/$bench.py" "$@" || missed=1
done
exit "$missed"
