#!/usr/bin/env bash
# Tests that a portable build runs on a machine without its build dependencies: installs it, copies it into a minimal Debian 12
# that has nothing but a font, and records, imports, reports and makes a picture there. Prints the glibc it needs. Needs root and
# debootstrap; not part of continuous integration.
#
#   scripts/portable_test.sh [INSTALLED FOLDER]      default: builds and installs the portable preset
#
# SONDE_MINIMAL_DEBIAN=FOLDER keeps that system and uses it again.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "portable_test.sh: $*" >&2; exit 1; }
((EUID == 0)) || fail "needs root for chroot"
[[ ${SONDE_PORTABLE_INSIDE:-} == yes ]] ||
  SONDE_PORTABLE_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"

work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-portable.XXXXXX")
root=${SONDE_MINIMAL_DEBIAN:-$work/debian}
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
if (($#)); then
  installed=$1
else
  ./scripts/build.sh portable -DSONDE_TESTS=OFF -DSONDE_BENCH=OFF
  installed=$work/sonde
  cmake --install build/portable --prefix "$installed" --strip >"$work/install.log" ||
    { cat "$work/install.log" >&2; fail "the install failed"; }
fi
[[ -x $root/bin/bash ]] || ./scripts/minimal_debian.sh bookworm "$root" fonts-dejavu-core
mount -t proc proc "$root/proc"
rm -rf "$root/opt/elsewhere"
cp -a "$installed" "$root/opt/elsewhere"

# The newest glibc that any file in FOLDER requires.
glibc_of() {
  find "$@" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec objdump -T {} + 2>/dev/null |
    grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1
}
inside() { chroot "$root" env -i HOME=/root PATH=/opt/elsewhere/bin:/usr/bin:/bin LANG=C.UTF-8 "$@"; }

inside sonde doctor >/dev/null
inside bash -c 'cd /tmp && rm -f r.sonde && sonde run -o r.sonde -- sh -c "true | cat"'
inside sonde report /tmp/r.sonde >/dev/null
[[ $(inside sonde sql /tmp/r.sonde "SELECT count(*) > 1 FROM process" --format csv | tail -n 1) == 1* ]] ||
  fail "nothing was recorded"
inside bash -c 'cd /tmp && rm -f i.sonde && printf %s \
  "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2}]}" |
  gzip >i.json.gz && sonde import -o i.sonde i.json.gz'
[[ $(inside sonde sql /tmp/i.sonde "SELECT dur_ns FROM slice" --format csv | tail -n 1) == 2000* ]] ||
  fail "nothing was imported"
inside sonde-gui --screenshot /tmp/r.png --size 640x480 /tmp/r.sonde
[[ $(stat -c %s "$root/tmp/r.png") -gt 5000 ]] || fail "the picture is empty"
unresolved=$(inside bash -c 'find /opt/elsewhere -name "*.so*" -o -path "*/bin/sonde*" | while read -r file; do
  LD_LIBRARY_PATH=/opt/elsewhere/lib/sonde/bundled /lib64/ld-linux-x86-64.so.2 --list "$file" | grep "not found"; done' || true)
[[ -z $unresolved ]] || fail "not bundled: $unresolved"
# The only library that a program may take from the machine is glibc, although the minimal system has more.
glibc='^(linux-vdso|/.*/ld-linux-[^/]*|lib(c|m|dl|rt|pthread|resolv))[.]so'
of_sonde=()
for program in "$installed"/bin/sonde*; do
  while read -r library _ path _; do
    if [[ $path == /opt/elsewhere/* ]]; then
      [[ $program != */sonde ]] || of_sonde+=("$(realpath "$installed${path#/opt/elsewhere}")")
    elif [[ ! $library =~ $glibc ]]; then
      fail "${program##*/} takes $library from the machine ($path)"
    fi
  done < <(inside /lib64/ld-linux-x86-64.so.2 --list "/opt/elsewhere/bin/${program##*/}")
done
echo "portable_test.sh: sonde needs $(glibc_of "$installed/bin/sonde" "${of_sonde[@]}"), the libraries in the job" \
  "$(glibc_of "$installed"/lib/sonde/*.so "$installed/lib/sonde/python"), sonde-gui $(glibc_of "$installed/bin/sonde-gui" "$installed/lib/sonde/bundled")"
echo "portable_test.sh: $(du -sm "$installed" | cut -f1) MB run in a minimal Debian 12"
