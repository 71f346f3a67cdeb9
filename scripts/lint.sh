#!/usr/bin/env bash
# Runs clang-format 14 and clang-tidy 14 on the project's own sources.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.h' '*.cpp' '*.c' ':!third_party')
clang-format --dry-run --Werror "${files[@]}"
mapfile -t sources < <(git ls-files 'base/*.cpp' 'analysis/*.cpp' 'collector/*.cpp' 'rules/*.cpp' 'recorder/*.cpp' 'cli/*.cpp' \
                                    'gui/*.cpp' 'plugins/*.cpp' 'plugins/*.c')
# Makes each file's own compile command, and the generated headers.
cmake --preset dev -B build/lint -DSONDE_QUICK_BUILD=OFF -DSONDE_TESTS=OFF >/dev/null
cmake --build build/lint --target sonde_chakra_format >/dev/null
printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 4 clang-tidy --quiet -p build/lint
