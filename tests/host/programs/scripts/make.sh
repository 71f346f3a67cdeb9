cat >Makefile <<'end'
N := $(shell seq 24)
all: $(addprefix o/,$(N)) sum piped shell nested
o/%: | o
	@sleep 0.0$$(( $* % 5 )); seq $* | sort -rn | head -n 3 | cat >$@
o:
	@mkdir o
sum: $(addprefix o/,$(N))
	@cat $(addprefix o/,$(N)) | md5sum >$@
piped: sum
	@cat $< | tr a-f A-F | rev | cat >$@; test $(shell cat Makefile | wc -l) -gt 3
shell: sum
	@echo $(words $(N)) $(shell echo a | cat) >$@
nested: sum
	@$(MAKE) -s -C d all
bad: ; @echo bad; false
slow: ; @sleep 30
loop: loop
end
mkdir d
printf 'all: x y z\nx y z:\n\t@echo $@ >$@; sleep 0.02\n' >d/Makefile
echo "== one job"; make -s; cat sum piped shell; make -q; echo $?; make -n sum; rm -r o sum piped shell d/[xyz]
echo "== four jobs"; make -s -j4; cat sum piped shell; ls o | wc -l; rm -r o sum piped shell d/[xyz]
echo "== by target"; make -s -j3 --output-sync=target; cat sum; rm -r o sum piped shell d/[xyz]
echo "== as many as there are"; make -s -j; cat sum
echo "== a job server in a pipe"; printf 'all:\n\t+@echo "$(MAKEFLAGS)" | sed "s/[0-9][0-9]*/N/g"\n\t+@$(MAKE) -s -j2 -C d -B all; echo $$?\n' >Outer; make -j4 -s -f Outer
echo "== errors"; make bad; echo $?; make -k bad sum; echo $?; make none; echo $?; make -s loop; echo $?
echo "== interrupted"; timeout -s INT 0.4 make slow 2>/dev/null; echo $?
echo "== questions"; make -p -f /dev/null | grep -c '^MAKE'; make -s -f - <<'end'
x: ; @echo from stdin | cat
end
