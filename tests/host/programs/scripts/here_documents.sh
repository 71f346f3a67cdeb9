v=value
echo "== plain"; cat <<end
a $v $(echo substituted) \$v
end
echo "== quoted"; cat <<'end'
a $v $(echo substituted) \$v
end
echo "== indented"; cat <<-end
	tabs are gone
	end
echo "== several"; cat <<one; cat <<two
1
one
2
two
echo "== into a descriptor"; exec 7<<end
seventh
end
cat <&7; exec 7<&-
echo "== into a pipeline"; cat <<end | tr a-z A-Z | rev
pipeline
end
echo "== larger than a pipe"; big=$(head -c 200000 /dev/zero | tr '\0' b); wc -c <<end
$big
end
echo "== not read"; true <<end
$big
end
echo $?
echo "== in a function, many times"; f() { cat <<end
$1
end
}; for n in 1 2 3 4 5 6 7 8 9 10; do f $n; done | md5sum
echo "== in a substitution"; echo "$(cat <<end
inner
end
)"
echo "== read by a loop that forks"; while read -r x y; do echo "$y" | cat; done <<end
a 1
b 2
end
