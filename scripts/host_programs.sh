#!/usr/bin/env bash
# Compares real programs with themselves: bare, and under `sonde run` with the default sources and with all host sources.
#
#   scripts/host_programs.sh           shells, tools, interpreters and servers: a quarter of an hour
#   scripts/host_programs.sh --all     also the test suites of CPython and GLib: two hours and more
#   scripts/host_programs.sh --only REGEX …    further arguments go to tests/host/programs/compare.py
#
# Keeps results in build/dev/host_programs.json, so that it can be done in parts; prints the table of all of them at the end. As
# root it also compares PostgreSQL and sshd.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=()
if [[ ${1:-} == --all ]]; then
  suites=(--suites)
  shift
fi
results=build/dev/host_programs.json
compare=(python3 tests/host/programs/compare.py)

./scripts/deps.sh programs
./scripts/build.sh dev
status=0
"${compare[@]}" --sonde build/dev/bin/sonde --results "$results" "${suites[@]}" "$@" || status=$?
"${compare[@]}" --table "$results"
exit "$status"
