mkdir www logs; seq 30000 >www/big; echo small >www/small
/usr/bin/python3 -c 'import socket; s = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]; print(*(x.getsockname()[1] for x in s))' >ports; read -r port back <ports
cat >nginx.conf <<end
worker_processes 2; pid $PWD/pid; error_log $PWD/logs/error.log warn; daemon on; $( [ "$(id -u)" = 0 ] && echo 'user root;')
events { worker_connections 128; }
http { access_log off; sendfile on; aio threads; client_body_temp_path $PWD/b; proxy_temp_path $PWD/p; fastcgi_temp_path $PWD/f; uwsgi_temp_path $PWD/u; scgi_temp_path $PWD/s;
  gzip on; gzip_types *;
  server { listen 127.0.0.1:$port reuseport; root $PWD/www; location /proxied/ { proxy_pass http://127.0.0.1:$back/; } location /unix/ { proxy_pass http://unix:$PWD/sock:/; } }
  server { listen 127.0.0.1:$back; listen unix:$PWD/sock; root $PWD/www; } }
end
nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log" -t 2>/dev/null; echo $?; nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log"; echo $?
url=http://127.0.0.1:$port
i=0; while ! curl -s -o /dev/null $url/small && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
echo "== get"; curl -s $url/small; curl -s $url/big | md5sum; curl -s $url/proxied/big | md5sum; curl -s $url/unix/big | md5sum; curl -s --compressed $url/big | md5sum; curl -s -r 5-20 $url/big
echo "== many"; for n in 1 2 3 4 5 6 7 8; do curl -s -Z "$url/big?[1-10]" "$url/proxied/small?[1-10]" 2>/dev/null | wc -c & done | sort -u | wc -l; wait; curl -s -o /dev/null -w '%{http_code}\n' $url/none
if command -v ab >/dev/null; then ab -q -k -n 2000 -c 20 $url/big | grep -E 'Complete|Failed'; fi
echo "== reloaded"; nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log" -s reload; sleep 0.5; curl -s $url/small; kill -USR1 "$(cat pid)"; sleep 0.2; curl -s $url/small
echo "== stopped"; nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log" -s quit; i=0; while [ -e pid ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done; ls pid 2>/dev/null; sed 's/.*#[0-9]*: //; s/^\*[0-9]* //; s/port.*//; s/:[0-9]*"/"/' logs/error.log
