"""The first code of the `ottla` command: Ctrl-C ends the process without a traceback.

Python raises KeyboardInterrupt wherever a program is, also in an import. Until `main` handles it,
and once `main` has returned, Ctrl-C has its effect of the operating system instead: it ends the
process. Before this module runs, Python itself starts, and nothing can be done.
"""

import _signal  # type: ignore[import-not-found]  # built in; `signal` takes time to load

_IS_OURS = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _IS_OURS:  # otherwise it is ignored, as in background jobs of shells
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def main() -> int:
    from ottla.cli.main import main as run

    try:
        return run(takes_interrupts=_IS_OURS)
    finally:
        if _IS_OURS:
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
