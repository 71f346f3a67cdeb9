# stress-ng checks its own results; each stressor runs for a fixed number of operations.
run() {
  echo "== $1"
  stress-ng --temp-path . --verify --no-rand-seed -q --timeout 20 "--$1" 1 "--$1-ops" 200 2>errors
  echo $?
  grep -i fail errors
}
for s in dup pipe fork vfork exec poll epoll close eventfd timerfd sigfd sigq sigrt sigpipe signest sigsuspend sock sockpair \
         sockabuse sockfd udp fifo futex mutex sem-sysv malloc brk dentry rename seek sendfile splice tee fcntl flock lockf \
         getrandom kill daemon zombie switch wait personality file-ioctl fstat dir open msg mq aio pthread sysinfo access; do
  run $s
done
rm errors
