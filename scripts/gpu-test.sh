#!/usr/bin/env bash
# Runs the tests that need a GPU (those of `ctest -L gpu`), from a portable build: a GPU machine may lack all that Sonde is built
# with, even ctest.
#
#   scripts/gpu-test.sh build     here: makes build/gpu, a portable Sonde with the test programs, and those of bench/ (needs nvcc)
#   scripts/gpu-test.sh           there, in a copy of this folder: runs them; needs python3 and the NVIDIA driver
#
# It leaves CUPTI's own records of the test program in build/gpu/records: they belong into tests/data/cuda. To measure the cost of
# recording there: build/gpu/bench/gpu_launch, bench/gpu_step.py, bench/correction_accuracy.py --build build/gpu. If libcupti is
# not found, set CUDA_HOME=FOLDER. PyTorch is tested if python3 has it.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "gpu-test.sh: $*" >&2; exit 1; }
folder=build/gpu

if [[ ${1:-} == build ]]; then
  ./scripts/build.sh portable -DSONDE_GUI=OFF -DSONDE_BENCH=ON
  [[ -x build/portable/tests/targets/gpu_training ]] || fail "there is no nvcc: give -DCUDAToolkit_ROOT=FOLDER to cmake"
  [[ -d build/portable/tests/cudasim/cuda13 ]] || fail "there are no headers of CUDA 13.0 or later: see -DCUDAToolkit_ROOT"
  rm -rf "$folder"
  cmake --install build/portable --prefix "$PWD/$folder" --strip >build/gpu_install.log || fail "see build/gpu_install.log"
  mkdir -p "$folder"/{targets,bench,tests/cudasim}
  cp -r build/portable/tests/targets/{gpu_training,libcupti_recorder.so,cupti_replay,cupti_replay_program} "$folder/targets/"
  cp build/portable/bench/{correction_work,correction_cuda,processor_speed,gpu_launch} "$folder/bench/"
  cp -r build/portable/tests/cudasim/cuda13 "$folder/tests/cudasim/"
  echo "$folder is ready: copy this folder to a machine with a GPU and run scripts/gpu-test.sh there"
  exit 0
fi

[[ -x $folder/bin/sonde ]] || fail "$folder is not there: run scripts/gpu-test.sh build where Sonde can be built"
command -v python3 >/dev/null || fail "there is no python3"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || fail "there is no GPU, or no driver"
"$folder/bin/sonde" doctor
mkdir -p "$folder/records"
SONDE_RECORDS=$PWD/$folder/records SONDE_BIN=$PWD/$folder/bin/sonde SONDE_TARGETS=$PWD/$folder/targets exec python3 tests/gpu/gpu_test.py -v
