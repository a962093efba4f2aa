"""Alternating measurements of contenders, and figures from their times."""
import math
import statistics
import time
from dataclasses import dataclass

from contenders import ContenderError, same


@dataclass
class Row:
    """One case compared with one variant of a peer; peer "" if no peer has the case."""
    case: str
    variant: str
    peer: str
    threads: int
    ours_us: float
    peer_us: float | None
    ratio: float | None
    spread: float
    shape: str = ""  # the parameters, if they were drawn


def quartile_spread(values):
    """The interquartile distance divided by the median."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle


def calls_for(contender, sample_us):
    """The number of calls with which a sample takes about sample_us."""
    calls = 1
    for _ in range(4):
        us = contender.run(calls) * calls
        if us >= sample_us / 2:
            break
        calls = max(calls + 1, min(math.ceil(calls * sample_us / max(us, 0.1)), 1000 * calls))
    return calls


def interleaved(contenders, samples, sample_us, seconds=math.inf):
    """Microseconds per call of every sample, per contender. Every round runs each of them once, in an order that is reversed from
    round to round. Finding the number of calls is the warm-up. After `seconds`, three rounds are enough."""
    calls = [calls_for(c, sample_us) for c in contenders]
    times = [[] for _ in contenders]
    began = time.monotonic()
    for round_ in range(samples):
        if round_ >= 3 and time.monotonic() - began > seconds:
            break
        turn = range(len(contenders))
        for i in reversed(turn) if round_ % 2 else turn:
            times[i].append(contenders[i].run(calls[i]))
    return times


def in_words(parameters):
    """n=5 dtype=f: the dtype is sent as the number of its character."""
    return " ".join(f"{name}={chr(int(value)) if name == 'dtype' else value}" for name, value in parameters.items())


def measure(case, parameters, ours, peers, threads, samples, sample_us, say, seconds=math.inf):
    """The rows of a case, and whether a contender's result differed. Peers that cannot run the case are reported and left out."""
    ours.setup(case, parameters)
    expected = ours.result()
    ready, wrong = [], False
    for peer in peers:
        try:
            peer.setup(case, parameters)
            got = peer.result()
        except ContenderError as e:
            say(f"{case}: {peer.name} ({peer.variant}) is left out: {e}")
            continue
        if same(expected, got):
            ready.append(peer)
        else:
            wrong = True
            say(f"{case}: WRONG RESULT: {in_words(parameters)}: catena has {expected}, {peer.name} ({peer.variant}) {got}")
    our_times, *peer_times = interleaved([ours, *ready], samples, sample_us, seconds)
    ours_us = statistics.median(our_times)
    rows = []
    for peer, times in zip(ready, peer_times):
        peer_us = statistics.median(times)
        ratios = [b / a for a, b in zip(our_times, times)]
        rows.append(Row(case, peer.variant, peer.name, threads, ours_us, peer_us, peer_us / ours_us, quartile_spread(ratios)))
    return rows or [Row(case, "", "", threads, ours_us, None, None, quartile_spread(our_times))], wrong
