"""Writes the values that NumPy gives into tests: python3 tests/ndarray/numpy_values.py tests/ndarray/comparison_test.cpp ...

In a test with the variables of tests/support/ndarray_numpy.h,
    NUMPY("np.median(a, axis=0)", nd::median(a, 0), "");
gets its last argument, the text of NumPy's value (numpy_text.py). The first argument is evaluated here, after the statements of a
preceding comment "// numpy: x = ..." of the same case. Of
    NUMPY_RAISES("np.median(a, axis=2)", nd::median(a, 2), nd::IndexError);
it is checked that NumPy raises an exception. Other modules are imported by such a comment.
"""
import os
import re
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from numpy_text import text, variables as common_variables


def scene():
    common = common_variables()
    d = np.array([[3, 1, 2, 0], [7, 2, 2, 5], [1, 6, 4, 3]])
    names = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
    return {
        **common, "d": d, "t": common["q"].transpose(2, 0, 1)[::-1, :, ::2],
        "g": np.array([[1., np.nan, 3.], [np.nan, np.nan, np.nan], [2., 5., -np.inf]]),
        "e": np.zeros(0), "e3": np.zeros((0, 3)), "one": np.array([2.5]), "zero": np.array(2.5),
        "reals": [d.astype(name) for name in names], "floats": [d.astype(name) / np.array(4, name) for name in names[-3:]],
        "complexes": [(d - 2j * d[::-1]).astype(name) for name in ("complex64", "complex128")],
    }


def string_end(source, start):
    """The position behind the string literal that begins at `start`."""
    end = start + 1
    while source[end] != '"':
        end += 2 if source[end] == "\\" else 1
    return end + 1


def arguments(source, start):
    """The (begin, end) of the arguments of a call whose opening parenthesis is at `start`, and the end of the call."""
    depth, begin, found, k = 0, start + 1, [], start
    while True:
        c = source[k]
        if c == '"':
            k = string_end(source, k)
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                return found + [(begin, k)], k
        elif c == "," and depth == 1:
            found.append((begin, k))
            begin = k + 1
        k += 1


def literal(source):
    """The text of adjacent string literals."""
    result, k = "", 0
    while (k := source.find('"', k)) >= 0:
        end = string_end(source, k)
        result += source[k + 1:end - 1].replace('\\"', '"').replace("\\\\", "\\")
        k = end
    return result


def quoted(value, indent):
    """The text as string literals in lines of at most 120 characters."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    words, lines = escaped.split(" "), [""]
    for position, word in enumerate(words):
        piece = word + (" " if position + 1 < len(words) else "")
        if lines[-1] and indent + len(lines[-1]) + len(piece) + 4 > 120:
            lines.append("")
        lines[-1] += piece
    return ("\n" + " " * indent).join(f'"{line}"' for line in lines)


def rewritten(path):
    with open(path, encoding="utf-8") as file:
        source = file.read()
    result, done, failures, variables = [], 0, 0, scene()
    pattern = re.compile(r"^BOOST_\w*TEST_CASE\(|^ *// numpy: (.*)$|\b(NUMPY|NUMPY_RAISES)(?=\()(?<!define NUMPY)(?<!define NUMPY_RAISES)", re.M)
    for match in pattern.finditer(source):
        if match[1] is None and match[2] is None:
            variables = scene()
            continue
        if match[1] is not None:
            exec(match[1], variables)
            continue
        found, end = arguments(source, match.end())
        expression = literal(source[slice(*found[0])])
        try:
            with np.errstate(all="ignore"):
                value = text(eval(expression, variables))
        except Exception as error:
            if match[2] == "NUMPY_RAISES":
                continue
            value = f"{type(error).__name__}: {error}"
            print(f"{path}: {expression}: {value}", file=sys.stderr)
            failures += 1
            continue
        if match[2] == "NUMPY_RAISES":
            print(f"{path}: {expression}: NumPy raises nothing", file=sys.stderr)
            failures += 1
            continue
        begin = found[-1][0]
        column = match.start() - source.rfind("\n", 0, match.start()) - 1 + len("NUMPY(")
        result += [source[done:begin], "\n" + " " * column + quoted(value, column)]
        done = end
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(result) + source[done:])
    return failures


if __name__ == "__main__":
    sys.exit(1 if sum(rewritten(path) for path in sys.argv[1:]) else 0)
