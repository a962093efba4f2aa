"""Writes the column `value` of docs/migration/numpy.tsv with the values that NumPy gives: python3 tests/documents/migration/values.py

A value that is "-" or "compiled" stays so: it is not compared. One that begins with "~" is of random numbers, and has dtype and shape only. One that begins
with names and "=" is of these variables after the statements of the row, see generate.awk and value.h.
"""
import math
import os
import re
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TABLE = os.path.join(ROOT, "docs", "migration", "numpy.tsv")
ALL = 24


def scene():
    a = (np.arange(12.).reshape(3, 4) + 1) / 2
    b = np.array([[2., -1., 0.5, 3.], [-2.5, 4., 1., 0.25], [1.5, -0.75, 6., 2.]])
    v = np.array([3., 1., 2., 5., 4., 0.5])
    w = np.array([1., 2., 0.5, 4., 1.5, 3.])
    return {
        "np": np, "math": math, "a": a, "b": b, "v": v, "w": w, "i": np.array([2, 0, 1]), "n": np.array([3, 1, 2, 1, 0, 3]), "m": a > 2, "p": v > 2,
        "q": np.arange(24.).reshape(2, 3, 4), "s": np.array([[4., 1., 0.5], [1., 3., 0.25], [0.5, 0.25, 2.]]),
        "f": np.array([[1, 2], [3, 4]], np.float32), "h": np.array([1., np.nan, 3., np.inf]), "z": v[:4] + 1j * w[:4],
        "xs": [1., 2., 3., 4.], "ks": [2, 0], "arrays": [a, b], "rng": np.random.default_rng(0),
    }


def text(value, elements=True):
    if isinstance(value, str):
        return '"' + value.replace("\n", "\\n") + '"'
    if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, tuple) and value and all(type(x) is int for x in value):
        return "(" + ", ".join(map(str, value)) + ")"
    if isinstance(value, (tuple, list)) and any(isinstance(x, np.ndarray) for x in value):
        return " | ".join(text(x, elements) for x in value)
    if isinstance(value, tuple):
        return " | ".join(text(x, elements) for x in value)
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"no text for {type(value)}")
    head = array.dtype.name + " (" + ", ".join(map(str, array.shape)) + ")"
    if not elements:
        return head
    flat = array.ravel().astype(np.complex128).view(np.float64) if array.dtype.kind == "c" else array.ravel().astype(np.float64)
    if array.size <= ALL:
        return " ".join([head] + [f"{x:.9g}" for x in flat])
    return f"{head} # {flat.sum():.9g} {(flat * np.arange(1, flat.size + 1)).sum():.9g}"


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
