from types import TracebackType
from typing import Any, Callable, Literal, Optional, Type, TypeVar, overload

_Function = TypeVar("_Function", bound=Callable[..., Any])

class Scope:
    def __enter__(self) -> Scope: ...
    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> Literal[False]: ...
    def __call__(self, function: _Function) -> _Function: ...

@overload
def operation(name: str, /) -> Scope:
    """An algorithmic operation: `with sonde.operation("rollout"):`, or a decorator."""

@overload
def operation(function: _Function, /) -> _Function: ...
@overload
def phase(name: str, /) -> Scope:
    """A phase of the program: warm-up, training, evaluation."""

@overload
def phase(function: _Function, /) -> _Function: ...
@overload
def iteration(number: Optional[int] = None) -> Scope:
    """One iteration. From its first use on, Sonde looks for no iterations by itself in this process."""

@overload
def iteration(number: _Function) -> _Function: ...
@overload
def evaluation(name: str = "evaluation") -> Scope:
    """An evaluation. An iteration that Sonde had begun by itself ends before it."""

@overload
def evaluation(name: _Function) -> _Function: ...
def scalar(name: str, value: float, /) -> None:
    """A value of the current iteration: a loss, a learning rate, a reward."""

def mark(name: str, /) -> None:
    """An instant worth a flag in the timeline."""

@overload
def metadata(key: str, value: object, /, **facts: object) -> None:
    """Facts about the run (algorithm, environment, seed), shown in every report. Values are recorded as `str(value)`."""

@overload
def metadata(**facts: object) -> None: ...
def iteration_info(samples: int = 0, tokens: int = 0, flops: float = 0.0) -> None:
    """How much work the current iteration does; 0 where unknown."""

def tensor(name: str, value: Any, /) -> None:
    """Statistics of a tensor, or of what torch makes one of, in the current iteration: `sonde run --sources +tensor`."""

__version__: str
