echo "== another program"; (exec echo replaced; echo not reached); echo $?
echo "== not there"; (exec /no/such/program) 2>/dev/null; echo $?; (exec ./folder) 2>/dev/null; echo $?
echo "== may not run"; echo 'echo x' >plain; (exec ./plain) 2>/dev/null; echo $?; ./plain 2>/dev/null; echo $?
echo "== no interpreter line"; chmod +x plain; ./plain
echo "== interpreter"; printf '#!/bin/sh\necho "interpreted $0 $*"; exit 4\n' >script; chmod +x script; ./script a 'b c'; echo $?
echo "== interpreter missing"; printf '#!/no/such\n' >missing; chmod +x missing; ./missing 2>/dev/null; echo $?
echo "== a chain"; sh -c 'exec sh -c "exec sh -c \"exec echo last\""'
echo "== with descriptors"; sh -c 'exec 9>nine; exec sh -c "echo nine >&9; exec 9>&-; exec echo end"'; cat nine
echo "== arguments"; sh -c 'echo $# "$1" "$3"' name 'a b' '' '*'
echo "== many arguments"; set -- $(seq 5000); sh -c 'echo $#' name "$@"
echo "== a large argument"; big=$(head -c 100000 /dev/zero | tr '\0' b); /bin/echo "$big" | wc -c
echo "== too large"; big=$(head -c 300000 /dev/zero | tr '\0' b); /bin/echo "$big" 2>/dev/null; echo $?
echo "== an empty environment"; env -i /bin/sh -c 'echo ${HOME-none}'; env -i /usr/bin/env
echo "== an environment of its own"; env -i A=1 B='two words' /usr/bin/env | sort
echo "== the search path"; mkdir p; printf '#!/bin/sh\necho found\n' >p/there; chmod +x p/there; PATH=$PWD/p:$PATH there; (PATH=; there) 2>/dev/null; echo $?
echo "== umask and folder"; (umask 077; cd p; sh -c 'umask; pwd' | sed 's,.*/,,')
echo "== limits"; (ulimit -n 20; sh -c 'ulimit -n; echo a | cat | cat'); (ulimit -f 0; sh -c 'echo x >limited' 2>/dev/null; echo $?)
echo "== recursion"; echo 'n=$1; [ $n -eq 0 ] && echo bottom || exec sh recursive $((n - 1))' >recursive; sh recursive 40
echo "== without exec"; echo 'n=$1; if [ $n -eq 0 ]; then echo bottom; else sh deeper $((n - 1)); echo $n; fi' >deeper; sh deeper 8
