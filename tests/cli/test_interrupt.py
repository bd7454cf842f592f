"""A signal to stop is heard whichever handler stands when it comes."""

import os
import signal

import pytest

from dataassets.cli.interrupt import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_though_a_handler_swallows_it(number):
    before = signal.getsignal(number)
    try:
        with Interrupts() as interrupts:
            assert not interrupts.heard
            signal.signal(number, lambda *_: None)
            os.kill(os.getpid(), number)
            assert interrupts.heard
            assert interrupts.heard
    finally:
        signal.signal(number, before)
    assert signal.set_wakeup_fd(-1) == -1


def test_other_signals_are_not_taken_for_it():
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert not interrupts.heard
    finally:
        signal.signal(signal.SIGUSR1, before)
