#!/usr/bin/env bash
# Installs the current PyTorch of PyPI into build/current-torch, for the tests current_torch_*, which are skipped without it.
# Takes a few gigabytes if only the wheels with CUDA are available. Without PyPI or room it reports that and changes nothing.
# `scripts/test.sh --all` runs it; later test runs use the installed copy, too.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/current-torch
room_gib=12

say() { echo "current_torch.sh: $*"; }
decline() {
  say "no current PyTorch for the tests: $*"
  echo "$*" >"$folder.declined"  # they give it as the reason
  exit 0
}

[[ -x $folder/bin/python ]] && exit 0
mkdir -p build
rm -f "$folder.declined"
(($(df --output=avail -B1G build | tail -n 1) >= room_gib)) || decline "it needs $room_gib GiB of disk in build/"
log=$(mktemp)
trap 'rm -rf "$log" "$folder.part"' EXIT
rm -rf "$folder.part"
/usr/bin/python3 -m venv "$folder.part" >"$log" 2>&1 || decline "python3 -m venv failed: apt-get install python3-venv"

install() {
  "$folder.part/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 10 "$@" >>"$log" 2>&1
}
say "installing the current PyTorch into $folder"
# The wheels without CUDA have a tenth of the size, but are not on PyPI.
install torch numpy --index-url https://download.pytorch.org/whl/cpu || install torch numpy ||
  decline "pip cannot install it: $(grep -v '^WARNING' "$log" | tail -n 1)"
"$folder.part/bin/python" -c 'import torch' >"$log" 2>&1 || decline "it cannot be imported: $(tail -n 1 "$log")"
mv "$folder.part" "$folder"
