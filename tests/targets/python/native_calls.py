"""Calls the functions of toysim in every way that Python has, on several threads; prints its account as JSON."""
import functools
import json
import sys
import threading

import toysim

ROUNDS = int(sys.argv[1])


class Env(toysim.Env):
    pass


def work(number):
    env = Env()
    spin, step = toysim.spin, env.step
    for _ in range(ROUNDS):
        assert toysim.spin(20) == 21
        assert spin(1) == 2
        toysim.nothing()
        toysim.fast(1, 2, 3)
        toysim.fast(*[5])
        toysim.keywords(us=2)
        toysim.keywords(1, more=None)
        functools.partial(toysim.keywords, 3)()
        env.step(30)
        step(1)
        getattr(env, "step")(2)
        toysim.Env.step(env, 3)
        env.reset()
        env.cost(4)
        env + 5
        Env.size(1)
        env.size(*(2,))
        list(map(toysim.spin, range(number)))
        try:
            toysim.fail()
        except RuntimeError as error:
            assert str(error) == "as told"
        assert toysim.call(lambda: toysim.spin(7) + toysim.spin(8)) == 17
        assert sorted([3, 1, 2], key=toysim.spin) == [1, 2, 3]
    toysim.Env.make()


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
work(3)
for thread in threads:
    thread.join()
print(json.dumps(toysim.truth()))
