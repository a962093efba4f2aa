"""The table of a sweep: what the ratios of a case are over all shapes that were drawn."""
import math

import bars
from measure import Row
from report import aligned, number

WORST_TENTH, WORST = 0.9, 0.6  # of the best peer's speed: of all shapes but a tenth, and of every shape


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def worst_tenth(values):
    """The value that at most a tenth of all are below."""
    return sorted(values)[len(values) // 10]


def by_shape(rows):
    """{(case, threads): {shape: {peer: the ratio to its fastest variant}}}"""
    found = {}
    for row in rows:
        shapes = found.setdefault((row.case, row.threads), {})
        ratios = shapes.setdefault(row.shape, {})
        if row.peer:
            ratios[row.peer] = min(row.ratio, ratios.get(row.peer, math.inf))
    return found


def ours(rows):
    return {(row.case, row.threads, row.shape): row.ours_us for row in rows}


def mean_rows(rows):
    """A row per case, number of threads and peer, with the geometric mean of its ratios: for the plot."""
    found = []
    for (case, threads), shapes in by_shape(rows).items():
        for peer in dict.fromkeys(peer for ratios in shapes.values() for peer in ratios):
            mean = geometric_mean([ratios[peer] for ratios in shapes.values() if peer in ratios])
            found.append(Row(case, "", peer, threads, 1.0, mean, mean, 0.0))
    return found


def verdict(case, threads, means, ratios):
    """(bar, met): the bars of the geometric mean to each peer, of the worst tenth and of the worst shape."""
    if threads != 2 or not ratios:
        return "", ""
    wanted = {peer: bars.asked(case, peer, "default") for peer in means}
    wants = [f"{peer} >= {bar:g}x" for peer, bar in wanted.items() if bar]
    met = all(means[peer] >= bar for peer, bar in wanted.items() if bar)
    met = met and worst_tenth(ratios) >= WORST_TENTH and min(ratios) >= WORST
    return ", ".join(wants), "yes" if met else "NO"


def table(rows, with_bars):
    """Per case: the geometric mean of the ratios to each peer; the geometric mean, the worst tenth and the worst of the ratios to the
    fastest peer of each shape."""
    peers = list(dict.fromkeys(row.peer for row in rows if row.peer))
    lines = [["case", "threads", "shapes", *peers, "best peer", "worst tenth", "worst", "ours, us", "worst shape", "bar", "met"]]
    our_us = ours(rows)
    for (case, threads), shapes in by_shape(rows).items():
        means = {}
        for peer in peers:
            if ratios := [r[peer] for r in shapes.values() if peer in r]:
                means[peer] = geometric_mean(ratios)
        best = {shape: min(r.values()) for shape, r in shapes.items() if r}
        line = [case, str(threads), str(len(shapes)), *(f"{means[peer]:.2f}" if peer in means else "" for peer in peers)]
        if best:
            worst = min(best, key=best.get)
            line += [f"{geometric_mean(best.values()):.2f}", f"{worst_tenth(best.values()):.2f}", f"{best[worst]:.2f}",
                     number(our_us[case, threads, worst]), worst]
        else:
            line += [""] * 5
        lines.append(line + list(verdict(case, threads, means, list(best.values())) if with_bars else ("", "")))
    return aligned(lines)
