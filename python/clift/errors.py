"""What CLIFT raises: every message is one line that says where, what, and the cure."""

from typing import Any


class CliftError(Exception):
    """Base of every error that bad input causes.

    Example:
        >>> import clift
        >>> try:
        ...     clift.PhyTrace([0, 5, 5], [1, 1, 1])
        ... except clift.CliftError as error:
        ...     print(error)
        slot 2: t = 5 ns does not come after the slot before it; sort the trace and drop repeated
        times
    """

    def __str__(self) -> str:
        # A name or a value in a message may hold line ends; the message stays one line.
        return " ".join(super().__str__().splitlines())


class TraceError(CliftError, ValueError):
    """A trace, or a trace file, that is none or cannot be written."""


class ScenarioError(CliftError, ValueError):
    """A scenario, or parameters of a run, of which there can be no run.

    Attributes:
        key: The dotted key of the scenario that is wrong; empty where it has none.
        reason: What is wrong with it, and the cure.
        task: Of many scenarios, the number of the wrong one.
    """

    key: str = ""
    reason: str = ""
    task: int = 0


class SimulationError(CliftError):
    """A run that could not go on: its trace ended while a packet waited.

    Attributes:
        runs: Of many runs, in input order, each a finished run or None; else empty.
    """

    def __init__(self, message: str, runs: "list[Any] | None" = None) -> None:
        super().__init__(message)
        self.runs = runs or []


class OutOfMemory(CliftError, MemoryError):  # noqa: N818 - as Python's own is called
    """What was asked for needs more memory than may be taken (`clift.memory_limit`).

    It is refused before it is allocated; the message says what needs how much.
    """


class Interrupted(CliftError):  # noqa: N818 - nothing is wrong
    """Many runs were interrupted; what was done is kept.

    Attributes:
        runs: in input order, each a finished run or None.
    """

    def __init__(self, message: str, runs: "list[Any]") -> None:
        super().__init__(message)
        self.runs = runs
