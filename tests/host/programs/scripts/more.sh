# One of several programs, by the name in $1.
case $1 in
gpg)
  export GNUPGHOME=$PWD/g; mkdir -m 700 g; gpg --batch -q --passphrase '' --quick-gen-key me@example.org ed25519 sign never 2>/dev/null; echo $?
  echo text >f; gpg --batch -q --sign f; gpg --batch -q --verify f.gpg 2>/dev/null; echo $?; gpg -q -c --batch --passphrase x <f | gpg -q -d --batch --passphrase x; gpgconf --kill all; gpg --list-keys 2>/dev/null | grep -c uid ;;
cmake)
  mkdir s; echo 'int f(int x) { return x; }' >s/a.c; cp s/a.c s/b.c; sed -i s/f/g/ s/b.c; echo 'int f(int); int g(int); int main(void) { return f(1) + g(2); }' >s/m.c
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(p C)\nadd_executable(m a.c b.c m.c)\nexecute_process(COMMAND echo a COMMAND cat OUTPUT_VARIABLE o)\nmessage(STATUS "got ${o}")\nenable_testing()\nadd_test(NAME t COMMAND m)\n' >s/CMakeLists.txt
  cmake -S s -B b -G Ninja | grep -v compiler; ninja -C b -j 3 | tail -n 1; (cd b && ctest -j 2 2>&1 | grep -v sec); b/m; echo $?; cmake -S s -B u -G 'Unix Makefiles' >/dev/null; make -s -C u -j 3 2>&1 | tail -n 1; u/m; echo $? ;;
tmux)
  tmux -L t -f /dev/null new-session -d -x 80 -y 24 'echo typed | tr a-z A-Z; exec sleep 30'; i=0; while ! tmux -L t capture-pane -p | grep '^TYPED' && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done; tmux -L t list-sessions | wc -l; tmux -L t split-window 'echo x'
  # tmux may miss two children that end at once and then wait for ever, even without Sonde: once in 150 runs.
  i=0; while [ $(tmux -L t list-panes | wc -l) -gt 1 ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
  tmux -L t run-shell 'echo ran'; tmux -L t kill-server; echo $? ;;
socat)
  socat UNIX-LISTEN:s,fork EXEC:'tr a-z A-Z' & p=$!; while [ ! -S s ]; do sleep 0.05; done; for n in 1 2 3; do echo "hello $n" | socat -t 2 - UNIX-CONNECT:s; done; kill $p; wait $p; echo $?
  echo through | socat - EXEC:cat,pipes; echo file | socat -u - CREATE:f; socat -u FILE:f -; echo d | socat -t 1 - SYSTEM:'cat; echo err >&2' ;;
rsync)
  mkdir -p a/b; seq 20000 >a/f; seq 5 >a/b/g; ln -s f a/l; rsync -a a/ c; diff -r a c && echo same; echo more >>a/f; rsync -a --stats a/ c | grep -E 'Number of (regular )?files transferred|Literal'; rsync -a -e "sh -c 'shift; exec \"\$@\"' sh" a/ host:"$PWD"/d; diff -r a d && echo same; rsync -a --delete --exclude b a/ none/none/x; echo $? ;;
expect)
  expect -c 'log_user 0; spawn sh -c {read x; echo got $x | cat; exit 3}; send "typed\r"; expect -re {got (\w+)}; puts $expect_out(1,string); expect eof; puts [lindex [wait] 3]; puts [exec sh -c {echo piped | cat}]' ;;
ruby)
  ruby -e 'puts `echo a | cat`; IO.popen("cat", "r+") { |p| p.puts "p"; p.close_write; puts p.read }; r, w = IO.pipe; fork { r.close; w.puts "child"; exit! 3 }; w.close; puts r.read; Process.wait; puts $?.exitstatus; puts spawn("exit 4").then { |p| Process.wait(p); $?.exitstatus }; t = 4.times.map { |n| Thread.new { `echo #{n}` } }; puts t.map(&:value).join; require "socket"; s = TCPServer.new("127.0.0.1", 0); Thread.new { c = s.accept; c.puts "served"; c.close }; puts TCPSocket.new("127.0.0.1", s.addr[1]).read; trap("USR1") { puts "usr1" }; Process.kill("USR1", $$); sleep 0.2; require "open3"; puts Open3.capture3("cat; echo e >&2", stdin_data: "in").first(2).inspect; begin; IO.for_fd(999); rescue => e; puts e.class; end; require "pty"; PTY.spawn("echo terminal") { |o, i, p| puts o.gets }' ;;
