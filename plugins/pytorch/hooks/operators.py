"""Operators, with `sonde run --torch-operators`: lets the library beside this file observe the operators that PyTorch
runs."""
import os
import threading

from sonde import metadata
from sonde._torch.masking import MASKING

UNKNOWN, WITHOUT_NODES = 0, 1  # results of the proof


def install(torch, guard):
    wanted = os.environ.get("SONDE_TORCH_OPERATORS")
    if wanted not in ("names", "shapes"):
        return
    import ctypes
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_operators.so"))
    library.sonde_operators_find.restype = ctypes.c_char_p
    missing = library.sonde_operators_find(wanted == "shapes")
    if missing is not None:
        raise RuntimeError(f"PyTorch {torch.__version__}: {missing.decode()}")
    found = prove(torch, library)
    if found == UNKNOWN:
        raise RuntimeError(f"PyTorch {torch.__version__}: its observers differ from those of 1.13 to 2.15")
    if found == WITHOUT_NODES:
        metadata("sonde.torch.operators", f"PyTorch {torch.__version__}: backward is not linked to forward: its observers differ from 1.13 to 2.15")
    library.sonde_operators_begin(wanted == "shapes")
    MASKING.add(library.sonde_operators_pause, lambda: library.sonde_operators_begin(wanted == "shapes"))


def prove(torch, library):
    """Runs operators whose observations the library knows, to verify them. Does not start the engine of backward: a
    process that forks later could not use it in the child."""
    ones = torch.ones(1)

    def forward(before, result):
        for _ in range(before):  # so that no other number equals the node's
            torch.ones(1, requires_grad=True).mul(2)
        result.append(torch.ones(1, requires_grad=True).mul(2))

    library.sonde_operators_prove()
    for before in (0, 4, 7):
        result = []
        thread = threading.Thread(target=forward, args=(before, result))
        thread.start()
        thread.join()
        with torch.no_grad():
            result[0].grad_fn(ones)
    return library.sonde_operators_proven()
