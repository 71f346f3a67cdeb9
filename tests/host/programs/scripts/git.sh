export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat GIT_EDITOR=true
git config --global init.defaultBranch main; git config --global protocol.file.allow always; git config --global gc.autoDetach false
echo "== init and commit"; git init -q r; cd r || exit 1
for n in 1 2 3 4 5 6 7 8; do seq $n$n >f$n; echo "line $n" >>log; git add .; git commit -q -m "commit $n"; done
git log --oneline; git log -p -2 --stat; git status --short; git diff HEAD~3 | md5sum; git blame -s log
echo "== branches"; git checkout -q -b side HEAD~4; echo side >s; git add s; git commit -q -m side; git checkout -q main; git merge -q -m merged side; git log --graph --oneline; git branch -a
echo "== rebase"; git checkout -q side; git rebase -q main~1 2>&1; git log --oneline -3; git rebase -q --exec 'cat s | wc -l' main 2>&1
echo "== conflict"; git checkout -q -b c1 main; echo one >log; git commit -q -a -m one; git checkout -q -b c2 main; echo two >log; git commit -q -a -m two; git rebase c1 2>&1 | sed 's/^hint.*//'; git status --short; git rebase --abort; git rev-parse HEAD
echo "== hooks"; printf '#!/bin/sh\necho hook ran | cat; exit 1\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo h >>s; git commit -q -a -m h 2>&1; echo $?; rm .git/hooks/pre-commit; git checkout -q .
echo "== stash and tags"; echo w >>log; git stash -q; git stash list; git stash pop -q; git diff --stat; git checkout -q .; git tag -a -m t v1; git describe
cd ..
echo "== clone"; git clone -q file://"$PWD"/r copy 2>&1; git -C copy log --oneline -3 origin/main; git clone -q --depth 2 file://"$PWD"/r shallow 2>&1; git -C shallow rev-list --count HEAD
echo "== fetch and push"; git clone -q --bare r bare.git 2>&1; git -C copy remote set-url origin file://"$PWD"/bare.git; git -C copy checkout -q -b new; echo n >copy/n; git -C copy add n; git -C copy commit -q -m n; git -C copy push -q origin new 2>&1; git -C bare.git branch --list; git -C r fetch -q ../bare.git new 2>&1; git -C r log --oneline -1 FETCH_HEAD
echo "== collect"; git -C r gc -q --prune=now 2>&1; git -C r count-objects -v | grep -v size; git -C r fsck --full 2>&1; git -C r repack -q -a -d -f --threads=2; git verify-pack -v r/.git/objects/pack/*.idx | grep -c "^[0-9a-f]\{40\}"
echo "== archives and bundles"; git -C r archive main | tar -t | md5sum; git -C r bundle create -q ../b.bundle main 2>&1; git clone -q b.bundle from_bundle 2>&1; git -C from_bundle rev-list --count --all
echo "== grep, with threads"; git -C r grep --threads 4 -c 1 | md5sum; git -C r log -S 77 --oneline; (cd r; git bisect start main main~5 2>&1 | tail -n 1; git bisect run sh -c "test ! -e f6" 2>&1 | tail -n 2; git bisect reset 2>&1)
echo "== submodules"; git -C copy submodule add -q file://"$PWD"/bare.git sub 2>&1; git -C copy submodule status | cut -c 2-9; git -C copy submodule foreach -q 'echo $name'
echo "== worktrees and filters"; git -C r worktree add -q ../w side 2>&1; ls w | md5sum; git -C r config filter.up.clean 'tr a-z A-Z'; echo 'u filter=up' >r/.gitattributes; echo lower >r/u; git -C r add u; git -C r cat-file -p :u
echo "== errors"; git -C none status; echo $?; git clone -q file:///none none2; echo $?; git -C r checkout none; echo $?
