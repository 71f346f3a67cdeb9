#!/usr/bin/env bash
# Makes a minimal Debian system in a folder, from the mirror that this system uses. Needs root and debootstrap.
#
#   scripts/minimal_debian.sh SUITE FOLDER [PACKAGE,PACKAGE…]
set -euo pipefail
suite=$1 root=$2 packages=${3:-}
fail() { echo "minimal_debian.sh: $*" >&2; exit 1; }
((EUID == 0)) || fail "needs root for debootstrap and chroot"
command -v debootstrap >/dev/null || fail "install debootstrap first"

# sources.list itself may be absent.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  sed -nE 's/^(deb .*|URIs:) *(\[.*\] *)?(https?:[^ ]+\/debian)\/?( .*)?$/\3/p' | sort -u | sed -n 1p || true)
debootstrap --variant=minbase ${packages:+--include="$packages"} "$suite" "$root" ${mirror:+"$mirror"} \
  >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; fail "debootstrap failed, see above"; }
rm -f "$root.log"
chmod 755 "$root" # one made by mktemp would be closed to all other users of the new system
