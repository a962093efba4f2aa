"""A profile of benchmark cases without a GPU, and the times that it predicts: see "A model of the GPU" in benchmarks/README.md."""
import argparse
import fnmatch
import json
import os
import statistics
import sys

import bounds
import cards
import libraries
import measured
import predict
import rows
import run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def arguments():
    parser = argparse.ArgumentParser(prog="gpu_model.sh", description=__doc__)
    parser.add_argument("--case", default="*", help="a pattern of names of cases, such as 'reduction/*'")
    parser.add_argument("--device", choices=sorted(cards.CARDS), action="append", help="the cards to predict for (default: all)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=N", help="run the cases with other parameters")
    parser.add_argument("--most", type=int, default=run.MOST, help="elements that are executed; larger cases are extrapolated by the grid")
    parser.add_argument("--times", type=int, default=1, metavar="N", help="predict for grids that are N times as large as those that run")
    parser.add_argument("--kernels", action="store_true", help="print a line for each kernel as well")
    parser.add_argument("--peer", action="store_true", help="print PyTorch's works for the case as well, where they are known (libraries.py)")
    parser.add_argument("--json", metavar="FILE", help="write the counters there")
    parser.add_argument("--keep", metavar="FOLDER", help="keep counters there, and take those that are there already")
    parser.add_argument("--check", action="store_true", help="fail if a counter leaves its bounds (bounds.py)")
    parser.add_argument("--calibrate", action="store_true", help="compare predictions with measured times (measured.py)")
    parser.add_argument("--rows", action="store_true", help="the cases that a peer was faster at, beside both measured times (rows.py)")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help=argparse.SUPPRESS)
    return parser.parse_args()


def predicted(args, case, parameters, names, most=None):
    """{card: Call}, the number of elements of the reduced case's operands that was run as a factor, and the profile."""
    return predicted_of(args, case, parameters, names, *run.reduced(parameters, most or args.most))


def predicted_of(args, case, parameters, names, smaller, factor):
    factor *= args.times
    profile = run.profile(args.build, case, smaller, kept=args.keep)
    calls = {name: predict.predict(profile, cards.CARDS[name], parameters.get("sets", 1), factor,
                                   library=lambda work, card=cards.CARDS[name]: libraries.time_of(case, parameters, work, card))
             for name in names}
    return calls, factor, profile


HEAD = ["case", "launches", "waits", "copies", "MB moved", "/ minimum", "sectors used", "bytes / access", "instructions / element",
        "warps / SM", "limit"]


def row(case, calls, factor, elements):
    call = next(iter(calls.values()))
    busiest = max(call.kernels, key=lambda k: k.time, default=None)
    times = [f"not predicted (own kernels {c.time * 1e6:.1f})" if c.unknown else f"{c.time * 1e6:.1f}" for c in calls.values()]
    return [case + (f" (1/{factor})" if factor > 1 else ""), f"{len(call.kernels) + len(call.library)}", f"{call.waits}", f"{call.copies}",
            f"{call.moved_bytes / 1e6:.1f}", f"{call.over_minimum:.2f}", f"{call.sector_efficiency:.2f}", f"{call.bytes_per_access:.1f}",
            f"{call.instructions / elements:.1f}", f"{busiest.warps:.0f}" if busiest else "", busiest.limit if busiest else "", *times]


def table(lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [lines[0], ["---"] * len(lines[0]), *lines[1:]])


def elements_of(parameters):
    return predict.product(max(n, 1) for name, n in parameters.items() if name not in run.NO_SIZES)


def print_kernels(case, parameters, calls):
    for name, call in calls.items():
        for k in call.kernels:
            parts = ", ".join(f"{what} {t * 1e6:.1f}" for what, t in sorted(k.bounds.items(), key=lambda b: -b[1]) if t > 1e-7)
            r = k.resources or {}
            print(f"  {name} {k.launch['kernel']}: grid {predict.product(k.launch['grid'])} x {predict.product(k.launch['block'])}, "
                  f"{r.get('registers', '?')} registers, {r.get('spill_stores', '?')} bytes spilled, {k.warps:.0f} warps / SM, "
                  f"{k.launch['divergent_branches']:.0f} of {k.launch['branches']:.0f} branches diverge, "
                  f"{k.launch['shared_passes'] - k.launch['shared_least_passes']:.0f} conflicts of banks, us: {parts}")
        for work in call.library:
            time = libraries.time_of(case, parameters, work, cards.CARDS[name])
            print(f"  {name} {work}: a library's, " + ("not predicted" if time is None else f"{time * 1e6:.1f} us"))


