echo "== process substitution"; cat <(echo a) <(echo b); diff <(seq 3) <(seq 2); echo to | tee >(cat >tee_out) >/dev/null; sleep 0.3; cat tee_out
echo "== a coprocess"; coproc CO { while read -r x; do echo "got $x"; done; }; p=$CO_PID; echo one >&"${CO[1]}"; read -r y <&"${CO[0]}"; echo "$y"; exec {CO[1]}>&-; wait "$p"; echo $?
echo "== descriptors by name"; exec {fd}>named; echo "$fd"; echo x >&"$fd"; exec {fd}>&-; cat named
echo "== descriptors with two digits"; exec 25>high; echo h >&25; exec 25>&-; cat high
echo "== moved"; exec 3>moved; exec 4>&3-; echo m >&4; exec 4>&-; cat moved; echo x 2>/dev/null >&3 || echo closed
echo "== pipefail"; set -o pipefail; false | true; echo $?; true | true; echo $?; set +o pipefail; false | true | false; echo "${PIPESTATUS[*]}"
echo "== lastpipe"; shopt -s lastpipe; echo last | read -r z; echo "$z"
echo "== mapfile"; mapfile -t lines < <(seq 4); echo "${#lines[@]} ${lines[3]}"
echo "== both"; { echo o; echo e >&2; } |& sort; { echo o; echo e >&2; } &>both; sort both
echo "== here strings"; cat <<<"here $((1 + 1))"; read -r a b <<<"x y"; echo "$b"
echo "== read with a time limit"; read -r -t 0.2 x < <(sleep 5); echo $(( $? > 128 ))
echo "== wait -n"; (sleep 0.1; exit 3) & (sleep 5) & wait -n; echo $?; { kill %2; wait; } 2>/dev/null
echo "== a socket"; exec 3<>/dev/tcp/127.0.0.1/1 || echo refused
echo "== BASHPID"; [ "$BASHPID" = $$ ] && ( [ "$BASHPID" != $$ ] ) && echo differs
echo "== err and debug traps"; (trap 'echo err' ERR; false; true); (trap 'echo return' RETURN; f() { :; }; f; set -T; f)
echo "== job table"; exec 9>&2 2>/dev/null; set -m; sleep 20 & sleep 20 & jobs -r | sed 's/\[\(.\)\]./[\1]/'; kill %1 %2; wait 2>/dev/null; echo $?; exec 2>&9 9>&-
echo "== suspend"; sh -c 'kill -STOP $$; echo resumed' & sleep 0.2; jobs -s | wc -l; kill -CONT %1; wait; echo $?
