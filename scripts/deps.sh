#!/usr/bin/env bash
# Installs what Sonde needs on Debian 12, as root or through sudo. Installs only missing packages and names them.
#
#   scripts/deps.sh            all that building, testing and the demo need
#   scripts/deps.sh build      only what building needs
#   scripts/deps.sh test       building and testing
#   scripts/deps.sh demo       building and the demo
#   scripts/deps.sh lint       building, testing and the style checks
#   scripts/deps.sh programs   building, testing and the programs that scripts/host_programs.sh compares
set -euo pipefail

build=(g++ cmake ninja-build git ca-certificates
       libsqlite3-dev libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libsimdjson-dev zlib1g-dev libeigen3-dev libcurl4-openssl-dev
       libprotobuf-dev protobuf-compiler libunwind-dev libdw-dev libelf-dev
       python3 python3-dev qt6-base-dev qt6-svg-dev libgl-dev libgloo-dev)
torch=(python3-torch python3-numpy libopenblas0-pthread)
demo=("${torch[@]}" fonts-dejavu-core)
test=("${torch[@]}" libgtest-dev libgmock-dev groff-base sqlite3 fonts-dejavu-core procps strace
      python3-setuptools python3-wheel python3-protobuf python3-pytest python3-coverage python3-yaml
      libopenmpi-dev openmpi-bin libmpich-dev mpich gfortran
      busybox curl git make perl
      ccache mold)  # not needed: they make the next build quicker
lint=(clang-format clang-tidy python3-venv)
programs=(bzip2 xz-utils zstd openssh-client openssh-server redis-server redis-tools postgresql nginx-light nodejs
          python3-pip python3-venv zsh mksh bc ed jq xxd file gdb valgrind gnupg tmux socat rsync expect ruby lua5.4 gawk tcl vim
          stress-ng libpython3.11-testsuite libglib2.0-tests)
# For the tests of 32-bit programs.
[[ $(dpkg --print-architecture) == amd64 ]] && test+=(gcc-multilib)

case "${1:-all}" in
  all) wanted=("${build[@]}" "${test[@]}" "${demo[@]}") ;;
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  demo) wanted=("${build[@]}" "${demo[@]}") ;;
  lint) wanted=("${build[@]}" "${test[@]}" "${lint[@]}") ;;
  programs) wanted=("${build[@]}" "${test[@]}" "${programs[@]}") ;;
  *) echo "deps.sh: unknown set '$1': use build, test, demo, lint, programs, or nothing for all" >&2; exit 2 ;;
esac

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "deps.sh: need root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "deps.sh: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1; }
# Fetches a new package list only if the present one is not enough.
apt_get install -y --no-install-recommends "${missing[@]}" || {
  apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"
} || { cat "$log" >&2; echo "deps.sh: apt-get failed, see above" >&2; exit 1; }