def print_peer(case, parameters, names):
    for name in names:
        works = libraries.peer(case, parameters, cards.CARDS[name])
        for what, time, source in works:
            print(f"  {name} PyTorch: {what}, {time * 1e6:.1f} us ({source})")
        print(f"  {name} PyTorch: all, {sum(time for _, time, _ in works) * 1e6:.1f} us; measured as a whole on h200: "
              f"{libraries.PEER_MEASURED[case] * 1e6:.1f} us")


def profile_cases(args):
    names = args.device or sorted(cards.CARDS)
    changes = {word.split("=")[0]: int(word.split("=")[1]) for word in args.set}
    lines, raw = [HEAD + [f"{name}, us" for name in names]], {}
    for case, parameters in run.cases(args.build).items():
        if not fnmatch.fnmatch(case, args.case):
            continue
        parameters.update({k: v for k, v in changes.items()})
        try:
            calls, factor, raw[case] = predicted(args, case, parameters, names)
        except run.Failed as e:
            print(f"{case}: not run: {e}", file=sys.stderr)
            continue
        lines.append(row(case, calls, factor, elements_of(parameters)))
        print(f"{case}: {lines[-1][-1]} us", file=sys.stderr)
        if args.kernels:
            print(case)
            print_kernels(case, parameters, calls)
        if args.peer and case in libraries.PEER_MEASURED:
            print_peer(case, parameters, names)
    print(table(lines))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(raw, f, indent=1)
    return 0 if len(lines) > 1 else 1


def ranks(values):
    order = sorted(range(len(values)), key=lambda k: values[k])
    result = [0.0] * len(values)
    for rank, k in enumerate(order):
        result[k] = float(rank)
    return result


def correlation(a, b):
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 2 else float("nan")


def calibrate(args):
    """Predictions beside measured times: the error of each, the median of their magnitudes, the correlation of the ranks."""
    known = run.cases(args.build)
    lines, pairs = [["case", "card", "measured, us", "predicted, us", "error", "limit", "launches", "kernels as measured"]], []
    for m in measured.ROWS:
        if not fnmatch.fnmatch(m.case, args.case) or m.card not in (args.device or cards.CARDS):
            continue
        parameters = {**known[m.case], **m.parameters}
        try:
            calls, factor, _ = predicted(args, m.case, parameters, [m.card], m.most or args.most)
        except run.Failed as e:
            print(f"{m.label}: not run: {e}", file=sys.stderr)
            continue
        call = calls[m.card]
        if call.unknown:
            print(f"{m.label}: not predicted, it calls {call.unknown[0]}", file=sys.stderr)
            continue
        error = call.time * 1e6 / m.us - 1
        limit = max(call.kernels, key=lambda k: k.time).limit if call.device >= call.host else "host"
        lines.append([m.label + (f" (1/{factor})" if factor > 1 else ""), m.card, f"{m.us:g}", f"{call.time * 1e6:.1f}", f"{error:+.0%}",
                      limit, f"{len(call.kernels)}", "no" if m.older else "yes"])
        print(" ".join(lines[-1]), file=sys.stderr)
        if args.kernels:
            print_kernels(m.case, parameters, calls)
        pairs.append((m, call.time * 1e6, abs(error)))
    print(table(lines))
    for title, chosen in (("all", pairs), ("of the kernels that were measured", [p for p in pairs if not p[0].older]),
                          ("limited by memory", [p for p in pairs if p[0].memory_bound and not p[0].older]),
                          ("limited by memory, one card (h200)",
                           [p for p in pairs if p[0].memory_bound and not p[0].older and p[0].card == "h200"])):
        if len(chosen) > 2:
            print(f"\n{title}: {len(chosen)} rows, median error {statistics.median(p[2] for p in chosen):.1%}, "
                  f"rank correlation {correlation([p[0].us for p in chosen], [p[1] for p in chosen]):.3f}")
    return 0


