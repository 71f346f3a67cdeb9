#!/usr/bin/env bash
# Tests both README commands on a bare Debian 12: makes a minimal system with debootstrap, clones this repository into it, and
# runs scripts/demo.sh and scripts/test.sh there. Needs root and debootstrap; takes about half an hour.
#
#   scripts/bare_test.sh [FOLDER]      default: a new folder under $TMPDIR, removed afterwards if all went well
set -euo pipefail
cd "$(dirname "$0")/.."
root=${1:-$(mktemp -d "${TMPDIR:-/tmp}/sonde-bare.XXXXXX")}
./scripts/minimal_debian.sh bookworm "$root"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
git clone -q . "$root/root/sonde"
[[ -d ../shared/data ]] && mkdir -p "$root/root/shared" && cp -r ../shared/data "$root/root/shared/data"

unmount() { umount -R "$root" 2>/dev/null || true; }
trap unmount EXIT
mount --bind "$root" "$root" # tests make mount namespaces, which needs a root that is a mount
mount --make-private "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/sys"
mount --make-rslave "$root/dev"

run() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }
run bash -c 'cd /root/sonde && ./scripts/demo.sh'
run bash -c 'cd /root/sonde && ./scripts/test.sh'
run bash -c 'cd /root/sonde && ./scripts/demo.sh' >/dev/null # safe to run twice
unmount
[[ -n ${1:-} ]] || rm -rf --one-file-system "$root"
echo "bare_test.sh: both commands work on a bare Debian 12"
