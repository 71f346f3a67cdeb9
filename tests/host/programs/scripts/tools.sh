echo "== sed, awk, grep"; seq 100 | sed -n '/5/p' | awk '{s += $1; print | "sort -rn | head -n 2"} END {close("sort -rn | head -n 2"); print s}'; awk 'BEGIN {"echo x | cat" | getline v; print v; while (("seq 3") | getline n) print n; print system("exit 3")}'; seq 50 | grep -c 4
echo "== awk by pipes"; awk 'BEGIN {cmd = "cat >awked"; print "to a pipe" | cmd; close(cmd); while ((getline l <"awked") > 0) print l; print "e" >"/dev/stderr"; fflush()}'
echo "== find and xargs"; mkdir -p a/b/c; touch a/1 a/b/2 a/b/c/3; find a -type f -exec sh -c 'echo "$1" | rev' _ {} \; | sort; find a -type f -print0 | xargs -0 -P 3 -n 1 basename | sort; find a -type f -execdir cat {} + ; find a -delete; ls
echo "== diff and patch"; seq 20 >one; sed 's/^7$/seven/' one >two; diff -u --label one --label two one two >p; echo $?; cat p; patch -s one p 2>/dev/null; cmp one two; diff3 one two one; sdiff -s one two; echo $?
echo "== bc, dc, m4"; echo '2^100; scale=5; 1/7' | bc; command -v m4 >/dev/null && echo 'define(x, esyscmd(echo y | cat))x' | m4
echo "== ed and ex"; command -v ed >/dev/null && printf '1,$s/1/X/\n!echo hi | cat\nw out\nq\n' | ed -s two && head -n 1 out
echo "== jq, xxd, file"; echo '{"a": [1, 2]}' | jq -c '.a | map(. + 1)'; echo abc | xxd | xxd -r; file -b two; od -An -tx1 p | head -n 1
echo "== openssl"; echo secret | openssl enc -aes-256-cbc -pbkdf2 -pass pass:x -nosalt | openssl enc -d -aes-256-cbc -pbkdf2 -pass pass:x -nosalt; openssl dgst -sha256 two; openssl rand 16 | wc -c; openssl genpkey -algorithm ed25519 2>/dev/null | openssl pkey -pubout | wc -l
echo "== flock"; flock -n lock sh -c 'flock -n lock true; echo $?'; (flock 9; echo locked) 9>lock; flock -w 0.2 lock -c 'flock -w 0.2 lock -c true; echo $?'
echo "== script, with a terminal"; script -qefc 'tty | sed "s/[0-9]//g"; stty size; echo a | cat; exit 3' /dev/null </dev/null; echo $?
echo "== ps, kill, fuser"; sleep 30 & ps -o comm= -p $!; kill $!; wait $! 2>/dev/null; pgrep -P $$ | wc -l; ps -o comm= --ppid $$ | sort -u
echo "== gcc, as and ld, by pipes"; command -v gcc >/dev/null && echo 'int puts(const char*); int main(void) { return puts("compiled") < 0; }' | gcc -pipe -O2 -x c - -o prog && ./prog
echo "== strace"; command -v strace >/dev/null && strace -qq -f -e trace=close -o /dev/null sh -c 'echo traced | cat'; echo $?
echo "== gdb"; command -v gdb >/dev/null && gdb -q -nx -batch -ex 'run' -ex 'info inferiors' --args /bin/true 2>&1 | grep -c 'exited normally'
