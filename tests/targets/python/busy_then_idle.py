"""Works for a while on two threads, then waits: what each thread has used by then goes to the file named.

Lines `TID CPU-NS`; the main thread's last, when all have ended. BYTES of memory are touched and kept.
"""
import sys
import threading
import time

path, busy_seconds, size = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
memory = bytearray(b"x") * size
lines = []


def work():
    while time.thread_time() < busy_seconds:
        sum(range(1000))
    used = time.thread_time_ns()
    time.sleep(0.6)  # idle: what is sampled now is all that it will ever have used
    lines.append(f"{threading.get_native_id()} {used} {time.thread_time_ns()}\n")


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open(path, "w") as file:
    file.writelines(lines)
