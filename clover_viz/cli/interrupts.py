"""Ctrl-C while a run is going."""

import signal
import threading
from contextlib import contextmanager


@contextmanager
def interrupts_set(cancel: threading.Event):
    """The first Ctrl-C ends the run cleanly before its next pass, the second one ends the program."""

    def handler(signum, frame):
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
