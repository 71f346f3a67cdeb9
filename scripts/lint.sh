#!/usr/bin/env bash
# clang-format 14 and clang-tidy 14 over the project's own sources; needs a configured build/dev.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.h' '*.cpp' '*.c' ':!third_party')
clang-format --dry-run --Werror "${files[@]}"
mapfile -t sources < <(git ls-files 'analysis/*.cpp' 'collector/*.cpp' 'rules/*.cpp' 'session/*.cpp' 'cli/*.cpp' \
                                    'gui/*.cpp' 'plugins/*.cpp' 'plugins/*.c')
printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 4 clang-tidy --quiet -p build/dev
