#!/usr/bin/env bash
# Set up this machine: system packages, .venv, the package itself. Does nothing where nothing is missing.
#   scripts/setup.sh run    what the product needs
#   scripts/setup.sh test   and what its tests need: PostgreSQL (they start a server of their own), npm, cargo, chromium,
#                           and the agents that others make, in .agents/ of this checkout
#   scripts/setup.sh field  and the toolchains of the repositories that `make field` checks
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=${1:-run}
stamp=.venv/journeyman.stamp

find_python() {
  local name
  for name in python3.13 python3.12 python3.11 python3; do
    if "$name" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  return 1
}

has_postgresql() {
  command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

fingerprint() { # of what is to be installed, and where: a venv that was moved does not work
  pwd
  cat requirements.lock pyproject.toml | sha256sum
}

is_installed() {
  [ -x .venv/bin/python ] && [ -f "$stamp" ] && [ "$(fingerprint)" = "$(cat "$stamp")" ]
}

missing_packages() { # by their Debian names
  command -v git >/dev/null || echo git
  command -v bwrap >/dev/null || echo bubblewrap
  command -v rg >/dev/null || echo ripgrep
  command -v slirp4netns >/dev/null || echo slirp4netns
  command -v setpriv >/dev/null || echo util-linux
  is_installed || find_python >/dev/null || printf '%s\n' python3 python3-venv
  [ "$mode" != run ] || return 0
  has_postgresql || echo postgresql
  # Projects of every kind are verified for real.
  command -v make >/dev/null || echo make
  command -v npm >/dev/null || echo npm
  command -v cargo >/dev/null || echo cargo
  # The clock that jumps in a test is a small library in C.
  command -v cc >/dev/null || printf '%s\n' gcc libc6-dev
  command -v chromium >/dev/null || command -v google-chrome >/dev/null || echo chromium
  [ "$mode" = field ] || return 0
  command -v g++ >/dev/null || echo g++
  command -v cmake >/dev/null || echo cmake
  command -v meson >/dev/null || printf '%s\n' meson ninja-build
  command -v autoreconf >/dev/null || printf '%s\n' autoconf automake libtool
  command -v go >/dev/null || echo golang-go
  command -v bundle >/dev/null || printf '%s\n' ruby ruby-dev bundler
  command -v mvn >/dev/null || printf '%s\n' default-jdk-headless maven
}

give_up() {
  {
    echo "Journeyman needs these packages (named as on Debian), which are not installed: $*"
    if command -v apt-get >/dev/null; then
      echo "As root: apt-get install $*"
    elif command -v dnf >/dev/null; then
      echo "As root: dnf install $(sed 's/python3-venv//; s/postgresql/postgresql-server/' <<<"$*")"
    elif command -v pacman >/dev/null; then
      echo "As root: pacman -S $(sed 's/python3-venv//; s/python3/python/' <<<"$*")"
    elif [ "$(uname)" != Linux ]; then
      echo "The sandbox is made of Linux namespaces: run Journeyman on Linux, or in a Linux virtual machine."
    else
      echo "Install them with this system's package manager, then start again."
    fi
  } >&2
  exit 1
}

install_packages() {
  local root=() drop_in=/etc/postgresql-common/createcluster.d/journeyman.conf status=0
  command -v apt-get >/dev/null || give_up "$@"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "$@"
    root=(sudo)
  fi
  echo "Installing $*"
  # Debian's package would make and start a cluster for the whole machine, which nobody asked for.
  if [[ " $* " == *" postgresql "* ]]; then
    "${root[@]}" mkdir -p "${drop_in%/*}"
    "${root[@]}" tee "$drop_in" >/dev/null <<<"create_main_cluster = false"
  fi
  "${root[@]}" apt-get update -qq || echo "Some package lists could not be refreshed; going on with what is known." >&2
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" || status=$?
  "${root[@]}" rm -f "$drop_in"
  return "$status"
}

install_python() { # uv is faster but does not read pip's configuration, so pip has the last word
  if command -v uv >/dev/null && uv pip install --quiet --python .venv/bin/python "$@"; then
    return
  fi
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"
}

install_agents() { # whose terms of use are accepted by using them, as the command says
  [ "$mode" != run ] || return 0
  JOURNEYMAN_AGENTS_DIRECTORY=$PWD/.agents .venv/bin/jm agents install claude_code opencode codex gemini |
    { grep -v 'was installed already' || true; }
}

case $mode in
  run | test | field) ;;
  *)
    echo "usage: scripts/setup.sh [run|test|field]" >&2
    exit 2
    ;;
esac

mapfile -t missing < <(missing_packages)
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
if is_installed; then
  install_agents
  exit
fi

if ! python=$(find_python); then
  echo "Python 3.11 or newer, with its venv module, is needed and this system has none." >&2
  echo "Install one (for example the packages python3.11 and python3.11-venv) and start again." >&2
  exit 1
fi
if ! .venv/bin/python -c '' 2>/dev/null || { [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" != "$PWD" ]; }; then
  echo "Making .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
fi
echo "Installing the locked requirements"
install_python --require-hashes -r requirements.lock
install_python --no-deps -e .
fingerprint >"$stamp"
install_agents
