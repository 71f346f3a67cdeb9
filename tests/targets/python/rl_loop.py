"""Reinforcement learning as RL-Scope's workloads do it: a simulator in C, a policy in PyTorch, Python between them.

    rl_loop.py on-policy|off-policy ITERATIONS

On-policy, a rollout of many steps is followed by few updates; off-policy, each step is followed by updates from a
replay buffer. Prints the simulator's own account of its calls as JSON.
"""
import json
import random
import sys

import sonde
import torch
import toysim

STEP_US = 150
STEPS, BATCH = 64, 128

torch.set_num_threads(1)
torch.manual_seed(1)
random.seed(1)
actor = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))
critic = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
env = toysim.Env()


def observed(number):
    """What an environment does around its simulator: Python."""
    return [((number * 31 + place * 17) % 101) / 101 for place in range(8)]


def rollout(steps):
    batch = []
    with sonde.operation("rollout"):
        for number in range(steps):
            with sonde.operation("inference"), torch.no_grad():
                observation = torch.tensor(observed(number))
                action = actor(observation)
            with sonde.operation("simulation"):
                reward = env.step(STEP_US) / STEP_US
            batch.append((observation, action, reward))
    return batch


def update(batch):
    with sonde.operation("update"):
        observations = torch.stack([each[0] for each in batch])
        actions = torch.stack([each[1] for each in batch])
        rewards = torch.tensor([each[2] for each in batch])
        value = critic(torch.cat([observations, actions], 1)).squeeze(1)
        loss = ((value - rewards) ** 2).mean() - critic(torch.cat([observations, actor(observations)], 1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def on_policy():
    batch = rollout(STEPS)
    for _ in range(2):
        update(batch)


buffer = []


def off_policy():
    for _ in range(8):
        buffer.extend(rollout(1))
        for _ in range(2):
            update(random.choices(buffer, k=BATCH))


iterate = {"on-policy": on_policy, "off-policy": off_policy}[sys.argv[1]]
for number in range(int(sys.argv[2])):
    with sonde.iteration(number):
        iterate()
((_, truth),) = toysim.truth().items()
print(json.dumps(truth))
