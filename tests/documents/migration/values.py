"""Writes the column `value` of docs/migration/numpy.tsv with the values that NumPy gives: python3 tests/documents/migration/values.py

A value that is "-" or "compiled" stays so: it is not compared. One that begins with "~" is of random numbers, and has dtype and shape only. One that begins
with names and "=" is of these variables after the statements of the row, see generate.awk and value.h.
"""
import math
import os
import re
import sys

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import scipy.special

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from numpy_text import text, variables
TABLE = os.path.join(ROOT, "docs", "migration", "numpy.tsv")


def scene():
    common = variables()
    return {
        **common, "scipy": scipy, "sp": scipy.sparse, "math": math, "xs": [1., 2., 3., 4.], "ks": [2, 0], "arrays": [common["a"], common["b"]],
        "rng": np.random.default_rng(0),
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
