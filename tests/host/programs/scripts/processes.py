"""Python's ways to other processes: os.popen, subprocess, os.fork, os.posix_spawn, multiprocessing, pty, and what they leave open."""
import asyncio
import errno
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import pty
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


def open_descriptors():
    return sorted(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))


def popen():
    print(os.popen("seq 5 | sort -rn | cat").read(), os.popen("exit 3").close(), os.system("exit 4") >> 8)
    with os.popen("cat >popened", "w") as out:
        out.write("written\n")
    print(open("popened").read())


def run():
    print(subprocess.check_output("echo a | tr a b", shell=True), subprocess.run(["cat"], input=b"x" * 300000, capture_output=True).stdout.count(b"x"))
    print(subprocess.run(["sh", "-c", "kill -9 $$"]).returncode, subprocess.run(["false"], close_fds=False).returncode)
    print(subprocess.run("ls -1 /proc/self/fd | wc -l", shell=True, capture_output=True, pass_fds=(1, 2)).stdout)
    first = subprocess.Popen(["seq", "9"], stdout=subprocess.PIPE)
    print(subprocess.check_output(["sort", "-r"], stdin=first.stdout), first.wait())
    for command in (["/no/such"], ["."], [sys.executable, "-c", "raise SystemExit(7)"]):
        try:
            print(subprocess.run(command, preexec_fn=os.setsid, env={"A": "b"}).returncode)
        except OSError as error:
            print(command, errno.errorcode[error.errno])
    try:
        subprocess.run(["sleep", "9"], timeout=0.2)
    except subprocess.TimeoutExpired as error:
        print(type(error).__name__)


def low_level():
    for n in range(20):
        pid = os.fork()
        if not pid:
            os._exit(n)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), end=" ")
    pid = os.posix_spawn("/bin/echo", ["echo", "spawned"], {}, file_actions=[(os.POSIX_SPAWN_DUP2, 1, 2), (os.POSIX_SPAWN_CLOSE, 0)])
    print(os.waitpid(pid, 0)[1])
    for call in (lambda: os.close(-1), lambda: os.close(10 ** 6), lambda: os.dup2(999, 3), lambda: os.read(-1, 1),
                 lambda: os.write(999, b"x"), lambda: os.readv(-1, [bytearray(1)]), lambda: os.lseek(-1, 0, 0),
                 lambda: os.open("/no/such", 0), lambda: os.dup2(1, 2 ** 30), lambda: os.sendfile(-1, 0, 0, 1), lambda: os.pread(0, 1, -1)):
        try:
            print(call())
        except OSError as error:
            print(errno.errorcode[error.errno], end=" ")
    os.closerange(100, 5000)
    print(os.dup2(1, 1), os.dup2(1, 700), os.dup2(700, 701), os.get_inheritable(701))
    os.closerange(699, 800)


def workers():
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(abs, range(-9, 0)))
    queue = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(target=queue.put, args=("x" * 100000,))
    process.start()
    print(len(queue.get()), process.join(), process.exitcode)
    # Stops helpers that would stay alive and hold descriptors.
    multiprocessing.forkserver._forkserver._stop()
    multiprocessing.resource_tracker._resource_tracker._stop()


def terminals():
    pid, fd = pty.fork()
    if not pid:
        os.execvp("sh", ["sh", "-c", "echo in a terminal; read x; echo \"$x\" | cat; exit 6"])
    os.write(fd, b"typed\n")
    said = b""
    try:
        while chunk := os.read(fd, 1000):
            said += chunk
    except OSError as error:
        print(errno.errorcode[error.errno])
    print(sorted(said.split()), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os.close(fd)


def sockets():
    with socket.create_server(("127.0.0.1", 0)) as server, selectors.DefaultSelector() as selector:
        thread = threading.Thread(target=lambda: socket.create_connection(server.getsockname()).sendall(b"y" * 200000))
        thread.start()
        connection, _ = server.accept()
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ)
        count = 0
        while selector.select(5) and (data := connection.recv(10000)):
            count += len(data)
        print(count, thread.join())
        connection.close()
    left, right = socket.socketpair()
    with tempfile.TemporaryFile() as file:
        socket.send_fds(left, [b"m"], [file.fileno()])
        message, fds, _, _ = socket.recv_fds(right, 1, 1)
        os.write(fds[0], b"through")
        print(message, os.pread(file.fileno(), 9, 0))
        os.close(fds[0])
    left.close()
    print(right.recv(1))
    right.close()


def events():
    async def main():
        process = await asyncio.create_subprocess_shell("cat; exit 2", stdin=-1, stdout=-1)
        print(await process.communicate(b"async"), process.returncode)
        server = await asyncio.start_server(lambda r, w: (w.write(b"served"), w.close()), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        print(await reader.read())
        writer.close()
        server.close()
    asyncio.run(main())


def signals():
    signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    signal.pause()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    os.kill(os.getpid(), signal.SIGUSR1)
    print(signal.sigpending(), signal.sigwait([signal.SIGUSR1]))
    print(sorted(signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])), sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    print([s.name for s in signal.valid_signals() if s > 0 and signal.getsignal(s) not in (signal.SIG_DFL, signal.SIG_IGN) and isinstance(s, signal.Signals)])


if __name__ == "__main__":
    for part in (popen, run, low_level, workers, terminals, sockets, events, signals):
        print("==", part.__name__, flush=True)
        part()
        while threading.active_count() > 1:  # asyncio's, which waited for a child
            time.sleep(0.01)
        print(open_descriptors(), flush=True)
