"""Determines where iterations, micro-steps and evaluations begin and end.

An iteration lasts from the end of one step() of the first optimiser seen to the end of the next. The first one begins
with the first batch, forward or backward. After the step that exhausts the DataLoader, the next iteration waits for the
next epoch, so that an evaluation in between belongs to no iteration. An iteration without a step (because the program
ended or an evaluation began) is marked `sonde.complete = 0` (collector/wire/iteration_keys.h).

Boundaries respect the program's own annotations. If one is open inside an iteration, the boundary waits until it has
ended. If one that opened before the iteration is about to end, the iteration ends first. All regions are on the home
thread, which is the thread that trains. Other threads move no boundary, except by a step(), which takes effect at the
home thread's next event.
"""
import atexit
import os
import threading

from sonde import _sonde
from sonde._torch.guard import EVALUATION, ITERATION, MICRO_STEP, Guard
from sonde._torch.masking import MASKING


class Training(_sonde.Steps):
    """The extension reads the attributes `gradients` (torch.is_grad_enabled), `skips` (guard.in_graph), `backwards`,
    `proven` and their neighbours, and skips events that would change none of them
    (plugins/python/extension/inside.c)."""

    def __init__(self):
        self.guard = Guard("training")
        self.iteration = _sonde.Region(ITERATION, "iteration", self._iteration_heard)
        self.micro = _sonde.Region(MICRO_STEP, "micro_step", self._micro_heard)
        self.evaluation = _sonde.Region(EVALUATION, "evaluation", self._evaluation_heard)
        self.forget()
        self.overridden = False
        self.given = -1          # the number of the program's own iteration; the extension increments it
        self.suspended = 0
        _sonde.watch(lambda kind, entering, number: self.guard.run(self._annotated, kind, entering, number))
        os.register_at_fork(after_in_child=self.forget)
        atexit.register(lambda: self.guard.run(self.finish))

    def forget(self):
        """Resets the state in a forked child."""
        self.home = None         # the Thread that trains
        self.settles(False)
        self.proven = False      # a training forward or a backward has been seen
        self.inference = False   # only evaluations so far: batches alone begin no iteration
        self.number = 0
        self.stepped = False     # step() came from another thread
        self.awaited = None      # action once no scope is open inside the iteration: "step" or "drop"
        self.exhausted = False   # the DataLoader of this iteration is used up
        self.samples = self.tokens = 0
        self.backwards = 0
        self.accumulates = False
        self.single = 0          # iterations in a row with one backward
        self.since_enclosing = 0

    # -- events ---------------------------------------------------------------------------------------------------

    def _is_home(self, adopt):
        if self.at_home():
            return True
        current = threading.current_thread()
        if self.home is None or not self.home.is_alive():
            if adopt or current is threading.main_thread():
                self.home = current
                self.settles(True)
        return self.at_home()

    def event(self, trains=True):
        """A part of an iteration begins on this thread; `trains`: it is a forward or backward, not just a batch."""
        if self.suspended or not self._is_home(trains):
            return
        if trains:
            self.proven, self.inference = True, False
        if self.stepped:
            self.stepped = False
            self._boundary()
        if self.overridden or self.evaluation.is_open or self.inference:
            return
        if not self.iteration.is_open:
            self._open()
        elif self.accumulates and not self.micro.is_open:
            self.micro.begin()

    def forward(self):
        """A training forward begins."""
        if self.evaluation.is_open:
            self.end_evaluation()
        if self.backwards > 0 and self.iteration.is_open:
            self.accumulates = True
        self.event()

    def backward(self):
        """A backward begins."""
        if self.evaluation.is_open:
            self.end_evaluation()
        self.event()

    def loaded(self, samples, tokens, exhausted):
        """A batch has arrived on this thread."""
        if self.at_home() and not self.evaluation.is_open:
            self.samples += samples
            self.tokens += tokens
            self.exhausted = exhausted

    def step_begins(self):
        """A step, which may have a closure, begins."""
        if not self.iteration.is_open:
            self.event()

    def step_ended(self, primary):
        """An optimiser has stepped; `primary`: its steps end iterations."""
        if not primary:
            self.backwards = 0
        elif self.home is None or self.at_home():
            self._boundary()
        else:
            self.stepped = True

    def current(self):
        """The number of the iteration that is open or comes next."""
        return self.given if self.overridden else self.number

    # -- iterations -----------------------------------------------------------------------------------------------

    def _boundary(self):
        if self.overridden or self.suspended:
            self._count()
        elif not self.iteration.is_open:
            self.number += 1
            if self.home is not None and not self.evaluation.is_open and not self.exhausted:
                self._open()
        else:
            self.micro.end(False)  # only a micro step without a backward is still open
            if self.iteration.settled() or self.awaited == "step":
                # An annotation that began in the iteration and contains a second step must be crossed.
                self._next()
            else:
                self.awaited = "step"

    def passes(self):
        """A fast form of _boundary() for the usual step of the primary optimiser. False: it is another optimiser's."""
        if self.overridden or self.suspended or self.exhausted or self.awaited is not None or self.micro.is_open:
            return False
        masked = MASKING.torch
        if not self.iteration.turn(self.number + 1, self.samples, self.tokens):
            return False
        self._note_backwards(masked)
        self.number += 1
        self.since_enclosing += 1
        self.samples = self.tokens = self.backwards = 0
        if self.accumulates and not MASKING.torch:
            self.micro.begin()
        return True

    def _note_backwards(self, masked):
        if not masked:  # otherwise they were not seen
            self.single = self.single + 1 if self.backwards < 2 else 0
            self.accumulates = self.accumulates and self.single < 2

    def _open(self):
        self.samples = self.tokens = self.backwards = 0
        self.exhausted, self.awaited = False, None
        self.iteration.begin(self.number)
        if self.accumulates and not MASKING.torch:
            self.micro.begin()

    def _count(self):
        if self.samples or self.tokens:
            _sonde.torch_work(self.samples, self.tokens)
        self.samples = self.tokens = 0

    def _next(self):
        """Ends the iteration and begins the next."""
        self._count()
        self._note_backwards(MASKING.torch)
        self.awaited = None
        self.iteration.end()
        self.number += 1
        self.since_enclosing += 1
        self.backwards = 0
        if self.exhausted:
            MASKING.follow()
        else:
            self._open()

    def _drop(self):
        """Ends the open iteration without a step, now or when no scope is open inside."""
        self.micro.end(False)
        if not self.iteration.is_open:
            return
        if self.awaited == "step":
            self.exhausted = True  # its step is done; only no new iteration begins
        elif self.iteration.settled():
            self.iteration.end(False)
            MASKING.follow()
        else:
            self.awaited = "drop"

    def _give_way(self):
        """Called when the program marks its own iterations. Ends the open iteration now, even if an annotation inside
        it is still open: otherwise it would enclose all of the program's iterations, which are the ones that count."""
        self.overridden = True
        self.micro.end(False)
        if self.awaited == "step":
            self._count()
        self.iteration.end(self.awaited == "step")
        self.awaited = None

    # -- evaluation -----------------------------------------------------------------------------------------------

    def begin_evaluation(self):
        if not self.suspended and self._is_home(False) and not self.evaluation.is_open:
            self._drop()
            MASKING.follow()
            self.evaluation.begin()

    def end_evaluation(self):
        if self.evaluation.is_open and self.evaluation.settled():
            self.evaluation.end()

    def is_evaluation(self):
        """Whether inference with a model that was never trained is an evaluation of its own: not part of another one
        or, like a teacher's, of an iteration."""
        if self.evaluation.is_open or self.suspended or (self.proven and self.iteration.is_open):
            return False
        if not self.proven and self.at_home():
            self.inference = True
            self._drop()
        return True

    # -- what the extension tells -----------------------------------------------------------------------------------

    def _iteration_heard(self, region, event):
        if event == "settled":
            awaited, self.awaited = self.awaited, None
            if awaited is not None:
                self.guard.run(self._next if awaited == "step" else self._drop)
        elif event == "ended":
            self.guard.run(self.event, False)
        elif event == "enclosing":
            # A scope around exactly one iteration is a training step: from its end on, iterations enclose such scopes.
            region.end(self.awaited == "step")
            again, self.since_enclosing = self.since_enclosing == 1, 0
            return again
        return False

    def _micro_heard(self, region, event):
        region.end(event == "settled")

    def _evaluation_heard(self, region, event):
        region.end()

    def _annotated(self, kind, entering, number):
        """The program opens or closes its own iteration or evaluation."""
        if self.home is not None and not self.at_home():
            return
        if kind == ITERATION and entering:
            self.given = self.given + 1 if number is None else number
            if not self.overridden:
                self._give_way()
        elif kind == EVALUATION:
            if entering:
                self._drop()
                MASKING.follow()
            self.suspended += 1 if entering else -1

    def finish(self):
        self.evaluation.end()
        self.micro.end(False)
        self.iteration.end(False)


TRAINING = Training()
