echo "== exit"; (trap 'echo bye' EXIT; exit 3); echo $?
echo "== a signal"; trap 'echo usr1' USR1; kill -USR1 $$; echo after
echo "== several"; trap 'echo usr2' USR2; kill -USR2 $$; kill -USR1 $$; trap - USR1 USR2
echo "== ignored"; trap '' TERM; kill -TERM $$; sh -c 'kill -TERM $$; echo child ignores it too'; trap - TERM
echo "== default again"; sh -c 'trap "" TERM; trap - TERM; kill -TERM $$; echo not reached'; echo $?
echo "== in a subshell"; trap 'echo parent' USR1; (trap 'echo child' USR1; sh -c 'kill -USR1 $PPID'; :); kill -USR1 $$; trap - USR1
echo "== interrupts wait"; trap 'echo woken' USR1; (sleep 0.2; kill -USR1 $$) & sleep 5 & s=$!; wait $s; echo $?; kill $s; wait $s 2>/dev/null; echo $?; trap - USR1
echo "== during a command"; trap 'echo later' USR1; sh -c "kill -USR1 $$; sleep 0.1; echo first"; trap - USR1
echo "== of a child"; sh -c 'trap "echo term; exit 7" TERM; kill -TERM $$; sleep 5'; echo $?
echo "== to a group"; setsid -w sh -c 'trap "echo got it" TERM; kill -TERM 0; exit 5'; echo $?
echo "== statuses of signals"; for s in INT QUIT KILL TERM HUP USR1 PIPE ALRM SEGV; do sh -c "ulimit -c 0; kill -$s \$\$" 2>/dev/null; echo "$s $?"; done
echo "== zero"; kill -0 $$; echo $?; kill -0 999999999 2>/dev/null; echo $?
echo "== at the end"; trap 'echo end of all' EXIT
