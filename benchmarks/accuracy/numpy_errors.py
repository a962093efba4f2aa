"""The errors of NumPy, with the numbers and in the lines of errors.cpp (which see). Normalizations are written with mean and var."""
import argparse

import numpy as np

SIDE, EPS, PART = 8, 1e-5, 1 << 24


def numbers(n, dtype, value):
    x = np.empty(n, dtype)
    for begin in range(0, n, PART):
        i = np.arange(begin, min(n, begin + PART), dtype=np.uint64)
        fraction = (i * np.uint64(2654435761)) % np.uint64(1 << 24) / float(1 << 24)
        x[begin:begin + PART] = value(fraction).astype(np.float32)
    return x


def total(n, f):
    return sum(float(np.sum(f(slice(begin, min(n, begin + PART))))) for begin in range(0, n, PART))


def error(got, exact):
    return abs(float(got) / exact - 1)


def of_sums(n, dtype):
    most = {"sum": 0.0, "mean": 0.0, "dot": 0.0, "matmul": 0.0}
    for equal in (True, False):
        x = numbers(n, dtype, lambda f: np.full_like(f, 0.1) if equal else 0.05 + 0.1 * f)
        exact = total(n, lambda s: x[s].astype(np.float64))
        square = total(n, lambda s: x[s].astype(np.float64)**2)
        k = n // SIDE
        left, right = x[:SIDE * k].reshape(SIDE, k), x[:SIDE * k].reshape(k, SIDE)
        product = np.matmul(left, right)
        wide = sum(np.matmul(left[:, p:p + PART].astype(np.float64), right[p:p + PART].astype(np.float64)) for p in range(0, k, PART))
        with np.errstate(over="ignore"):
            errors = {"sum": error(x.sum(), exact), "mean": error(x.mean(), exact / n), "dot": error(x.dot(x), square),
                      "matmul": float(np.max(np.abs(product.astype(np.float64) / wide - 1)))}
        most = {name: max(most[name], e) for name, e in errors.items()}
    return most


def of_statistics(n, dtype):
    center = 1e4 if dtype == np.float32 else 8
    x = numbers(n, dtype, lambda f: center + np.sqrt(3.0) * (2 * f - 1))
    mean = total(n, lambda s: x[s].astype(np.float64)) / n
    var = total(n, lambda s: (x[s].astype(np.float64) - mean)**2) / n
    errors = {"var": error(x.var(), var)}
    eps = dtype(EPS)
    for name, rows, axis in (("batch norm", x.reshape(n, 1), 0), ("layer norm", x.reshape(1, n), 1)):
        deviation = np.sqrt(rows.var(axis, keepdims=True) + eps)
        y = rows - rows.mean(axis, keepdims=True)
        y /= deviation
        y = y.reshape(n)
        errors[name] = max(
            float(np.max(np.abs(y[b:b + PART].astype(np.float64) - (x[b:b + PART].astype(np.float64) - mean) / np.sqrt(var + EPS))))
            for b in range(0, n, PART))
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=1e8)
    arguments = parser.parse_args()
    for dtype in (np.float32, np.float16):
        n = 1000
        while n <= arguments.most:
            for name, e in (of_sums(n, dtype) | of_statistics(n, dtype)).items():
                print(f"{np.dtype(dtype).name}\t{name}\t{n}\t{e:.1e}", flush=True)
            n *= 10


if __name__ == "__main__":
    main()
