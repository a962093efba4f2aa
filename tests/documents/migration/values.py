"""Writes the column `value` of docs/migration/numpy.tsv with the values that NumPy gives: python3 tests/documents/migration/values.py

A value that is "-" or "compiled" stays so: it is not compared. One that begins with "~" is of random numbers, and has dtype and shape only. One that begins
with names and "=" is of these variables after the statements of the row, see generate.awk and value.h.
"""
import math
import os
import re
import sys

import numpy as np
import scipy.special

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from numpy_text import text
TABLE = os.path.join(ROOT, "docs", "migration", "numpy.tsv")


def scene():
    a = (np.arange(12.).reshape(3, 4) + 1) / 2
    b = np.array([[2., -1., 0.5, 3.], [-2.5, 4., 1., 0.25], [1.5, -0.75, 6., 2.]])
    v = np.array([3., 1., 2., 5., 4., 0.5])
    w = np.array([1., 2., 0.5, 4., 1.5, 3.])
    return {
        "np": np, "scipy": scipy, "math": math, "a": a, "b": b, "v": v, "w": w, "i": np.array([2, 0, 1]), "n": np.array([3, 1, 2, 1, 0, 3]), "m": a > 2, "p": v > 2,
        "q": np.arange(24.).reshape(2, 3, 4), "s": np.array([[4., 1., 0.5], [1., 3., 0.25], [0.5, 0.25, 2.]]),
        "f": np.array([[1, 2], [3, 4]], np.float32), "h": np.array([1., np.nan, 3., np.inf]), "z": v[:4] + 1j * w[:4],
        "xs": [1., 2., 3., 4.], "ks": [2, 0], "arrays": [a, b], "rng": np.random.default_rng(0),
    }


def value_of(theirs, ours, value):
    if value in ("-", "compiled") or ours == "-":
        return value
    variables = scene()
    names = re.match(r"([a-z_0-9, ]+) = ", value)
    statement = ours.endswith(";") or re.match(r"(if|for|while|try) |{", ours)
    if not statement:
        result = text(eval(theirs, variables), elements=not value.startswith("~"))
        return "~ " + result if value.startswith("~") else result
    if names:
        names = names[1]
    else:
        declared = re.match(r"auto \[([a-z_0-9, ]+)\]", ours) or re.search(r"\b([abvwinmpqsfhz])\b(?=[ .(,])", ours)
        names = declared[1]
    exec(theirs, variables)
    return names + " = " + " | ".join(text(variables[name.strip()]) for name in names.split(","))


def main():
    with open(TABLE, encoding="utf-8") as table:
        lines = table.read().splitlines()
    failures = 0
    for number, line in enumerate(lines):
        if line.startswith("#") or line.startswith("chapter\t"):
            continue
        chapter, theirs, ours, remark, value = (line.split("\t") + [""])[:5]
        try:
            with np.errstate(all="ignore"):
                value = value_of(theirs, ours, value)
        except Exception as error:
            print(f"{TABLE}:{number + 1}: {theirs}: {type(error).__name__}: {error}", file=sys.stderr)
            failures += 1
        lines[number] = "\t".join([chapter, theirs, ours, remark, value])
    with open(TABLE, "w", encoding="utf-8") as table:
        table.write("\n".join(lines) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
