"""Tools that look into Python programs find under the probe `python` what they find without it."""
import re
import subprocess
import unittest

from python_support import PYTHON, PythonTest

FUNCTIONS = '''
import toysim

def spin(times):
    for _ in range(times):
        toysim.spin(1)
    return times

def main():
    total = spin(3) + spin(4)
    env = toysim.Env()
    env.step(1)
    print("total", total)

if __name__ == "__main__":
    main()
'''


class Tools(PythonTest):
    def setUp(self):
        super().setUp()
        self.program = self.folder / "program.py"
        self.program.write_text(FUNCTIONS)

    def assert_same(self, *command, calls=None, cleaned=lambda text: text, **options):
        """`command` says the same with and without Sonde, which has recorded so many calls of toysim."""
        plain = subprocess.run(command, capture_output=True, text=True, env=self.environment, cwd=self.folder, **options)
        recorded = self.run_sonde(*command, options=("-f", "--sources", "+python"), **options)
        self.assertEqual(plain.returncode, recorded.returncode, recorded.stderr)
        self.assertEqual(cleaned(plain.stdout), cleaned(recorded.stdout))
        if calls is not None:
            self.assertEqual(self.rows("SELECT count(*) FROM v_slice WHERE kind = 'python' AND name LIKE 'toysim.%'"),
                             [(calls,)])
        return recorded.stdout

    def test_pdb(self):
        commands = "break spin\ncontinue\nwhere\nstep\nnext\np times\nclear 1\ncontinue\nquit\n"
        told = self.assert_same(PYTHON, "-m", "pdb", self.program, calls=8, input=commands)
        self.assertIn("program.py(5)spin()", told)
        self.assertIn("total 7", told)

    def test_cprofile(self):
        # Compares how often functions are called, not how long they take.
        def counts(text):
            rows = re.findall(r"^ +(\d+(?:/\d+)?) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ (.*)$", text, re.MULTILINE)
            return sorted((name, count) for count, name in rows if "program.py" in name or "toysim" in name)
        told = self.assert_same(PYTHON, "-m", "cProfile", self.program, calls=8, cleaned=counts)
        self.assertIn(("{built-in method toysim.spin}", "7"), counts(told))
        self.assertIn(("{method 'step' of 'toysim.Env' objects}", "1"), counts(told))

    def test_hooks_of_the_program(self):
        self.program.write_text(
            "import sys, threading\nimport toysim\nseen = []\n"
            "def hook(frame, event, argument):\n"
            "  if event.startswith('c_') and getattr(argument, '__module__', '') == 'toysim': seen.append((event, argument))\n"
            "def work():\n"
            "  toysim.spin(1)\n"
            "  toysim.fast(2)\n"
            "sys.setprofile(hook)\nthreading.setprofile(hook)\n"
            "work()\nthread = threading.Thread(target=work)\nthread.start()\nthread.join()\n"
            "sys.setprofile(None)\nwork()\nprint(seen)\nassert sys.getprofile() is None and sys.gettrace() is None\n")
        told = self.assert_same(PYTHON, self.program, calls=6)
        self.assertEqual(told.count("c_call"), 4)

    def test_coverage(self):
        self.assert_same(PYTHON, "-m", "coverage", "run", "--branch", self.program, calls=8)
        told = self.assert_same(PYTHON, "-m", "coverage", "report", "-m", "--include", "*/program.py")
        self.assertRegex(told, r"program\.py +12 +0 +4 +1 +94%")

    def test_pytest(self):
        (self.folder / "test_program.py").write_text(
            "import program, pytest, toysim\n"
            "def test_spin(): assert program.spin(5) == 5\n"
            "def test_fail():\n  with pytest.raises(RuntimeError, match='as told'): toysim.fail()\n"
            "def test_monkeypatch(monkeypatch):\n  monkeypatch.setattr(toysim, 'spin', lambda us: None)\n"
            "  assert program.spin(2) == 2\n"
            "@pytest.mark.xfail(strict=True)\ndef test_wrong(): assert toysim.spin(1) == 1\n")
        told = self.assert_same(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", calls=7,
                                cleaned=lambda text: re.sub(r" in [\d.]+s", "", text))
        self.assertIn("3 passed, 1 xfailed", told)


class Torch(PythonTest):
    def test_jit_script_and_trace(self):
        program = self.folder / "scripted.py"
        program.write_text('''
import torch

@torch.jit.script
def scaled(x, times: int):
    y = torch.relu(x).add(1.0)
    for _ in range(times):
        y = y * 2 + torch.nn.functional.linear(x, x)
    return y.sum()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
    def forward(self, x):
        return torch.softmax(self.linear(x), dim=-1) if x.sum() > 0 else x.neg()

torch.manual_seed(1)
x = torch.ones(4, 4)
net = Net()
scripted = torch.jit.script(net)
traced = torch.jit.trace(net, x)
print(scaled.graph)
print(scripted.graph)
print(traced.graph)
print(scaled(x, 2), scripted(x), traced(x), torch.jit.script(Net()).code)
''')
        plain = subprocess.run([PYTHON, program], capture_output=True, text=True, env=self.environment, check=True)
        recorded = self.run_sonde(PYTHON, program, options=("-f", "--sources", "+python"))
        self.assertEqual(recorded.stdout, plain.stdout, recorded.stderr)
        self.assertGreater(self.rows("SELECT count(*) FROM v_slice WHERE category = 'framework'")[0][0], 100)

    def test_overrides_hooks_and_fx(self):
        program = self.folder / "overriding.py"
        program.write_text('''
import torch, torch.fx

class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        print(function.__name__)
        return super().__torch_function__(function, types, arguments, keywords or {})

x = torch.ones(2, 2).as_subclass(Logged)
print((x + 1).sum(), torch.matmul(x, x), x.add(x).shape)
w = torch.ones(2, requires_grad=True)
w.register_hook(lambda gradient: print("hook", gradient))
(w * 3).sum().backward()

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(context, gradient):
        x, = context.saved_tensors
        return gradient * 3 * x ** 2

Cube.apply(w).sum().backward()
print(w.grad)
print(torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())).graph)
print(torch.vmap(torch.dot)(torch.ones(3, 4), torch.ones(3, 4)) if hasattr(torch, "vmap") else "")
''')
        plain = subprocess.run([PYTHON, program], capture_output=True, text=True, env=self.environment, check=True)
        recorded = self.run_sonde(PYTHON, program, options=("-f", "--sources", "+python"))
        self.assertEqual(recorded.stdout, plain.stdout, recorded.stderr)


if __name__ == "__main__":
    unittest.main()
