#!/bin/sh
# precompile.sh COMMAND…: runs a command that makes a precompiled header, after removing the old one. With the old one in place
# ccache hashes that instead of the headers, and may return a precompiled header of other headers.
next=false
for argument; do
  if $next; then
    rm -f "$argument"
    break
  fi
  [ "$argument" = -o ] && next=true
done
exec "$@"
