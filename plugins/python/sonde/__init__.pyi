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
    """One iteration. After its first use, Sonde no longer detects iterations by itself in this process."""

@overload
def iteration(number: _Function) -> _Function: ...
@overload
def evaluation(name: str = "evaluation") -> Scope:
    """An evaluation. It ends an iteration that Sonde has detected by itself."""

@overload
def evaluation(name: _Function) -> _Function: ...
def scalar(name: str, value: float, /) -> None:
    """Records a value of the current iteration: a loss, a learning rate, a reward."""

def mark(name: str, /) -> None:
    """Marks an instant in the timeline."""

@overload
def metadata(key: str, value: object, /, **facts: object) -> None:
    """Records facts about the run (algorithm, environment, seed), which every report shows. Values are stored as
    `str(value)`."""

@overload
def metadata(**facts: object) -> None: ...
def iteration_info(samples: int = 0, tokens: int = 0, flops: float = 0.0) -> None:
    """Records the amount of work in the current iteration; 0 if unknown."""

def tensor(name: str, value: Any, /) -> None:
    """Records statistics of a tensor, or of a value that torch converts to one, in the current iteration: `sonde run
    --sources +tensor`."""

__version__: str
