"""The scaling of data-parallel training, simulated from measured times of one rank.

python3 benchmarks/scaling.py --forward 35 --backward 70 --update 5 --megabytes 102
python3 benchmarks/scaling.py --forward 35 --backward 70 --megabytes 102 --all-reduce 2:21 --all-reduce 4:32
python3 benchmarks/scaling.py --check

Times are in milliseconds. A message of m bytes takes latency + m / bandwidth. An all-reduce of m bytes among n ranks takes
  ring  2 (n - 1) (latency + m / n / bandwidth)            (Patarasuk, Yuan 2009)
  tree  2 log2(n) latency + 2 m / bandwidth, in a pipeline  (Sanders, Speck, Traeff 2009: two trees)
With several ranks on a machine, those of a machine add theirs around a ring of NVLink, and the machines do so over the network. Buckets are ready at equal distances during
the backward pass and are communicated one after the other, as training::create_multi_node_optimizer does it. With --all-reduce, the latency and
the bandwidth of a ring are fitted to measured times, and stand beside the networks below.
"""
import argparse
import math
import sys

NETWORKS = {  # latency in s, bandwidth in bytes/s of one machine and direction
    "InfiniBand HDR, 4 ports": (2e-6, 100e9),
    "InfiniBand FDR": (2e-6, 7e9),
    "Ethernet 100 Gbit/s": (10e-6, 12.5e9),
    "Ethernet 10 Gbit/s": (30e-6, 1.25e9),
}
NVLINK = (3e-6, 150e9)
PUBLISHED = {128: 0.90, 1024: 0.80}  # ChainerMN with ResNet-50 (Akiba et al., arXiv:1711.04325 and arXiv:1710.11351)


def ring(n, size, link):
    """Seconds of an all-reduce around a ring.

    >>> ring(4, 4e6, (1e-3, 1e9)) == 2 * 3 * (1e-3 + 1e-3)
    True
    """
    latency, bandwidth = link
    return 2 * (n - 1) * (latency + size / n / bandwidth)


def tree(n, size, link):
    """Seconds of an all-reduce by two trees.

    >>> tree(8, 1e6, (1e-3, 1e9)) == 2 * 3 * 1e-3 + 2e-3
    True
    >>> tree(1, 1e6, (1e-3, 1e9))
    0.0
    """
    latency, bandwidth = link
    return 0.0 if n == 1 else 2 * math.ceil(math.log2(n)) * latency + 2 * size / bandwidth


def all_reduce(n, size, link, per_machine, algorithm):
    """Seconds of an all-reduce within machines and between them."""
    inside = min(n, per_machine)
    machines = math.ceil(n / per_machine)
    return ring(inside, size, NVLINK) + (algorithm(machines, size, link) if machines > 1 else 0.0)


def exposed(backward, sizes, seconds):
    """Seconds by which the communication of buckets outlasts the backward pass.

    Two buckets, ready after 5 s and 10 s, of 4 s each: the second one is sent alone.
    >>> exposed(10, [1, 1], lambda size: 4.0)
    4.0

    Communication that takes longer than the pass waits only for the first bucket.
    >>> exposed(10, [1, 1], lambda size: 20.0)
    35.0
    """
    end = 0.0
    for i, size in enumerate(sizes):
        end = max(end, backward * (i + 1) / len(sizes)) + seconds(size)
    return end - backward


def fitted(times, size):
    """The link of a ring that fits measured times {ranks: seconds} best, by least squares.

    >>> link = (2e-3, 5e8)
    >>> latency, bandwidth = fitted({n: ring(n, 1e6, link) for n in (2, 3, 8)}, 1e6)
    >>> abs(latency - 2e-3) < 1e-9, abs(bandwidth / 5e8 - 1) < 1e-9
    (True, True)
    """
    rows = [(2 * (n - 1), 2 * (n - 1) / n * size, t) for n, t in times.items()]
    aa, ab, bb = (sum(f(a, b) for a, b, _ in rows) for f in (lambda a, b: a * a, lambda a, b: a * b, lambda a, b: b * b))
    at, bt = sum(a * t for a, _, t in rows), sum(b * t for _, b, t in rows)
    determinant = aa * bb - ab * ab
    if len(rows) < 2 or determinant == 0:
        return 0.0, bb / bt
    latency, inverse = (at * bb - bt * ab) / determinant, (bt * aa - at * ab) / determinant
    if latency < 0:
        return 0.0, bb / bt
    if inverse <= 0:
        raise ValueError("the times do not grow with the number of ranks as those of a ring do")
    return latency, 1 / inverse


def table(args):
    size = args.megabytes * 1e6
    count = max(1, math.ceil(size / (args.bucket_megabytes * 1e6)))
    sizes = [size / count] * count
    forward, backward, update = (t / 1e3 for t in (args.forward, args.backward, args.update))
    alone = forward + backward + update
    networks = dict(NETWORKS)
    if args.all_reduce:
        measured = {int(n): float(t) / 1e3 for n, t in (entry.split(":") for entry in args.all_reduce)}
        networks = {"as measured": fitted(measured, size), **networks}
    print(f"{args.megabytes:g} MB in {count} buckets, {args.per_machine} ranks on a machine, {alone * 1e3:g} ms without communication")
    for name, link in networks.items():
        print(f"\n{name}: {link[0] * 1e6:.3g} us, {link[1] / 1e9:.3g} GB/s")
        print("ranks   ring ms   tree ms   not hidden ms   efficiency   without overlap   published")
        n = 1
        while n <= args.ranks:
            times = [all_reduce(n, size, link, args.per_machine, f) for f in (ring, tree)]
            best = ring if times[0] <= times[1] else tree
            rest = exposed(backward, sizes, lambda s: all_reduce(n, s, link, args.per_machine, best))
            published = f"{PUBLISHED[n]:11.0%}" if n in PUBLISHED else ""
            print(f"{n:5} {times[0] * 1e3:9.2f} {times[1] * 1e3:9.2f} {rest * 1e3:15.2f} {alone / (alone + rest):12.1%} "
                  f"{alone / (alone + min(times)):17.1%} {published}".rstrip())
            n *= 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forward", type=float, default=35, help="ms of the forward pass of one rank")
    parser.add_argument("--backward", type=float, default=70, help="ms of its backward pass")
    parser.add_argument("--update", type=float, default=5, help="ms of its update")
    parser.add_argument("--megabytes", type=float, default=102, help="size of the gradients (ResNet-50 in float32: 102)")
    parser.add_argument("--bucket-megabytes", type=float, default=26.2144, help="bucket_bytes")
    parser.add_argument("--per-machine", type=int, default=8, help="ranks on a machine")
    parser.add_argument("--ranks", type=int, default=1024, help="the largest number of ranks")
    parser.add_argument("--all-reduce", action="append", metavar="RANKS:MS", help="a measured all-reduce of all gradients; may be repeated")
    parser.add_argument("--check", action="store_true", help="test the formulas")
    args = parser.parse_args()
    if args.check:
        import doctest
        sys.exit(doctest.testmod()[0] > 0)
    table(args)


if __name__ == "__main__":
    main()
