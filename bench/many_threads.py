"""Starts THREADS threads that sleep and wake for SECONDS: what sampling them costs the recorder.

    sonde run -f -o m.sonde -- python3 bench/many_threads.py 400 30
    sonde sql m.sonde "SELECT value / 1e6 AS ms FROM meta WHERE key = 'sampler_cpu_ns'"
"""
import sys
import threading
import time

threads, seconds = int(sys.argv[1]), float(sys.argv[2])
end = time.monotonic() + seconds


def wait():
    while time.monotonic() < end:
        time.sleep(0.05)


workers = [threading.Thread(target=wait) for _ in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
