"""Worker processes that end when their work or their parent does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from ..exceptions import CURPlusError

__all__ = ["ignoring_interrupts", "workers"]


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end at once when the caller is interrupted or fails, and when it is killed."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_follow_parent)
    try:
        with pool:
            try:
                yield pool
            except BaseException:
                for child in multiprocessing.active_children():
                    child.terminate()
                pool.shutdown(cancel_futures=True)  # waits, so that nothing of the pool is left at exit
                raise
    except BrokenProcessPool as error:
        raise CURPlusError(
            "a worker process ended before its work was done. If memory ran out, run the same command again with fewer "
            "jobs; what was finished is kept. In a script, start from under 'if __name__ == \"__main__\":', since "
            "workers import it."
        ) from error


@contextmanager
def ignoring_interrupts() -> Iterator[None]:
    """Workers that are started meanwhile leave Ctrl-C to their parent from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set what happens to signals
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _follow_parent() -> None:
    """In a worker: end when the parent does, and leave Ctrl-C to it (Windows hands down no ignored signals)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
