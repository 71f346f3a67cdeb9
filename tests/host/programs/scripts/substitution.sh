echo "== plain"; a=$(echo x; echo y); echo "$a"; echo `echo back`; echo "$(echo "$(echo "$(echo deep)")")"
echo "== status"; a=$(exit 6); echo $?; a=$(false) || echo failed
echo "== trailing newlines"; a=$(printf 'x\n\n\n'); printf '<%s>\n' "$a"
echo "== large"; a=$(head -c 500000 /dev/zero | tr '\0' z); echo ${#a}
echo "== of a file"; echo content >f; a=$(cat <f); echo "$a"
echo "== many"; n=0; while [ $n -lt 80 ]; do n=$(expr $n + 1); done; echo $n
echo "== of a background command"; a=$(sleep 0.1 & echo at once); echo "$a"
echo "== stderr inside"; a=$(echo e 2>&1 >&2) 2>/dev/null; echo "<$a>"; a=$({ echo e >&2; } 2>&1); echo "<$a>"
echo "== stdout closed"; a=$(exec >&-; echo x 2>/dev/null); echo "<$a> $?"
echo "== read of a subshell"; echo "1 2" | (read -r a b; echo "$b"); a=kept; (a=lost; echo "$a"); echo "$a"
echo "== pipes within"; echo $(seq 10 | sort -rn | head -n 3 | tr '\n' ,)
echo "== pids"; a=$(sh -c 'echo $PPID'); [ "$a" -gt 0 ] && echo a pid; [ "$(sh -c 'echo $PPID')" = $$ ] || echo of a subshell
echo "== arithmetic"; echo $((1 << 20)) $((7 % 3)) $(( $(echo 3) * 4 ))
