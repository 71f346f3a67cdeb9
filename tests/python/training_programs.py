"""Texts that the programs of the tests on torch begin with."""

MODEL = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(8, 1))
    def forward(self, x):
        return self.rest(self.first(x))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
def loss_of(batch, model=net):
    return ((model(batch[0]) - batch[1]) ** 2).mean()
def step(batch):
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    optimizer.step()
    return loss
batch = data[:8]
"""

# Uses much of torch and prints its results, which must be the same with and without the hooks.
EVERYTHING = MODEL + """
import copy, io, inspect, pickle, random, sys, warnings
for epoch in range(2):
    net.train()
    for one in DataLoader(data, 8, shuffle=True, num_workers=2 * epoch):
        print(step(one).item())
    net.eval()
    with torch.no_grad():
        print(sum(loss_of(one).item() for one in DataLoader(data, 8)))
print(torch.rand(3), random.random() < 2, torch.get_rng_state().sum())

twin = copy.deepcopy(net)
print(twin(batch[0]).sum().item(), pickle.loads(pickle.dumps(net))(batch[0]).sum().item())
again = pickle.loads(pickle.dumps(optimizer))
print(type(again).__name__, again.state_dict() == optimizer.state_dict(), copy.deepcopy(optimizer).defaults["lr"])
print(pickle.loads(pickle.dumps(torch.save)) is torch.save, inspect.signature(torch.optim.SGD.step))

scripted = torch.jit.script(net)
print(scripted(batch[0]).sum().item(), len(str(scripted.graph)) > 10)
traced = torch.jit.trace(net, batch[0])
print(traced(batch[0]).sum().item(), sorted(set(n.kind() for n in traced.inlined_graph.nodes())))
@torch.jit.script
def scripted_backward(x: torch.Tensor):
    torch.autograd.backward([(x * x).sum()])
    (x * x).sum().backward()
leaf = torch.ones(2, requires_grad=True)
scripted_backward(leaf)
print(leaf.grad)
print([node.op for node in torch.fx.symbolic_trace(net).graph.nodes])

file = io.BytesIO()
torch.save({"net": net.state_dict(), "n": 3}, file)
file.seek(0)
print(sorted(torch.load(file)))

lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=3)
def closure():
    lbfgs.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    return loss
print(lbfgs.step(closure).item())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    step(batch)
    scheduler.step()
print([str(w.message) for w in caught], optimizer.param_groups[0]["lr"])

class Seen(torch.utils._python_dispatch.TorchDispatchMode):
    count = 0
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        Seen.count += 1
        return function(*args, **(kwargs or {}))
with Seen():
    step(batch)
print("dispatched", Seen.count)
x = torch.ones(3, requires_grad=True)
print(torch.autograd.grad((x ** 3).sum(), x, create_graph=True)[0].sum().item())
try:
    net(torch.ones(2, 5))
except RuntimeError as error:
    print(type(error).__name__, str(error)[:30], error.__context__)
try:
    torch.ones(2).backward()
except RuntimeError as error:
    print(str(error)[:40])
print(torch.__spec__.loader is torch.__loader__, type(torch.__loader__).__name__, sorted(sys.argv[1:]))
sys.exit(7)
"""
