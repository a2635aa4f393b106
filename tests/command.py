"""Runs `clift ...` in the process of the tests: no interpreter and no package start again."""

import contextlib
import io
import subprocess

from clift.cli.main import run


def clift(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Returns exit code, stdout and stderr, as a separate process would give them."""
    words = [str(one) for one in arguments]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
