"""A contender for the test of the harness: cases written out in plain Python, some of them wrong or failing on purpose."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks", "compare", "peers"))
from protocol import Case, rotating, serve  # noqa: E402

MASK = 0xFFFFFFFF


def unit(i, seed):
    x = (i * 0x9E3779B9 + seed * 0x85EBCA6B + 1) & MASK
    x = ((x ^ x >> 16) * 0x7FEB352D) & MASK
    x = ((x ^ x >> 15) * 0x846CA68B) & MASK
    return ((x ^ x >> 16) >> 8) / 2**24


def values(n, seed, low=0.0, high=1.0):
    return [low + (high - low) * unit(i, seed) for i in range(n)]


def matrix(p, seed):
    rows, columns = p["rows"], p["columns"]
    flat = values(rows * columns, seed)
    return [flat[i * columns:(i + 1) * columns] for i in range(rows)]


def add(p):
    return rotating(p, lambda seed: (values(p["n"], 2 * seed), values(p["n"], 2 * seed + 1)), lambda s: [a + b for a, b in zip(*s)])


def product(p):
    m, k, n = p["m"], p["k"], p["n"]

    def multiply(s):
        a, b = s
        return [sum(a[i * k + x] * b[x * n + j] for x in range(k)) for i in range(m) for j in range(n)]
    return rotating(p, lambda seed: (values(m * k, 2 * seed, -1), values(k * n, 2 * seed + 1, -1)), multiply)


def transpose(p):
    return rotating(p, lambda seed: matrix(p, seed), lambda a: [row[j] for j in range(p["columns"]) for row in a])


def sum_axis1(p):
    return rotating(p, lambda seed: matrix(p, seed), lambda a: [sum(row) for row in a])


def fingerprint(y):
    weighted = sum(v * (1 + i % 7) for i, v in enumerate(y)) / len(y)
    return f"{len(y)} {sum(map(abs, y)) / len(y):.9g} {y[len(y) // 3]:.9g} {weighted:.9g} 4"


def dies(p):
    os._exit(3)


table = {
    "elementwise/add": {"default": add, "other": lambda p: Case(add(p))},
    "elementwise/transpose_copy": {"default": transpose},
    "matmul/32_cubed": {"default": product},
    "reduction/sum_axis1": {"default": sum_axis1},
    "reduction/sum": {"default": lambda p: lambda: [1.0]},
    "reduction/var": {"default": lambda p: [][0]},
    "reduction/sum_axis0": {"default": dies},
}

serve(table, fingerprint, lambda: None, "fake 1.0")
