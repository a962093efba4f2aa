"""The inputs of the cases and the fingerprints of results, as contender.h and cases.h have them."""
import numpy

PERIOD = 2**24 + 43


def units(positions, seed):
    """unit() of contender.h at these positions."""
    x = positions.astype(numpy.uint32)
    x *= numpy.uint32(0x9E3779B9)
    x += numpy.uint32((seed * 0x85EBCA6B + 1) & 0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x ^= x >> numpy.uint32(shift)
        x *= numpy.uint32(factor)
    x ^= x >> numpy.uint32(16)
    return (x >> numpy.uint32(8)) * 2.0**-24


def _units(n, seed):
    return units(numpy.arange(n, dtype=numpy.uint32), seed)


def uniform(shape, seed, low=0.0, high=1.0):
    n = int(numpy.prod(shape))
    values = (low + (high - low) * _units(min(n, PERIOD), seed)).astype(numpy.float32)
    return numpy.resize(values, n).reshape(shape)


def dtype(p):
    """The type character of a case's operands."""
    return chr(int(p.get("dtype", ord("f"))))


def input(p, shape, seed, low=0.0, high=1.0):
    """What input() of cases.h makes. (NumPy has no bfloat16: it is made from float32.)"""
    n, offset, kind = int(numpy.prod(shape)), int(p.get("offset", 0)), dtype(p)
    if kind in "fdeE":
        values = uniform((n,), seed, low, high).astype("f" if kind == "E" else kind)
    else:
        values = uniform((n,), seed)
        values = values < 0.5 if kind == "?" else (100 * values).astype(kind)
    if offset:
        values = numpy.concatenate([numpy.zeros(offset, values.dtype), values])[offset:]
    return values.reshape(shape)


def labels(n, seed, classes):
    return (_units(n, seed) * classes).astype(numpy.int32)


def fingerprint(y, itemsize=None):
    """`itemsize`: that of the result where y is a copy in another dtype (NumPy has no bfloat16)."""
    y = numpy.asarray(y)
    flat = y.astype(numpy.float64).ravel()
    weighted = sum((1 + k) * flat[k::7].sum() for k in range(7)) / flat.size
    return f"{flat.size} {abs(flat).mean():.9g} {flat[flat.size // 3]:.9g} {weighted:.9g} {itemsize or y.itemsize}"
