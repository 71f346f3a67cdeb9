PATH=$(echo /usr/lib/postgresql/*/bin):$PATH; export PATH PGHOST=$PWD PGPORT=5499 PGDATABASE=postgres PGUSER=me
echo "== initdb"; initdb -D data -U me -A trust --no-sync --locale C.UTF-8 >initdb.log; echo $?; tail -n 20 initdb.log | grep -c Success
cat >>data/postgresql.conf <<end
listen_addresses = ''
unix_socket_directories = '$PWD'
port = 5499
fsync = off
max_parallel_workers_per_gather = 2
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
end
echo "== start"; pg_ctl -D data -l server.log -w -t 50 start >/dev/null; echo $?; pg_isready -q; echo $?
echo "== SQL"; psql -X -q -A -t <<'end'
CREATE TABLE t AS SELECT g AS a, md5(g::text) AS b FROM generate_series(1, 50000) g; CREATE INDEX ON t(b); ANALYZE t;
SELECT count(*), max(b), sum(a) FROM t WHERE a % 3 = 0; \! echo shell | cat
COPY (SELECT a FROM t ORDER BY a LIMIT 3) TO PROGRAM 'cat >copied'; COPY t(a) FROM PROGRAM 'seq 5'; SELECT count(*) FROM t;
\o | sort -r | head -n 2
SELECT a FROM t WHERE a < 9 ORDER BY a;
\o
LISTEN c; NOTIFY c; SELECT pg_sleep(0.05); SELECT 1/0; SET work_mem = '64kB'; SELECT count(*) FROM (SELECT b FROM t ORDER BY b DESC OFFSET 10) x;
end
find data -name copied | wc -l
echo "== pgbench"; pgbench -i -q -s 2 2>/dev/null; echo $?; pgbench -n -c 6 -j 2 -t 80 -M prepared 2>/dev/null | grep processed; pgbench -n -S -c 4 -j 4 -t 300 2>/dev/null | grep processed; psql -X -A -t -c 'SELECT sum(abalance) = (SELECT sum(delta) FROM pgbench_history) FROM pgbench_accounts'
echo "== dump, restore, vacuum"; pg_dump -t t | wc -l; createdb other; pg_dump -Fc -t t | pg_restore -d other; psql -X -A -t -d other -c 'SELECT count(*) FROM t'; vacuumdb -q -j 2 --analyze -a; pg_dump -Fd -j 2 -f dumped; ls dumped | wc -l
echo "== a backend that is killed"; psql -X -A -t -c 'SELECT pg_terminate_backend(pg_backend_pid())' >/dev/null 2>&1; echo $?; psql -X -A -t -c "SET statement_timeout = 100; SELECT pg_sleep(9)" 2>&1; pg_basebackup -D backup -X fetch -c fast; echo $?
echo "== reload, restart, stop"; pg_ctl -D data -w reload; pg_ctl -D data -l server.log -w -m fast restart >/dev/null; echo $?; pg_ctl -D data -w -m immediate stop; pg_ctl -D data -l server.log -w start >/dev/null; psql -X -A -t -c 'SELECT count(*) FROM t'; pg_ctl -D data -w -m smart stop; echo $?; ! grep 'PANIC\|crash of another' server.log
