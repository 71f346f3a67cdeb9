"""What the torch_*_test.py files share: programs on a real torch, with the PyTorch hooks, under the library that logs what
it is called with."""
import textwrap
import unittest

import recorded
from training_programs import MODEL

LOOP = MODEL + """
for batch in DataLoader(data, 8):
    print(repr(step(batch).item()))
"""


def run(program, **options):
    return recorded.run(MODEL + textwrap.dedent(program), **options)


class Hooks(unittest.TestCase):
    def check_nesting(self, trace):
        self.assertFalse([one.path() for one in trace.slices if one.crossed])
        self.assertFalse([one.path() for one in trace.slices if one.end is None])
        self.assertFalse([key for key in trace.metadata if key.startswith("sonde.torch")], trace.metadata)

    def complete(self, trace):
        return [one for one in trace.of("iteration") if one.arguments.get("sonde.complete", 1)]
