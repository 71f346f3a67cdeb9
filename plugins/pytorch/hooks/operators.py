"""Operators, by `sonde run --torch-operators`: has the library beside this file observe what PyTorch runs."""
import os

PROOF = b"aten::empty"  # what torch.empty runs, in every release


def install(torch, guard):
    wanted = os.environ.get("SONDE_TORCH_OPERATORS")
    if wanted not in ("names", "shapes"):
        return
    import ctypes
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_operators.so"))
    library.sonde_operators_find.restype = ctypes.c_char_p
    missing = library.sonde_operators_find(wanted == "shapes")
    if missing is None:
        library.sonde_operators_prove(PROOF)
        torch.empty(0)
        if not library.sonde_operators_proven():
            missing = b"its observers are not as in 1.13 to 2.15"
    if missing is not None:
        raise RuntimeError(f"PyTorch {torch.__version__}: {missing.decode()}")
    library.sonde_operators_begin(wanted == "shapes")
