"""The inputs of the cases and the fingerprints of results, as contender.h and cases.h have them."""
import numpy


def _units(n, seed):
    x = numpy.arange(n, dtype=numpy.uint32)
    x *= numpy.uint32(0x9E3779B9)
    x += numpy.uint32((seed * 0x85EBCA6B + 1) & 0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x ^= x >> numpy.uint32(shift)
        x *= numpy.uint32(factor)
    x ^= x >> numpy.uint32(16)
    return (x >> numpy.uint32(8)) * 2.0**-24


def uniform(shape, seed, low=0.0, high=1.0):
    n = int(numpy.prod(shape))
    return (low + (high - low) * _units(n, seed)).astype(numpy.float32).reshape(shape)


def labels(n, seed, classes):
    return (_units(n, seed) * classes).astype(numpy.int32)


def fingerprint(y, itemsize=None):
    """`itemsize`: that of the result where y is a copy in another dtype (NumPy has no bfloat16)."""
    y = numpy.asarray(y)
    flat = y.astype(numpy.float64).ravel()
    return f"{flat.size} {abs(flat).mean():.9g} {flat[flat.size // 3]:.9g} {itemsize or y.itemsize}"
