#!/usr/bin/env bash
# Configures and builds one preset (default: release) quietly; shows the log if it fails.
#
#   scripts/build.sh [PRESET] [CMake cache options…]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
mkdir -p "build/$preset"
log="build/$preset/build.log"
echo "build.sh: building preset '$preset' in build/$preset (log: $log)"
{ cmake --preset "$preset" "$@" && cmake --build --preset "$preset"; } >"$log" 2>&1 || {
  tail -n 60 "$log" >&2
  echo "build.sh: the build failed; the whole log is in $log" >&2
  exit 1
}
