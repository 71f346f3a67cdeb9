for t in rsa ed25519 ecdsa; do
  echo "== $t"; ssh-keygen -q -t $t -N '' -C comment -f key_$t; echo $?; ssh-keygen -l -f key_$t.pub | sed 's/SHA256:[^ ]*/SHA256:…/'; ssh-keygen -y -f key_$t | cmp -n 60 - key_$t.pub; echo $?
  ssh-keygen -q -p -P '' -N secret -f key_$t; ssh-keygen -y -P wrong -f key_$t 2>&1 | tail -n 1; echo data >data; ssh-keygen -q -p -P secret -N '' -f key_$t; ssh-keygen -Y sign -q -f key_$t -n ns data 2>&1; ssh-keygen -Y check-novalidate -n ns -s data.sig <data | sed 's/SHA256:.*//'; rm data.sig
done
echo "== an agent"; eval "$(ssh-agent -s)" >/dev/null; ssh-add -q key_ed25519; ssh-add -l | cut -d' ' -f 3-; ssh-add -q -D; ssh-add -l; echo $?; ssh-agent -k >/dev/null; echo $?
echo "== a certificate"; ssh-keygen -q -s key_ed25519 -I id -n name -V always:forever key_rsa.pub; ssh-keygen -L -f key_rsa-cert.pub | grep -c Principals
echo "== errors"; echo n | ssh-keygen -q -t rsa -N '' -f key_rsa; echo $?; ssh-keygen -l -f none; echo $?
