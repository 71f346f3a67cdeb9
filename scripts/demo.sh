#!/usr/bin/env bash
# Installs what is missing, builds Sonde and profiles a real two-rank PyTorch DDP training run over Gloo: records both
# ranks, merges them, prints the report, checks the rules and writes a screenshot of the timeline.
#
#   scripts/demo.sh [OUTPUT FOLDER]      default: demo-out
set -euo pipefail
[[ $# -gt 0 ]] && out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
out=${out:-$PWD/demo-out}

made=("$out"/rank{0,1}.{log,sonde} "$out"/job.sonde "$out"/timeline.png)

./scripts/deps.sh demo
./scripts/build.sh release -DSONDE_TESTS=OFF -DSONDE_BENCH=OFF
bin=$PWD/build/release/bin
rm -f "${made[@]}"
mkdir -p "$out"

free_port() {
  /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

echo "demo.sh: training on 2 ranks under 'sonde run'"
port=$(free_port)
ranks=()
for rank in 0 1; do
  RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
    "$bin/sonde" run -o "$out/" -- /usr/bin/python3 scripts/demo/train_ddp.py >"$out/rank$rank.log" 2>&1 &
  ranks+=($!)
done
failed=0
for pid in "${ranks[@]}"; do
  wait "$pid" || failed=$?
done
if ((failed != 0)); then
  tail -n 20 "$out"/rank*.log >&2
  echo "demo.sh: a rank failed with status $failed; its output is in $out/rank*.log" >&2
  exit 1
fi

"$bin/sonde" merge -o "$out/job.sonde" "$out/rank0.sonde" "$out/rank1.sonde"
"$bin/sonde" report "$out/job.sonde"
echo
"$bin/sonde" check "$out/job.sonde" || echo "demo.sh: 'sonde check' ended with status $? (see above)"
echo
echo "demo.sh: would the gradients better be reduced in one large bucket? (sonde whatif --bucket-size 25MiB)"
"$bin/sonde" whatif --bucket-size 25MiB "$out/job.sonde"
echo "demo.sh: which settings would make the job fastest? (sonde optimize)"
"$bin/sonde" optimize "$out/job.sonde"
echo
"$bin/sonde-gui" --screenshot "$out/timeline.png" --view timeline --size 1920x1080 "$out/job.sonde"
echo
echo "demo.sh: screenshot in $out/timeline.png; open the window with: $bin/sonde gui $out/job.sonde"
