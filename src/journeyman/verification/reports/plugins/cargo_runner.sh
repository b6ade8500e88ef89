#!/bin/bash
# Cargo starts test binaries through this. Those of the built-in harness write a log of their results.
here="${0%/*}"
case "$1" in */deps/*) ;; *) exec "$@" ;; esac
if [ -n "$NEXTEST" ] || [[ " $* " == *" --list "* ]] || ! grep -qaF "Write logs to the specified file" "$1"; then
  exec "$@"
fi
mapfile -t only < "$here/only"
[ ${#only[@]} -gt 0 ] && only=(--exact "${only[@]}")
log="$here/log.$$"
listed=$("$@" --list --format terse "${only[@]}" 2>/dev/null)
"$@" --logfile "$log" "${only[@]}"
code=$?
name="${1##*/}"
{
  echo "binary $CARGO_PKG_NAME::${name%-*}"
  [ -f "$log" ] && cat "$log"
  echo "listed $(grep -c ': test$' <<< "$listed")"
  echo "end $code"
} > "$here/block.$$"
cat "$here/block.$$" >> "$here/../reports/cargo.log"
exit $code
