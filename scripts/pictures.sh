#!/usr/bin/env bash
# Draws every view of sonde-gui for each trace, to be looked at: OUT/TRACE-VIEW.png. Needs a build, but no display.
#
#   scripts/pictures.sh OUT TRACE…
#
# PRESET (default dev) names the build, SIZE (default 1440x900) the window, THEME (default light) its colours, VIEWS
# some of the views.
set -euo pipefail
if (($# < 2)); then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
root=$(realpath "$(dirname "$0")/..")
out=$1
shift
gui=$root/build/${PRESET:-dev}/bin/sonde-gui
views=${VIEWS:-$(sed -n 's/^- `--view \([a-z|]*\)`.*/\1/p' "$root/docs/gui.md" | tr '|' ' ')}
mkdir -p "$out"

for trace in "$@"; do
  name=$(basename "${trace%.sonde}")
  for view in $views; do
    "$gui" --theme "${THEME:-light}" --size "${SIZE:-1440x900}" --view "$view" --screenshot "$out/$name-$view.png" "$trace"
  done
done
