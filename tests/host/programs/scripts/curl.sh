mkdir www; seq 50000 >www/big; echo small >www/small; mkdir www/d; echo '<p>' >www/d/index.html
/usr/bin/python3 -u -m http.server --directory www --bind 127.0.0.1 0 >server.log 2>&1 & server=$!
i=0; while ! grep -s -q port server.log && [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done
url=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' server.log)
echo "== get"; curl -s $url/small; curl -s $url/big | md5sum; curl -s $url/d/; curl -s -I $url/small | grep -c Content
echo "== to files"; curl -s -o one $url/big -o two $url/small; cmp one www/big; cat two; curl -s -r 0-9 $url/small; curl -s -C - -o one $url/big; echo $?
echo "== twenty at a time"; curl -s -Z --parallel-max 8 "$url/d/?[1-20]" -o 'p#1' -w '%{http_code}\n' 2>/dev/null | sort | uniq -c
echo "== of many processes"; for n in 1 2 3 4 5 6 7 8; do curl -s $url/big | cksum & done | sort -u
echo "== slow, and cut off"; curl -s --limit-rate 2M $url/big | wc -c; curl -s $url/big | head -c 5; echo; curl -s -m 1 http://127.0.0.1:9/; echo $?
echo "== errors"; curl -s -f $url/none; echo $?; curl -s http://127.0.0.1:1/; echo $?; curl -s http://no.such.host.invalid/; echo $?; curl -s file:///no/such; echo $?; curl -s file://$PWD/two
{ kill $server; wait $server; } 2>/dev/null; echo "== server $?"; sed -n 's/.*"\([A-Z]* .*HTTP.*\)".*/\1/p' server.log | sort | uniq -c
