"""A Python library as a contender: the requests of contender.h on standard input, one line of answer each.

A peer is a table {case: {variant: setup}}. setup(parameters) gives a function, one call of the case, or a Case if there is more to
state. "default" is the variant without any settings.
"""
import contextlib
import itertools
import sys
import time


class Case:
    """A case that is set up: the call, the context around it, and the function that gives its result."""

    def __init__(self, call, around=contextlib.nullcontext, result=None):
        self.call, self.around, self.result = call, around, result or call
        self.call_ns = 0  # when it was last timed


def rotating(p, make, f):
    """f on one of p["sets"] inputs, the next one in each call."""
    following = itertools.cycle([make(seed) for seed in range(p["sets"])]).__next__
    return lambda: f(following())


LONG_CALL_NS = 10**9


def timed(case, calls, synchronize):
    """Nanoseconds of the calls, after an untimed one unless the case is known to be long."""
    call = case.call
    with case.around():
        if case.call_ns < LONG_CALL_NS:
            call()
            synchronize()
        turns = itertools.repeat(None, calls)
        start = time.perf_counter_ns()
        for _ in turns:
            call()
        synchronize()
        ns = time.perf_counter_ns() - start
    case.call_ns = ns / calls
    return ns


def serve(table, fingerprint, synchronize, versions):
    case = None
    for line in sys.stdin:
        request, *words = line.split()
        try:
            if request == "variants":
                answer = " ".join(table.get(words[0], {}))
            elif request == "versions":
                answer = versions
            elif request == "setup":
                case = None
                name, variant, *parameters = words
                ready = table[name][variant]({k: int(v) for k, v in (w.split("=") for w in parameters)})
                case = ready if isinstance(ready, Case) else Case(ready)
                answer = ""
            elif request == "result":
                with case.around():
                    answer = fingerprint(case.result())
            elif request == "run":
                answer = str(timed(case, int(words[0]), synchronize))
            else:
                raise ValueError(f"{request!r} is no request")
            print("ok", answer, flush=True)
        except Exception as e:  # reported in the answer
            print("error", " ".join(f"{type(e).__name__}: {e}".split()), flush=True)