ROWS_HEAD = ["case", "launches", "waits", "MB moved / minimum", "sectors used", "limit", "before (measured), us", "predicted, us",
             "peer (measured), us", "peer / predicted"]


def limit_of(call):
    """The bound of the longest kernel, or the host; without a prediction the works of libraries."""
    if call.unknown:
        works = {work: call.library.count(work) for work in call.library}
        return "; ".join(f"{n} x {work}" if n > 1 else work for work, n in works.items())
    return max(call.kernels, key=lambda k: k.time).limit if call.kernels and call.device >= call.host else "host"


def part_of(r, parameters, most):
    """The parameters that are executed for a row, and how much smaller they are. A part of a case gets that part of the level-2 cache: kernels
    that read what the one before has written must not find more of it there."""
    smaller, factor = run.reduced(parameters, min(r.most, most))
    if r.executed:
        smaller = {**parameters, **r.executed, "sets": 1}
        factor = elements_of(parameters) / elements_of(smaller)
    return ({**smaller, "level2_bytes": int(cards.CARDS["h200"].level2_bytes / factor)} if factor > 1 else smaller), factor


def peer_cells(r, call, factor):
    """A line of --rows."""
    known = not (call.unknown or r.unknown)
    us = call.time * 1e6
    moved = f"{call.moved_bytes / 1e6:.1f} / {call.least_bytes / 1e6:.1f}" if call.kernels else ""
    return [r.label + (f" (1/{factor:g})" if factor > 1 else ""), f"{len(call.kernels) + len(call.library)}", f"{call.waits}", moved,
            f"{call.sector_efficiency:.2f}" if call.kernels else "", r.unknown or limit_of(call), f"{r.before:g}" if r.before else "none",
            f"{us:.1f}" if known else f"not predicted (own kernels {us:.1f})" if call.kernels else "not predicted",
            f"{r.peer:g} ({r.name})", f"{r.peer / us:.2f}" if known else ""]


def beside_peers(args):
    """Counters and predictions beside the measured times of rows.py."""
    known = run.cases(args.build)
    for name in args.device or ["h200"]:
        lines = [ROWS_HEAD]
        for r in rows.ROWS:
            if not fnmatch.fnmatch(r.case, args.case):
                continue
            parameters = {**known[r.case], **r.parameters}
            try:
                calls, factor, _ = predicted_of(args, r.case, parameters, [name], *part_of(r, parameters, args.most))
            except run.Failed as e:
                print(f"{r.label}: not run: {e}", file=sys.stderr)
                continue
            lines.append(peer_cells(r, calls[name], factor))
            print(" | ".join(lines[-1]), file=sys.stderr)
            if args.kernels:
                print(r.label)
                print_kernels(r.case, parameters, calls)
        print(table(lines))
    return 0


def check(args):
    """Status 1 if a case leaves its bounds."""
    failed = 0
    for bound in bounds.BOUNDS:
        if not fnmatch.fnmatch(bound.case, args.case):
            continue
        elements = elements_of(bound.parameters)
        profile = run.profile(args.build, bound.case, bound.parameters)
        call = predict.predict(profile, cards.CARDS["h200"], least_bytes=bound.bytes_per_element * elements)
        problems = bounds.problems_of(bound, call, elements)
        print(f"{bound.case}: " + ("; ".join(problems) if problems else "within its bounds"))
        print("  " + " | ".join(row(bound.case, {"h200": call}, 1, elements)[1:11]))
        failed += bool(problems)
    return 1 if failed else 0


def main():
    args = arguments()
    if args.check:
        return check(args)
    if args.rows:
        return beside_peers(args)
    return calibrate(args) if args.calibrate else profile_cases(args)


if __name__ == "__main__":
    sys.exit(main())
