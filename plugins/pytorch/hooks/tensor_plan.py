"""The tensors and iterations to read: the plan of `sonde run --tensors`; without one, all built-in collections in each
100th iteration.

A collection has a schedule and a selection: its kinds of tensors (`weights`, `activations`, …), and regular expressions
that a tensor's name must match or must not match.
"""
import json
import re
import warnings

WEIGHT, GRADIENT, INPUT, OUTPUT, LOSS, OTHER = 1, 2, 3, 4, 5, 6
ROLES = {"weights": WEIGHT, "gradients": GRADIENT, "inputs": INPUT, "outputs": OUTPUT, "activations": OUTPUT,
         "losses": LOSS}
EVERY = 100
SAVE_LIMIT_MIB = 1024


class Collection:
    """Reports a fault with `told(key, text)`; a faulty collection selects nothing."""

    def __init__(self, described, told):
        self.name = described["name"]
        self.of = frozenset(described.get("of", (self.name,)))
        self.every = described.get("every", EVERY)
        self.start = described.get("start", 0)
        self.end = described.get("end")
        self.iterations = frozenset(described.get("iterations", ()))
        self.saves = described.get("save", False)
        self.implied = described.get("implied", False)  # not requested by name
        self.was_due = False
        self.found = False     # whether a matching tensor was seen
        self.usable = True
        self.known = {}        # name of a tensor -> whether it is selected
        self.include = self._expressions(described.get("include", ()), told)
        self.exclude = self._expressions(described.get("exclude", ()), told)

    def _expressions(self, texts, told):
        expressions = []
        for text in texts:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # they would mean nothing to the program
                    expressions.append(re.compile(text))
            except Exception as error:  # re.error, but also others
                self.usable = False
                told(self.name, f"switched off: {text!r} is not a regular expression: {error}")
        return expressions

    def is_due(self, iteration):
        if iteration in self.iterations:
            return True
        return (self.every > 0 and iteration >= self.start and (self.end is None or iteration < self.end)
                and (iteration - self.start) % self.every == 0)

    def selects(self, of, name):
        if of not in self.of:
            return False
        selected = self.known.get(name)
        if selected is None:
            selected = self.known[name] = self._matches(name)
        self.found |= selected
        return selected

    def _matches(self, name):
        if self.include and not any(one.search(name) for one in self.include):
            return False
        return not any(one.search(name) for one in self.exclude)


class Plan:
    def __init__(self, text, told):
        described = json.loads(text) if text else {"collections": [{"name": name, "implied": True} for name in ROLES]}
        collections = [Collection(one, told) for one in described["collections"]]
        self.collections = [one for one in collections if one.usable]
        self.unusable = len(collections) - len(self.collections)
        self.given = (Collection({"name": "tensors", "of": (), "save": described.get("save-given", False)}, told),)
        self.finds_first_nan = described.get("first-nan", False)
        self.save_limit = described.get("save-limit-mib", SAVE_LIMIT_MIB) << 20
        self.iteration = None  # to which `due` belongs
        self.due = ()

    def at(self, iteration):
        """The collections that are due."""
        if iteration != self.iteration:
            self.iteration = iteration
            self.due = tuple(one for one in self.collections if one.is_due(iteration))
            for one in self.due:
                one.was_due = True
        return self.due

    def missed(self):
        """The requested collections that were due but had no tensor."""
        return [one for one in self.collections if one.was_due and not one.found and not one.implied]
