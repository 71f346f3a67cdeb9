#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test that needs no GPU.
#
#   scripts/test.sh            what continuous integration runs
#   scripts/test.sh --all      also the current PyTorch of PyPI, if available (a few gigabytes), the sanitizer
#                              builds, clang-format and clang-tidy, and ten times as many kills
#   scripts/test.sh --require-cuda    fails if the tests on the simulated CUDA device are not built
#   scripts/test.sh -R NAME    further arguments go to ctest
set -euo pipefail
cd "$(dirname "$0")/.."

all=false
cuda=false
while [[ ${1:-} == --all || ${1:-} == --require-cuda ]]; do
  [[ $1 == --all ]] && all=true || cuda=true
  shift
done

./scripts/deps.sh "$($all && echo lint || echo test)"
reference=$(realpath -m ../shared/data)
options=()
[[ -d $reference ]] && options=(-DSONDE_REFERENCE_DATA="$reference")
./scripts/build.sh dev "${options[@]}"
if $all; then
  ./scripts/current_torch.sh
fi
# How often kill_test kills the target and the recorder, and which tests run.
kills=20,10
excluded='gpu|bench|slow'
if $all; then
  kills=200,100
  excluded='gpu|bench'
  export SONDE_SLOW=1
fi
# Many tests wait most of their time, so one more than there are processors runs at once.
# A test that fails is run once more, and named at the end if it passes then.
log=build/dev/test.log
SONDE_KILL_ROUNDS=${SONDE_KILL_ROUNDS:-$kills} ctest --preset dev -j "$(($(nproc) + 1))" -LE "$excluded" --timeout 600 \
  --repeat until-pass:2 "$@" | tee "$log"

if $all; then
  for preset in asan tsan; do
    ./scripts/build.sh "$preset"
    ctest --preset "$preset" "$@"
  done
  ./scripts/lint.sh
fi

# Reports the gaps of this run last.
failed=$(sed -nE 's/^.*Test +#[0-9]+: +(\S+) .*\*\*\*(Failed|Timeout|Exception).*$/\1/p' "$log" | sort -u)
if [[ -n $failed ]]; then
  echo "Passed only when run again; there is something to find in: ${failed//$'\n'/ }"
fi
if not_built=$(grep -hoE '(CUDA|GPU) tests not built: .*' build/dev/build.log); then
  echo "$not_built"
  ! $cuda || exit 1
fi
echo "GPU tests not run: gpu_test. On a machine with a GPU: scripts/gpu-test.sh"