lua) lua5.4 -e 'local p = io.popen("seq 3 | sort -r"); print(p:read("a")); print(p:close()); p = io.popen("cat", "w"); p:write("w\n"); print(p:close()); print(os.execute("exit 3")); print(io.open("/no/such")); local f = io.tmpfile(); f:write("t"); f:seek("set"); print(f:read("a"))' ;;
gawk) gawk 'BEGIN { c = "sort -r"; print "a\nb" |& c; close(c, "to"); while ((c |& getline l) > 0) print l; s = "/inet/tcp/0/127.0.0.1/1"; print (s |& getline); print PROCINFO["ppid"] > 0; "echo x | cat" | getline y; print y; system("exit 0") }' 2>&1 ;;
tcl) echo 'puts [exec echo a | cat | tr a b]; set p [open "|cat" r+]; puts $p x; flush $p; puts [gets $p]; close $p; catch {exec false} e; puts $e; set s [socket -server {apply {{c a p} {puts $c hi; close $c}}} -myaddr 127.0.0.1 0]; set c [socket 127.0.0.1 [lindex [fconfigure $s -sockname] 2]]; fileevent $c readable {puts [gets $c]; set done 1}; vwait done' | tclsh ;;
sshd)
  ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f me; chmod 700 .; port=$(/usr/bin/python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
  printf 'HostKey %s/host\nAuthorizedKeysFile %s/me.pub\nStrictModes no\nUsePAM no\nPidFile none\nListenAddress 127.0.0.1\nPort %s\nSubsystem sftp internal-sftp\nPermitRootLogin yes\n' "$PWD" "$PWD" "$port" >conf; mkdir -p /run/sshd
  /usr/sbin/sshd -D -e -f conf 2>log & p=$!; i=0; while ! grep -q listening log && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
  o="-F none -i me -o StrictHostKeyChecking=no -o UserKnownHostsFile=known -o LogLevel=ERROR -o IdentitiesOnly=yes"
  ssh $o -p "$port" 127.0.0.1 'echo remote | cat; exit 3'; echo $?; seq 30000 | ssh $o -p "$port" 127.0.0.1 cksum; ssh $o -tt -p "$port" 127.0.0.1 'tty | tr -d 0-9' </dev/null; scp -q $o -P "$port" conf 127.0.0.1:"$PWD"/copied; cmp conf copied; echo 'ls me.pub' | sftp -q $o -P "$port" 127.0.0.1:"$PWD" | tail -n 1
  ssh $o -M -S ctl -f -N -p "$port" 127.0.0.1; ssh $o -S ctl -p "$port" 127.0.0.1 'echo shared'; ssh $o -S ctl -O exit -p "$port" 127.0.0.1 2>/dev/null; kill $p; wait $p; echo $? ;;
vim) vim -Nu NONE -es -c 'r !seq 5 | sort -r' -c '%!tr 1-5 a-e' -c 'call system("cat >s", "sys")' -c 'wq out'; cat out s ;;
valgrind) valgrind -q --error-exitcode=9 sh -c 'echo under valgrind | cat'; echo $? ;;
gdb) printf '#include <unistd.h>\nint main(void) { return fork() ? close(-1) + 3 : 0; }\n' >p.c; gcc -g p.c -o p; gdb -q -nx -batch -ex 'break main' -ex run -ex 'bt 1' -ex continue ./p 2>&1 | grep -c exited; strace -qq -f -o t -e trace=close ./p; echo $?; grep -c 'close(-1)' t ;;
mpirun) mpirun --allow-run-as-root --oversubscribe -np 3 sh -c 'echo rank $OMPI_COMM_WORLD_RANK | cat' | sort; mpirun --allow-run-as-root --oversubscribe -np 2 sh -c 'exit 5' >/dev/null 2>&1; echo $? ;;
esac
