"""What CLIFT raises: every message is one line that says where, what, and the cure."""


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


class TraceError(CliftError, ValueError):
    """A trace, or a trace file, that is none or cannot be written."""


class ScenarioError(CliftError, ValueError):
    """A scenario, or parameters of a run, that cannot be."""


class SimulationError(CliftError, RuntimeError):
    """A run that could not reach its end."""


class Interrupted(CliftError):
    """A run that was stopped before its end."""
