#!/usr/bin/env bash
# Tests that the built libsonde_preload.so does no harm on an older Debian. Makes a minimal Debian 11 (glibc 2.31) with
# debootstrap, runs programs in it with and without the library, compares status and output, and looks for the spool file of each.
# Needs root, debootstrap, python3 and a build; not part of continuous integration.
#
#   scripts/old_debian_test.sh [PRESET]      default: dev
#
# SONDE_OLD_DEBIAN=FOLDER keeps that system and uses it again. Mounts are made in a mount namespace and end with it.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "old_debian_test.sh: $*" >&2; exit 1; }
((EUID == 0)) || fail "needs root for chroot"
[[ ${SONDE_OLD_DEBIAN_INSIDE:-} == yes ]] ||
  SONDE_OLD_DEBIAN_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"

preset=${1:-dev}
library=build/$preset/lib/sonde/libsonde_preload.so
[[ -f $library ]] || fail "no $library: build it first with scripts/build.sh $preset"
root=${SONDE_OLD_DEBIAN:-$(mktemp -d "${TMPDIR:-/tmp}/sonde-old.XXXXXX")}
remove() {
  umount "$root/proc" 2>/dev/null || true
  [[ -n ${SONDE_OLD_DEBIAN:-} ]] || rm -rf --one-file-system "$root"
}
trap remove EXIT
[[ -x $root/usr/bin/git ]] || ./scripts/minimal_debian.sh bullseye "$root" perl,git
mount -t proc proc "$root/proc"
mkdir -p "$root/sonde"
cp "$library" "$root/sonde/"
version=$(sed -nE 's/.*kSpoolVersion = ([0-9]+);.*/\1/p' collector/wire/*.h)
[[ -n $version ]] || fail "collector/wire does not say kSpoolVersion any more"

inside() { chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"; }

# wire::SessionPage: version, probes, limit, allocated, recording, refused.
new_session() {
  rm -rf "$root/sonde/session"
  mkdir -m 700 "$root/sonde/session"
  python3 -c 'import struct, sys
sys.stdout.buffer.write(struct.pack("<IIQQII", int(sys.argv[1]), 0xFFFFFFFF, 64 << 20, 0, 1, 0).ljust(4096, b"\0"))' \
    "$version" >"$root/sonde/session/session"
}

programs=0
# compare IMAGES WORDS…: the same with and without the library, and at least IMAGES spool files.
compare() {
  local wanted=$1 plain recorded found
  shift
  plain=$(inside "$@" 2>&1 && echo "status 0" || echo "status $?")
  new_session
  recorded=$(inside LD_PRELOAD=/sonde/libsonde_preload.so SONDE_SESSION=/sonde/session "$@" 2>&1 &&
    echo "status 0" || echo "status $?")
  [[ $recorded == "$plain" ]] || fail "$* differs:"$'\n'"$(diff <(echo "$plain") <(echo "$recorded") || true)"
  found=$(find "$root/sonde/session" -name '*.spool' | wc -l)
  ((found >= wanted)) || fail "$*: $found spool files, not $wanted"
  programs=$((programs + 1))
  echo "ok: $* ($found spool files)"
}

inside ldd --version | sed -n 1p
compare 1 bash -c 'for i in 3 1 2; do echo $i; done; exit 4'
compare 3 bash -c 'printf "b\na\n" | sort | cat; kill -TERM $$'
compare 1 perl -e 'print join(",", map { $_ * 2 } 1 .. 4), "\n"; exit 7'
compare 3 perl -e 'print `echo deep`; system("exit 3"); print $? >> 8, "\n"'
compare 2 perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0); if (!fork) { syswrite $a, "x" x 9999; exit 0 }
  wait; sysread $b, my $got, 99999; print length $got, "\n"'
compare 1 git --version
compare 2 sh -c 'rm -rf /tmp/r && git init -q /tmp/r && git -C /tmp/r -c user.name=n -c user.email=e commit -q --allow-empty -m m && git -C /tmp/r log --format=%s'
compare 1 env -i /bin/echo bare
echo "old_debian_test.sh: $programs programs are unharmed"
