"""torch.compile: records a slice for each compilation of a function. Facts of the process hold its graphs, and the
number and reasons of recompilations.

--torch-operators records calls of compiled code as operators ("Torch-Compiled Region: 0/1"). Before PyTorch 2 there is
no torch.compile.
"""
import functools
import json
import os
import threading

from sonde import metadata
from sonde._torch.guard import API, NOTHING, enabled, scope

USED = False  # whether the program has called torch.compile
PIECE = 4000  # characters of a graph in one text


class Last(threading.local):
    id = None  # of the thread's latest compilation


LAST = Last()


def numbered(compile_id):
    """"0/1": the second compilation of the first function."""
    return "" if compile_id is None else str(compile_id)


def watch_graphs(torch, guard, output_graph):
    """Reports each graph that is passed to a backend."""
    compile_graph = output_graph.OutputGraph.call_user_compiler

    def tell(module):
        LAST.id = torch._guards.CompileContext.current_compile_id()
        name = numbered(torch._guards.CompileContext.current_compile_id())
        text = str(module.graph)
        for at in range(0, len(text), PIECE):
            metadata(f"sonde.torch.graph {name}", text[at:at + PIECE])

    @functools.wraps(compile_graph)
    def compiled(self, module, *args, **kwargs):
        if enabled():
            guard.run(tell, module)
        return compile_graph(self, module, *args, **kwargs)

    output_graph.OutputGraph.call_user_compiler = compiled


def watch_compiles(torch, guard, convert_frame):
    """Reports each compilation and recompilation of a function."""
    compile_frame = convert_frame._compile

    def begin(code):
        return scope(API, f"torch.compile {code.co_name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})")

    def tell(code, compile_id):
        of_it = [one for one in torch._dynamo.utils.get_compilation_metrics()
                 if one.co_name == code.co_name and str(one.compile_id) == str(compile_id)]
        if not of_it:  # no part was worth compiling
            return
        known = of_it[-1]
        facts = {"id": numbered(compile_id), "function": code.co_name, "file": code.co_filename, "line": code.co_firstlineno,
                 "operators": known.graph_op_count, "guards": known.guard_count,
                 "seconds": known.entire_frame_compile_time_s, "again_because": getattr(known, "recompile_reason", None),
                 "failure": known.fail_reason}
        metadata("sonde.torch.compile", json.dumps(facts, default=str))

    @functools.wraps(compile_frame)
    def compiled(code, *args, **kwargs):
        if not enabled():
            return compile_frame(code, *args, **kwargs)
        LAST.id = None
        with guard.run(begin, code) or NOTHING:
            try:
                return compile_frame(code, *args, **kwargs)
            finally:
                guard.run(tell, code, kwargs.get("compile_id") or LAST.id)

    convert_frame._compile = compiled


def install(torch, guard):
    compile_ = getattr(torch, "compile", None)
    if compile_ is None:
        return
    watched = []

    def watch():
        watched.append(True)
        from torch._dynamo import convert_frame, output_graph
        watch_graphs(torch, guard, output_graph)
        watch_compiles(torch, guard, convert_frame)

    @functools.wraps(compile_)
    def compiling(*args, **kwargs):
        global USED
        USED = True
        result = compile_(*args, **kwargs)  # imports torch._dynamo
        if not watched:
            guard.run(watch)
        return result

    torch.compile = compiling
