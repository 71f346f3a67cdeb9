echo "== files"; echo a >f; echo b >>f; cat <f; cat <f >g; cat g; : >f; wc -c <f
echo "== read and write"; printf '0123456789' >rw; exec 5<>rw; head -c 1 <&5 >/dev/null; printf X >&5; exec 5>&-; cat rw; echo
echo "== no clobber"; set -C; echo c >g; echo $?; echo d >|g; set +C; cat g
echo "== duplicates"; exec 3>log 4>&3; echo three >&3; echo four >&4; exec 3>&-; echo four again >&4; exec 4>&-; cat log
echo "== onto itself"; exec 3>self; exec 3>&3; echo x >&3; exec 3>&-; cat self
echo "== closed"; echo x >&7; echo $?; echo y 2>/dev/null >&7; echo $?; exec 3>&-; exec 3>&-; echo $?
echo "== each from 3 to 9"; for n in 3 4 5 6 7 8 9; do eval "exec $n>each$n; echo $n >&$n; exec $n>&-"; done; cat each*
echo "== no such file"; cat <no/such/file; echo $?; echo x >no/such/file; echo $?
echo "== a folder"; echo x >.; echo $?; cat <.; echo $?
echo "== a full disk"; echo x >/dev/full; echo $?; cat rw >/dev/full; echo $?
echo "== of a group"; { echo a; echo b >&2; } >both 2>&1; cat both
echo "== of a function"; f() { cat; echo err >&2; }; echo in | f 2>&1; f <rw >out 2>err; cat out err
echo "== of a loop"; while read -r line; do echo "<$line>"; done <<-end
	one
	two
	end
echo "== inherited"; exec 6>inherited; sh -c 'echo child >&6; (echo grandchild >&6)'; exec 6>&-; cat inherited
echo "== stdin kept"; printf 'a\nb\nc\n' | { read -r x; sh -c 'read -r y; echo "$y"'; echo "$x"; }
echo "== descriptors of a child"; sh -c 'ls /proc/self/fd | wc -l'; (exec 8>eight; ls -l /proc/self/fd | grep -c eight)
echo "== all of the shell's"; ls -l /proc/$$/fd >fds; sed 's/.*[0-9] \([0-9]* ->\)/\1/; s/pipe:.*/pipe/; s,/proc/[0-9]*,/proc/N,' fds | grep -v script; rm fds
