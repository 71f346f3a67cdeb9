seq 20000 >numbers
echo "== sort"; shuf --random-source=numbers numbers | sort -n -S 32K --parallel=4 -T . | md5sum; sort -R --random-source=numbers numbers | head -n 2
echo "== split"; split -n 3 numbers part; wc -c part*; split -l 5000 --filter='wc -l >$FILE.count' numbers f; cat f*.count
echo "== dd"; dd if=numbers of=copy bs=1000 count=5 skip=1 2>/dev/null; cksum copy; dd if=numbers bs=7 count=2 status=none | od -c | head -n 2
echo "== dd to an end that is closed"; dd if=/dev/zero bs=64K count=64 status=none | head -c 10 | wc -c
echo "== cp"; truncate -s 3M sparse; echo x >>sparse; cp --sparse=always sparse holes; cmp sparse holes; cp -a numbers kept; cp --reflink=auto numbers linked; cp -r . /dev/null 2>/dev/null; echo $?
echo "== mv and ln"; mkdir d; mv copy d/; ln -s d/copy sym; readlink -f sym | sed 's,.*/work,,'; ln numbers hard; stat -c %h hard; mv d/copy /dev/shm/copied.$$ && wc -c </dev/shm/copied.$$; rm /dev/shm/copied.$$
echo "== du and ls"; du -ab d | sort; ls -l numbers | cut -d' ' -f 1,2; find . -type f -newer d -name 'no*' | sort; df . >/dev/null; echo $?
echo "== text"; paste -sd+ - <d/none 2>/dev/null; head -n 3 numbers | paste -sd+ -; tac numbers | head -n 1; nl numbers | tail -n 1; comm -12 numbers numbers | wc -l; join numbers numbers 2>/dev/null | wc -l; fold -w 3 numbers | wc -l; tr 1 2 <numbers | uniq -c | wc -l; cut -c 1 numbers | sort | uniq -c; expand numbers | sum; shuf -i 1-9 -n 9 | sort | tr -d '\n'; echo
echo "== sums"; for s in md5sum sha1sum sha256sum b2sum cksum; do $s numbers; done; sha256sum numbers | sha256sum -c; base64 numbers | base64 -d | cmp - numbers
echo "== tail"; (sleep 0.2; echo more >>grown) & echo first >grown; timeout 1 tail -f grown; echo $?; sleep 0.4 & tail --pid=$! -f grown; tail -c 4 numbers; tail -n +19999 numbers
echo "== timeout, env, nice"; timeout --preserve-status -s INT 0.1 sleep 9; echo $?; env -u HOME sh -c 'echo ${HOME-unset}'; env -C d pwd | sed 's,.*/,,'; env -S 'echo split me'
echo "== stdbuf"; stdbuf -oL cat numbers | head -n 1; (echo a; sleep 0.1; echo b) | stdbuf -i0 -o0 cat
echo "== errors"; cat d; cat none; ls none; cp none d; rm d; mkdir d; rmdir d; ln -s x sym; touch none/x; chmod u+x none; head -c 1x numbers; sort --bad 2>/dev/null; echo $?
echo "== full"; for c in "cat numbers" "sort numbers" "head numbers" "seq 9" "dd if=numbers status=none"; do $c >/dev/full; echo $?; done; tee /dev/full <numbers | tail -n 1
echo "== closed"; cat numbers >&-; echo $?; sort <&-; echo $?; ls >&-; echo $?; date >&-; echo $?; dd <&- status=none; echo $?
echo "== pipes of all sizes"; for n in 1 4095 4096 4097 65535 65536 65537 1048577; do head -c $n /dev/zero | cat | dd bs=$n iflag=fullblock status=none | wc -c; done
echo "== special files"; mkfifo p; cat p & cat numbers >p; wait; mktemp -u XXXX | wc -c; sync numbers; install -m 600 numbers i; stat -c %a i; shred -u i; test -e i; echo $?
echo "== who"; id -u; nproc --ignore=99; printenv TZ; date -u -d @0; uname -s; factor 1000000007; numfmt --to=iec 1048576; expr 6 \* 7; tty; logname 2>/dev/null | wc -l; arch | wc -l
