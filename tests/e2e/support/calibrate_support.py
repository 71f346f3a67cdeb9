"""Which probes `sonde run --calibrate` switches off in an iteration: docs/capture.md in Python, apart from the library's own."""
BITS = {"annotation": 0, "nvtx": 1, "torch": 2, "gloo": 3, "net": 4, "process": 5, "mpi": 6, "nccl": 7, "cuda": 8, "io": 9, "sync": 10,
        "python": 11, "stack": 12, "tensor": 13, "system": 14, "memory": 15, "plugin": 16}
NEVER = ("annotation", "nvtx", "process", "system")
WORD = 2 ** 64 - 1


def bits(*probes):
    return sum(1 << BITS[probe] for probe in probes)


def seed_of(job):
    seed = 0xcbf29ce484222325
    for byte in job.encode():
        seed = (seed ^ byte) * 0x100000001b3 & WORD
    return seed


def split_mix(seed, at):
    mixed = seed + (at + 1) * 0x9e3779b97f4a7c15 & WORD
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9 & WORD
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb & WORD
    return mixed ^ mixed >> 31


def mask_of(number, block_iterations, asked, job=""):
    """iteration.probe_mask of a run that was asked for these probes."""
    every = bits(*asked, "process")
    maskable, seed, block = every & ~bits(*NEVER), seed_of(job), number // block_iterations
    if block == 0:
        return every
    order, place = split_mix(seed, 2 * ((block - 1) // 4)), (block - 1) % 4
    without = order % 4
    if place == without:
        return every & ~maskable
    if place != (without + 1 + (order >> 8) % 3) % 4:
        return every
    masked = split_mix(seed, 2 * block + 1) & maskable
    if masked & bits("torch"):
        masked |= bits("tensor")
    return every & ~masked
