"""Exceptions of CLIFT. Each message is one line with the place, the fault and the cure."""

from typing import Any


class CliftError(Exception):
    """Base of all errors that bad input causes.

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
        # Names and values in a message may contain line breaks; the message is one line.
        return " ".join(super().__str__().splitlines())


class TraceError(CliftError, ValueError):
    """A trace or a trace file that is not valid, or that is not writable."""


class ScenarioError(CliftError, ValueError):
    """A scenario or a parameter that is not valid.

    Attributes:
        key: Dotted key of the scenario that is wrong; empty if there is none.
        reason: The fault and the cure.
        task: Number of the wrong scenario, if there are many.
    """

    key: str = ""
    reason: str = ""
    task: int = 0


class ChangedFileError(ScenarioError):
    """A file that a study reads has changed while it ran."""


class SimulationError(CliftError):
    """A run that cannot continue: its trace ended while a packet waited.

    Attributes:
        runs: Of many runs, finished runs or None in input order; otherwise empty.
    """

    def __init__(self, message: str, runs: "list[Any] | None" = None) -> None:
        super().__init__(message)
        self.runs = runs or []


class OutOfMemory(CliftError, MemoryError):  # noqa: N818 - as Python's own is called
    """The work needs more memory than the limit (`clift.memory_limit`).

    The error is raised before the allocation; the message says what needs how much.
    """


class Interrupted(CliftError):  # noqa: N818 - nothing is wrong
    """Ctrl-C interrupted many runs; finished runs are kept.

    Attributes:
        runs: Finished runs or None, in input order.
    """

    def __init__(self, message: str, runs: "list[Any]") -> None:
        super().__init__(message)
        self.runs = runs
