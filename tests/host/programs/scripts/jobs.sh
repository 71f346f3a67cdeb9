echo "== statuses"; (exit 3) & a=$!; (exit 4) & b=$!; wait $a; echo $?; wait $b; echo $?; wait; echo $?
echo "== twice"; (exit 5) & p=$!; wait $p; echo $?; wait $p 2>/dev/null; echo $?
echo "== no child"; wait 1 2>/dev/null; echo $?
echo "== forty"; n=0; while [ $n -lt 40 ]; do (echo $n >job$n) & n=$((n + 1)); done; wait; cat job* | sort -n | md5sum
echo "== killed"; sleep 30 & kill $!; wait $! 2>/dev/null; echo $?; sleep 30 & kill -9 $!; wait $! 2>/dev/null; echo $?
echo "== stopped"; sleep 30 & p=$!; kill -STOP $p; sleep 0.1; sed 's/.*) \(.\).*/\1/' /proc/$p/stat; kill -CONT $p; kill $p; wait $p 2>/dev/null; echo $?
echo "== a pipeline in the background"; seq 1000 | sort -r | head -n 2 >top & wait; cat top
echo "== input of the background"; cat & wait $!; echo $?
echo "== timeout"; timeout 0.2 sleep 30; echo $?; timeout -s KILL 0.2 sleep 30; echo $?; timeout 20 true; echo $?
echo "== nice and nohup"; nice -n 5 nice; nohup echo hup 2>&1; setsid -w echo session
echo "== parents"; sh -c 'sh -c "exit 9" & wait $!; exit $?'; echo $?
echo "== job control"; set -m 2>/dev/null; sleep 1 & kill %1 2>/dev/null; wait %1 2>/dev/null; echo $?; (exit 6) & wait %%; echo $?
echo "== groups"; sh -c 'exit 2' & wait $!; echo $?; sleep 0.1 & fg >/dev/null 2>&1; echo $?
echo "== orphans"; (sh -c '(sleep 0.3; echo orphan >orphaned) & exit 0'); sleep 0.8; cat orphaned
