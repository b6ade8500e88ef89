#!/bin/bash
# `go test` and `go run` start binaries through this. What test binaries say of each test is kept.
case "$1" in *.test) ;; *) exec "$@" ;; esac
here="${0%/*}"
log="$here/../reports/go.$$.log"
printf '%s\n' "$PWD" > "$log"
verbose=true
grep -qaF test2json "$1" && verbose=test2json
arguments=("-test.v=$verbose")
[ -s "$here/only" ] && arguments+=("-test.run=$(< "$here/only")")
# Where the project asks for all of it, or for JSON, everything is passed on.
if [[ " $* " == *" -test.v="* ]]; then shown=(cat); else
  shown=(
    sed -e '/^\x16\{0,1\}=== \(RUN\|PAUSE\|CONT\|NAME\)/d' -e '/^ *\x16\{0,1\}--- \(PASS\|SKIP\): /d'
    -e 's/\x16\{0,1\}--- \(PASS\|SKIP\): [^ ]* ([0-9.]*s)$//' -e 's/^\x16//'
  )
  set -- "$@" "${arguments[0]}"
fi
"$@" "${arguments[@]:1}" 2>&1 | tee -a "$log" | "${shown[@]}"
code=${PIPESTATUS[0]}
printf '\nend %d\n' "$code" >> "$log"
exit "$code"
