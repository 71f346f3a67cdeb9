echo "== two"; echo a | cat
echo "== twelve"; echo x | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat
echo "== status"; true | false; echo $?; false | true; echo $?; ! true | false; echo $?
echo "== a reader that ends early"; yes | head -n 3; (yes; echo $? >&2) | head -n 1
echo "== much"; head -c 3000000 /dev/zero | tr '\0' x | cat | wc -c
echo "== many"; i=0; while [ $i -lt 60 ]; do echo $i | cat; i=$((i + 1)); done | md5sum
echo "== of subshells"; (echo a; echo b) | { read -r x; read -r y; echo "$y $x"; }
echo "== in the background"; (echo bg | cat) & wait $!; echo $?
echo "== nested"; (echo 1 | (cat | (cat; echo 2 | cat))) | cat
echo "== into a loop"; seq 5 | while read -r n; do echo "$n" | sed 's/$/!/'; done
echo "== stdin closed"; cat <&-; echo $?
echo "== stdout closed"; echo lost >&-; echo $?; cat /dev/null | cat >&-; echo $?
echo "== all closed"; sh -c 'exec <&- >&- 2>&-; a=$(echo x | cat); exit ${#a}'; echo $?
echo "== a descriptor given on"; { echo out; echo err >&2; } 2>&1 | sort
echo "== swapped"; { { echo out; echo err >&2; } 3>&1 1>&2 2>&3 | tr a-z A-Z; } 2>&1 | sort
echo "== a fifo"; mkfifo fifo; cat fifo & echo through >fifo; wait
echo "== tee"; echo t | tee one two | cat; cat one two
echo "== xargs"; seq 40 | xargs -n 7 echo; seq 8 | xargs -P 4 -n 1 sh -c 'exit 0'; echo $?; echo 1 | xargs false; echo $?
echo "== a command that is not there"; no-such-command 2>/dev/null | cat; no-such-command 2>/dev/null; echo $?
echo "== killed"; sh -c 'kill -KILL $$' | cat; sh -c 'kill -TERM $$'; echo $?
