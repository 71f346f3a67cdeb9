#!/usr/bin/env bash
# Puts faults of the kind that developers make into a copy of the tree, one after the other, and lists those that no test
# catches. By hand: it takes about a minute a fault.
#
#   scripts/mutate.sh               all of tests/mutate/faults.txt
#   scripts/mutate.sh -k PATTERN    those whose name or file matches
#   scripts/mutate.sh -n            only looks whether the faults can still be put in
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 tests/mutate/mutate.py "$@"
