"""The programs and what is run of each. Scripts are in scripts/; each prints a line `== …` before each thing that it does."""
import pathlib
import sys

from case import Case

SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts"
PYTHON = "/usr/bin/python3"  # Debian's
PIDS = (r"(line \d+:) +\d+ ", r"\1 PID ")  # of bash, when a signal ends a child
# Variables that `sonde run` sets (docs/cli/run.md), in the output of `env`.
ENVIRONMENT = (r"^(LD_PRELOAD|PYTHONPATH|SONDE_\w+|(NVTX|CUDA)_INJECTION64_PATH|NCCL_PROFILER_PLUGIN)=.*\n", "")
SEVERAL_SHELLS = ("pipelines", "redirections", "here_documents", "traps", "jobs", "exec", "substitution")
SHELLS = {"dash": ("dash",), "bash": ("bash",), "busybox sh": ("busybox", "sh")}
QUICK = {"dash": ("pipelines", "redirections", "here_documents", "exec", "substitution"), "bash": ("pipelines", "jobs"),
         "busybox sh": ("pipelines",)}
# Typed in a terminal. `stty -echo` first: what is typed ahead would be echoed by the terminal or by the shell, by chance.
TYPED = "stty -echo\nset +o emacs\nPS1=\necho a | cat\nsleep 30 &\nkill %1\nwait\n(exit 3)\necho $?\nfg\nexit 4\n"

TRAIN = """import torch
layer = torch.nn.Linear(4, 4)
for _ in range(3):
    layer(torch.ones(2, 4)).sum().backward()
print("trained", layer.weight.grad.shape)
"""


MORE = (  # sections of scripts/more.sh, the programs that they need, and rules
    ("gpg", ("gpg",), ()), ("cmake", ("cmake", "ninja", "make"), ((r"\(.* sec\)|[0-9.]+s\)", ""), (r"\(\d+\.\d.*", ""))),
    ("tmux", ("tmux",), ()),
    ("socat", ("socat",), ()), ("rsync", ("rsync",), ()), ("expect", ("expect",), ()), ("ruby", ("ruby",), ()),
    ("lua", ("lua5.4",), ()), ("gawk", ("gawk",), ()), ("tcl", ("tclsh",), ()), ("sshd", ("/usr/sbin/sshd",), ()),
    ("vim", ("vim",), ()),
    ("valgrind", ("valgrind",), ()), ("gdb", ("gdb", "gcc", "strace"), ()), ("mpirun", ("mpirun",), ()),
)

# Tables of times and calls. Those of functions have Sonde's hooks, too.
PROFILE = ((r"reduced from \d+", "reduced from N"), (r"\d+\.\d+ seconds", "TIME"), (r"\d+(\.\d+)?(e-\d+)?(us|ms|s|%)", "N"),
           (r"^ +\d[\d ./]* +.*$", ""), (r"^ *(aten|autograd|Torch|Accum|Sum|Expand|Addmm|T|_|torch|--).*$", ""),
           (r"\d+ function calls.*", "CALLS"), (r"^.*(CPU time|Self C).*$", ""), (r"^\s+$", ""))


def script(program, name, *command, **case):
    file = case.pop("file", f"{name.replace(' ', '_')}.sh")
    return Case(program, name.replace("_", " "), (*command, str(SCRIPTS / file)), **case)


def shells():
    for program, command in SHELLS.items():
        for name in SEVERAL_SHELLS:
            yield script(program, name, *command, rules=(PIDS, ENVIRONMENT), needs=command[:1], short=name in QUICK[program])
    yield script("bash", "bash_only", "bash", rules=(PIDS,))
    yield Case("bash", "interactive", ("script", "-qefc", "bash --norc --noprofile -i", "/dev/null"), stdin=TYPED, status=4,
               rules=((r"^.*(\$|#) ", ""), (r"^\[1\] \d+", "[1] PID"), (r"\r", "")), needs=("script",))
    yield Case("bash", "a login shell", ("bash", "-lc", "echo $0; a=$(echo x | cat); exec echo $a"))


def files():
    yield script("coreutils", "coreutils", "dash", short=True)
    yield script("sed, awk, find, diff, openssl, gcc, gdb …", "tools", "dash", ignored=("prog",), contents=False)
    yield script("tar, gzip, bzip2, xz, zstd", "archives", "dash", ignored=("snap",), contents=False,
                 needs=("bzip2", "xz", "zstd"))
    yield script("git", "git", "dash", contents=False, ignored=(r".*\.git/.*|bare.git/.*",), short=True)
    yield script("make", "make", "dash", short=True)
    yield script("ssh-keygen", "ssh_keygen", "dash", contents=False, needs=("ssh-keygen", "ssh-agent"))


def languages():
    yield script("perl", "pipes", "perl", file="pipes.pl", short=True)
    yield script("python3", "processes", PYTHON, file="processes.py", short=True)
    yield Case("python3", "pip list", (PYTHON, "-m", "pip", "list", "--disable-pip-version-check"))
    yield Case("python3", "venv", ("dash", "-c", f"{PYTHON} -m venv v && v/bin/python -m pip --version && v/bin/pip list && "
               "echo 'print(1)' | v/bin/python - && ls -l v/bin | wc -l"), contents=False, limit=120,
               ignored=(".*/__pycache__.*",), rules=((r"\[notice\].*", ""),))
    yield Case("python3", "descriptors", (PYTHON, "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))"), short=True)
    yield Case("PyTorch", "torch.utils.bottleneck", (PYTHON, "-m", "torch.utils.bottleneck", "train.py"), limit=240,
               files=(("train.py", TRAIN),), rules=PROFILE)
    yield script("node", "processes", "node", file="processes.js", needs=("node",))
    yield script("sqlite3", "sqlite", "dash", needs=("sqlite3",), contents=False, ignored=(r"d\.db-.*",), short=True)


def servers():
    yield script("curl and http.server", "curl", "dash", needs=("curl",), contents=False, short=True)
    yield script("redis-server, redis-benchmark", "redis", "dash", needs=("redis-server", "redis-benchmark"), limit=120, contents=False,
                 ignored=("appendonlydir.*",))
    yield script("PostgreSQL: initdb, pgbench …", "postgresql", "dash", needs=("pg_ctlcluster",), user="postgres", limit=180,
                 contents=False, ignored=("(data|backup|dumped)/.*",), rules=((r"with PID \d+", "with PID N"),))
    yield script("nginx", "nginx", "dash", needs=("nginx", "curl"), contents=False, ignored=("[bpfus]/.*|ports",))


def more():
    for program, command in (("zsh", ("zsh", "--emulate", "sh")), ("mksh", ("mksh",))):
        for name in SEVERAL_SHELLS:
            if name != "jobs":  # without a terminal zsh has none, and mksh waits for ever for a child that was stopped
                yield script(program, name, *command, rules=(PIDS, ENVIRONMENT), needs=command[:1])
    for name, needs, rules in MORE:
        file = str(SCRIPTS / "more.sh")
        yield Case(name, "more", ("dash", file, name), needs=needs, rules=rules, contents=False, ignored=(".*/.*", "tmux.*"),
                   limit=20)
    yield script("stress-ng --verify", "stress", "dash", needs=("stress-ng",), limit=300, contents=False)


def all_cases():
    return [*shells(), *files(), *languages(), *servers(), *more()]


if __name__ == "__main__":
    sys.exit("see compare.py")
