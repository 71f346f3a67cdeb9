"""The same step under Sonde's operators and under PyTorch's own profiler, which tells of it in JSON: for each operator its
name, the names of the operators around it, and its inputs' shapes; and which operator each backward function is of."""
import json
import sys
import threading
import warnings

import sonde
import torch
from torch.autograd.profiler_util import EventList
from torch.profiler import ProfilerActivity, profile

warnings.simplefilter("ignore")
EventList._remove_dup_nodes = lambda self: None  # keeps an operator that only calls another overload of itself
torch.set_num_threads(1)
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                          torch.nn.Linear(4 * 6 * 6, 10))
recurrent = torch.nn.LSTM(5, 7)
optimizer = torch.optim.Adam([*net.parameters(), *recurrent.parameters()])
images, words, labels = torch.randn(2, 3, 8, 8), torch.randn(4, 2, 5), torch.tensor([1, 2])


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(context, gradient):
        return gradient * 3 * context.saved_tensors[0] ** 2


def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(images), labels)
    output, _ = recurrent(words)
    loss = loss + Cube.apply(output).sum() + torch.stack([loss, loss]).mean() + torch.tensor(1.0)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        torch.fft.fft(torch.arange(8.0)).abs().sort()
    try:
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    except RuntimeError:
        pass


def elsewhere():
    with sonde.operation("elsewhere"):
        torch.ones(3).cumsum(0)


step()
with sonde.operation("measured"):
    step()
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
    step()
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()


def forward(function, results):
    results.append(getattr(torch.ones(2, requires_grad=True), function)().sum())


results = []  # of threads that count their nodes alike
for function in ("exp", "sin"):
    thread = threading.Thread(target=forward, args=(function, results))
    thread.start()
    thread.join()
with sonde.operation("joined"):
    (results[1] - results[0]).backward()
told = []
for event in profiler.events():
    around, parent = [], event.cpu_parent
    while parent is not None:
        around.append(parent.name)
        parent = parent.cpu_parent
    told.append([event.name, around, event.input_shapes])
makers, pairs = {}, []
for event in profiler.events():
    if event.fwd_thread == 0:  # by the profiler's own rule the last of those that are told one number
        makers[event.thread, event.sequence_nr] = event.name
    elif event.sequence_nr >= 0 and ":" not in event.name:
        pairs.append([makers.get((event.fwd_thread, event.sequence_nr)), event.name])
# Up to 2.2 torch's times are whole microseconds, from which it guesses the nesting.
json.dump({"events": told, "pairs": pairs, "nested": tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 3)}, sys.stdout)
