"""Link-layer reliability schemes (DESIGN section 4; Kuhn 2014, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import clift._parse as _parse
from clift.errors import ScenarioError


@dataclass(frozen=True, slots=True)
class NoScheme:
    """No scheme: the link trace is the PHY trace.

    >>> str(NoScheme())
    'none'
    """

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True, slots=True)
class Fec:
    """Block erasure code without feedback: ``k`` of ``n`` LLDUs carry data.

    Args:
        k: data LLDUs of a block.
        n: LLDUs of a block, 1 <= k <= n <= 65535.
        interleave: depth in code words; 1: none.

    >>> str(Fec(10, 12)), str(Fec(10, 12, interleave=8))
    ('FEC(10/12)', 'FEC(10/12, interleave 8)')
    """

    k: int
    n: int
    interleave: int = 1

    def __post_init__(self) -> None:
        _check_block("Fec", self.k, self.n)
        _check_count("Fec", "interleave", self.interleave, at_least=1)

    def __str__(self) -> str:
        depth = f", interleave {self.interleave}" if self.interleave != 1 else ""
        return f"FEC({self.k}/{self.n}{depth})"


@dataclass(frozen=True, slots=True)
class Arq:
    """Selective-repeat ARQ.

    Args:
        max_retx: maximum number of retransmissions of an LLDU; None: no limit.

    >>> str(Arq()), str(Arq(max_retx=3))
    ('ARQ', 'ARQ(max 3)')
    """

    max_retx: int | None = None

    def __post_init__(self) -> None:
        if self.max_retx is not None:
            _check_count("Arq", "max_retx", self.max_retx, at_least=0)

    def __str__(self) -> str:
        return "ARQ" if self.max_retx is None else f"ARQ(max {self.max_retx})"


@dataclass(frozen=True, slots=True)
class Harq2:
    """Type-II hybrid ARQ: a block code whose repair LLDUs are also sent on demand.

    Args:
        k: data LLDUs of a block (the papers' N_D).
        n: LLDUs of a block at its first transmission (N_D + N_R).
        extra: repair LLDUs sent per round in addition to the missing ones (N_S).
        max_rounds: maximum number of repair rounds; None: until decoded.

    >>> str(Harq2(10, 12)), str(Harq2(10, 12, extra=1, max_rounds=2))
    ('HARQ(10/12)', 'HARQ(10/12, extra 1, rounds 2)')
    """

    k: int
    n: int
    extra: int = 0
    max_rounds: int | None = None

    def __post_init__(self) -> None:
        _check_block("Harq2", self.k, self.n)
        _check_count("Harq2", "extra", self.extra, at_least=0)
        if self.max_rounds is not None:
            _check_count("Harq2", "max_rounds", self.max_rounds, at_least=0)

    def __str__(self) -> str:
        extra = f", extra {self.extra}" if self.extra else ""
        rounds = f", rounds {self.max_rounds}" if self.max_rounds is not None else ""
        return f"HARQ({self.k}/{self.n}{extra}{rounds})"


Scheme = NoScheme | Fec | Arq | Harq2
"""Any scheme; functions that take one also take its text, such as ``"HARQ(10/12)"``."""


def scheme_text(scheme: Scheme | str) -> str:
    """The text of a scheme; the core checks the text.

    Raises:
        ScenarioError: If it is neither a scheme nor text.

    >>> scheme_text(Harq2(10, 12)), scheme_text("ARQ")
    ('HARQ(10/12)', 'ARQ')
    """
    if isinstance(scheme, Scheme | str):
        return str(scheme)
    raise _parse.fault("scheme", scheme, "give a scheme such as clift.Arq(), or its text 'ARQ'")


def _check_block(scheme: str, k: int, n: int) -> None:
    fits = _parse.real(k) is not None and _parse.real(n) is not None
    if not fits or not 1 <= k <= n <= 65535 or k != int(k) or n != int(n):
        message = f"{scheme}({k}, {n}): a block carries k of n LLDUs; give 1 <= k <= n <= 65535"
        raise ScenarioError(message)


def _check_count(scheme: str, name: str, value: int, at_least: int) -> None:
    _parse.whole(f"{scheme}: {name}", value, at_least, _parse.COUNT)
