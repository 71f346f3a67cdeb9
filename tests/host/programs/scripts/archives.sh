mkdir -p t/deep/er; seq 30000 >t/seq; head -c 200000 /dev/zero >t/zero; ln -s seq t/link; ln t/seq t/hard; mkfifo t/fifo; touch -d @1000000000 t/seq t/zero t/link t/fifo t/deep/er t/deep t
for z in gzip bzip2 xz zstd; do
  echo "== $z by tar"; tar --use-compress-program=$z --sort=name --numeric-owner -cf t.$z t; tar --use-compress-program=$z -tf t.$z | md5sum
  echo "== $z by pipes"; tar --sort=name -cf - t | $z -c | $z -dc | tar -xf - -C t/deep/er; diff -r --no-dereference t/seq t/deep/er/t/seq && echo same; rm -r t/deep/er/t
  echo "== $z itself"; $z -k -f -q t/seq 2>/dev/null; $z -k -f -q t/zero; $z -dc t/zero.* | cmp - t/zero; rm t/seq.* t/zero.* 2>/dev/null
done
echo "== xz with threads"; xz -T 2 --block-size=64KiB -k -c t/seq | xz -T 2 -dc | cmp - t/seq; echo $?
echo "== zstd with threads"; zstd -q -T2 -c t/seq | zstd -dc | cmp - t/seq; echo $?
echo "== a command for each file"; tar -cf - t | tar -xf - --to-command='wc -c' | sort
echo "== incremental"; tar -g snap -cf full.tar t; echo new >t/new; tar -g snap -cvf more.tar t | sort; tar -tf more.tar | sort
echo "== several volumes"; tar -cML 100 -f v1 -f v2 -f v3 -f v4 -f v5 -f v6 t/zero t/seq; ls v? | wc -l
echo "== broken"; head -c 1000 t.gzip | tar -xzf - -C t/deep; echo $?; echo none | tar -xf -; echo $?; tar -cf - none; echo $?
echo "== cpio by busybox, if there"; if command -v busybox >/dev/null; then (cd t && find . -name 's*' | busybox cpio -o -H newc 2>/dev/null) | busybox cpio -t 2>/dev/null; fi
