"""Process groups: gives the group's key to the probes that see its communicator. All members compute the same key from
the group's name, its ranks, and the number of earlier groups with these. The group of all ranks gives this process's
rank. The environment lacks it if a script passes it to init_process_group."""
import functools
import inspect
import zlib

from sonde import _sonde

KEY_BYTES = 120


class Keys:
    def __init__(self):
        self.seen = {}
        self.made = 0

    def key(self, name, ranks, is_world):
        text = ",".join(map(str, ranks))
        if not name:
            # Older torch numbers groups itself; every rank must make every group, so counting agrees.
            name = str(self.made)
        self.made += 1
        text = text if len(text) <= 40 else f"{ranks[0]}..{ranks[-1]} {zlib.crc32(text.encode()):08x}"
        label = "world" if is_world else f"group {name[:40]} ranks {text}"
        again = self.seen[label] = self.seen.get(label, 0) + 1
        return (label if again == 1 else f"{label} #{again}").encode("ascii", "replace").decode()[:KEY_BYTES]


def install(torch, guard):
    if not torch.distributed.is_available():
        return
    c10d = torch.distributed.distributed_c10d
    create = c10d._new_process_group_helper
    parameters, keys = inspect.signature(create), Keys()

    def hint(args, kwargs):
        given = parameters.bind(*args, **kwargs).arguments
        ranks = list(given["global_ranks_in_group"])
        is_world = not ranks
        ranks = ranks or list(range(given["group_size"]))
        _sonde.communicator_hint(keys.key(given.get("group_name"), ranks, is_world), ranks)
        if is_world:
            _sonde.metadata("sonde.rank", given["group_rank"])
            _sonde.metadata("sonde.world_size", given["group_size"])

    @functools.wraps(create)
    def created(*args, **kwargs):
        guard.run(hint, args, kwargs)
        try:
            return create(*args, **kwargs)
        finally:
            guard.run(_sonde.communicator_hint)

    c10d._new_process_group_helper = created
