#!/usr/bin/env bash
# Set up and start Journeyman. The first start of a home also shows it at work, on a sample repository.
# It is configured by the environment, as `jm serve` is: see docs/reference/settings.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh run
scripts/web.sh || echo "The web UI could not be built; going on without it. Everything else works." >&2

# Port 0 means any free one; it is chosen here, because the demo has to find the server.
place=$(
  .venv/bin/python - <<'PYTHON'
import os
import socket
import sys

from journeyman.errors import JourneymanError
from journeyman.settings import load_settings

try:
    settings = load_settings()
except JourneymanError as error:
    sys.exit(f"{error.message}\n{error.hint}")
is_v6 = ":" in settings.host
address = f"[{settings.host}]" if is_v6 else settings.host
family = socket.AF_INET6 if is_v6 else socket.AF_INET
try:
    with socket.create_server((settings.host, settings.port), family=family) as server:
        port = server.getsockname()[1]
except OSError as error:
    sys.exit(
        f"Journeyman cannot listen on {address}:{settings.port}: {os.strerror(error.errno)}.\n"
        f"If it runs there already, use it at http://{address}:{settings.port} or stop it first.\n"
        f"Another port: JOURNEYMAN_PORT={settings.port + 1} make run"
    )
print(settings.home, port, f"http://{address}:{port}", sep="\n")
PYTHON
)
{ read -r home && read -r JOURNEYMAN_PORT && read -r JOURNEYMAN_URL; } <<<"$place"
export JOURNEYMAN_PORT JOURNEYMAN_URL

.venv/bin/jm migrate
if [ -e "$home/demo-done" ]; then
  exec .venv/bin/jm serve
fi

is_ready() {
  .venv/bin/python -I -c 'import sys, urllib.request as web
web.build_opener(web.ProxyHandler({})).open(sys.argv[1], timeout=5)' "$JOURNEYMAN_URL/ready" 2>/dev/null
}

stop_server() {
  kill -TERM "$server" 2>/dev/null || true
  wait "$server" || true
}

# A session of its own keeps Ctrl-C from reaching the server twice: once from the terminal, once from here.
mkdir -p "$home"
log="$home/first-start.log"
setsid .venv/bin/jm serve >"$log" 2>&1 &
server=$!
trap stop_server EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

deadline=$((SECONDS + 60))
until is_ready; do
  if ! kill -0 "$server" 2>/dev/null || [ "$SECONDS" -gt "$deadline" ]; then
    cat "$log" >&2
    echo "The server did not become ready; above is what it said." >&2
    exit 1
  fi
  sleep 0.2
done

if .venv/bin/jm demo; then
  touch "$home/demo-done"
else
  echo "The sample order did not succeed; the next start tries it again. The server's log: $log" >&2
fi

cat <<TEXT

Journeyman is running at $JOURNEYMAN_URL. Ctrl-C stops it; orders that are under way go on at the next start.
From another terminal, in this directory:

  export JOURNEYMAN_URL=$JOURNEYMAN_URL
  .venv/bin/jm doctor                                  what is set up, and what is missing
  .venv/bin/jm run "TASK" --repository DIR --model M   hand over a work order and watch it
  .venv/bin/jm list                                    every order so far

The server's log: $log
TEXT
wait "$server"
