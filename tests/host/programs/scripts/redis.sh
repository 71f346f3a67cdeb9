cat >redis.conf <<end
port 0
unixsocket $PWD/r.sock
dir $PWD
save ""
appendonly yes
io-threads 2
io-threads-do-reads yes
end
redis-server redis.conf >log 2>&1 & server=$!
i=0; while ! redis-cli -s r.sock ping >/dev/null 2>&1 && [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done
r() { redis-cli -s r.sock "$@"; }
echo "== commands"; r set a 1; r incr a; r rpush l 1 2 3; r lrange l 0 -1; r eval 'return redis.call("get", "a")' 0; seq 1000 | sed 's/.*/SET k& v&/' | r --pipe | tail -n 1; r dbsize
echo "== benchmark"; redis-benchmark -s r.sock -n 20000 -c 30 -P 4 -t ping,set,get,incr,lpush,sadd,hset,zadd,mset --csv | cut -d, -f 1
echo "== benchmark with threads"; redis-benchmark -s r.sock -n 20000 -c 20 --threads 2 -t set,get --csv | cut -d, -f 1
echo "== forks that save"; r bgsave >/dev/null; r bgrewriteaof >/dev/null; sleep 0.5; r save; r info persistence | grep -c 'status:ok'; ls -1 appendonlydir | wc -l
echo "== published"; (timeout 3 redis-cli -s r.sock subscribe c | head -n 6 >heard) & sleep 0.7; r publish c message; wait $!; tail -n 3 heard
echo "== blocked"; r blpop q 5 >popped & sleep 0.3; r lpush q item; wait $!; cat popped
echo "== restarted"; r shutdown; wait $server; echo $?; redis-server redis.conf >log2 2>&1 & server=$!; i=0; while ! r ping 2>/dev/null | grep -q PONG && [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done
r get a; r exists k1000; r shutdown nosave; wait $server; echo $?; ! grep -i 'crash\|bug' log log2
