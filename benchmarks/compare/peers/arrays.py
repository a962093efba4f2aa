"""NumPy, or CuPy with --device cuda."""
import argparse

import numpy

import data
from protocol import Case, rotating, serve

parser = argparse.ArgumentParser()
parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
on_gpu = parser.parse_args().device == "cuda"
if on_gpu:
    import cupy as xp

    synchronize = xp.cuda.Device().synchronize
    versions = f"CuPy {xp.__version__}"
else:
    xp = numpy

    def synchronize():
        pass

    versions = f"NumPy {xp.__version__}"


def uniform(*arguments):
    return xp.asarray(data.uniform(*arguments))


def fingerprint(y):
    return data.fingerprint(xp.asnumpy(y) if on_gpu else y)


def line(p, seed=0, low=0, high=1):
    return uniform((p["n"],), seed, low, high)


def matrix(p, seed):
    return uniform((p["rows"], p["columns"]), seed)


def add_out(p):
    a, b, c = line(p, 0), line(p, 1), line(p, 2)
    return lambda: xp.add(a, b, out=c)


def small(f, operands=1):
    def setup(p):
        arrays = [line(p, seed) for seed in range(operands)]
        return lambda: f(*arrays)
    return setup


def view(p):
    a = matrix(p, 0)
    return lambda: a[3]


def unary(f):
    return lambda p: rotating(p, lambda seed: line(p, seed, -3, 3), f)


def binary(f, dtype=None):
    def make(p, seed):
        pair = line(p, 2 * seed), line(p, 2 * seed + 1)
        return [a.astype(dtype) for a in pair] if dtype else pair
    return lambda p: rotating(p, lambda seed: make(p, seed), lambda pair: f(*pair))


def of_matrix(f):
    return lambda p: rotating(p, lambda seed: matrix(p, seed), f)


def broadcast_add(p):
    return rotating(p, lambda seed: (matrix(p, 2 * seed), uniform((p["columns"],), 2 * seed + 1)), lambda s: s[0] + s[1])


def chain(x, y):
    return xp.sqrt(x * y + 1) - xp.exp(x) * y


def product(p):
    return rotating(p, lambda seed: (uniform((p["m"], p["k"]), 2 * seed, -1), uniform((p["k"], p["n"]), 2 * seed + 1, -1)),
                    lambda s: xp.matmul(*s))


def softmax(x):
    y = xp.exp(x - x.max(axis=1, keepdims=True))
    y /= y.sum(axis=1, keepdims=True)
    return y


def rows(f):
    return lambda p: rotating(p, lambda seed: uniform((p["rows"], p["columns"]), seed, -3, 3), f)


def layer_norm(p):
    gamma, beta = xp.ones(p["columns"], "f"), xp.zeros(p["columns"], "f")

    def normalized(x):
        centred = x - x.mean(axis=1, keepdims=True)
        return centred / xp.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta
    return rows(normalized)(p)


def temporary(p):
    n = p["bytes"]
    return Case(lambda: xp.empty(n, dtype="uint8"), result=lambda: numpy.array([n]))


def trace(p):
    n = p["operations"]
    slots = data.uniform((n,), 0, 0, p["live"]).astype(int).tolist()
    sizes = numpy.exp2(data.uniform((n,), 1, 6, 22)).astype(int).tolist()
    held, at = [None] * p["live"], 0

    def operate():
        nonlocal at
        slot = slots[at]
        held[slot] = None if held[slot] is not None else xp.empty(sizes[at], dtype="uint8")
        at = at + 1 if at + 1 < n else 0
    return Case(operate, result=lambda: numpy.array([n]))


def sampler(f):
    return lambda p: Case(lambda: f(p["n"]), result=lambda: numpy.array([p["n"]]))


def generator():
    return numpy.random.Generator(numpy.random.SFC64(0))


def default(setup):
    return {"default": setup}


table = {
    "overhead/add": default(small(lambda a, b: a + b, 2)),
    "overhead/add_out": default(add_out),
    "overhead/add_scalar": default(small(lambda a: a + 1.5)),
    "overhead/view": default(view),
    "overhead/sum": default(small(lambda a: a.sum())),
    "elementwise/add": default(binary(lambda a, b: a + b)),
    "elementwise/add_float16": default(binary(lambda a, b: a + b, "float16")),
    "elementwise/add_strided": default(binary(lambda a, b: a[::2] + b[::2])),
    "elementwise/add_broadcast": default(broadcast_add),
    "elementwise/exp": default(unary(xp.exp)),
    "elementwise/tanh": default(unary(xp.tanh)),
    "elementwise/cast_float64": default(unary(lambda a: a.astype("float64"))),
    "elementwise/cast_float16": default(unary(lambda a: a.astype("float16"))),
    "elementwise/chain": default(binary(chain)),
    "elementwise/chain_fused": default(binary(chain)),
    "elementwise/transpose_copy": default(of_matrix(lambda a: a.T.copy())),
    "reduction/sum": default(of_matrix(lambda a: a.sum())),
    "reduction/sum_axis0": default(of_matrix(lambda a: a.sum(axis=0))),
    "reduction/sum_axis1": default(of_matrix(lambda a: a.sum(axis=1))),
    "reduction/argmax": default(of_matrix(lambda a: a.argmax())),
    "reduction/argmax_axis1": default(of_matrix(lambda a: a.argmax(axis=1))),
    "reduction/var": default(of_matrix(lambda a: a.var())),
    **{f"matmul/{shape}": default(product) for shape in ("1024_cubed", "100x784x1000", "16_cubed", "32_cubed", "64_cubed")},
    "rows/softmax": default(rows(softmax)),
    "rows/layer_norm": default(layer_norm),
    "pool/temporary": default(temporary),
    "pool/trace": default(trace),
    "random/uniform": default(sampler(lambda n: xp.random.rand(n).astype("float32"))),
    "random/normal": default(sampler(lambda n: xp.random.randn(n).astype("float32"))),
}
if on_gpu:
    squared_difference = xp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
    table["kernel_cache/text"] = default(small(squared_difference, 2))
    table["kernel_cache/fused"] = default(small(xp.fuse()(lambda x, y: (x - y) * (x - y)), 2))
    table["elementwise/chain_fused"]["fuse"] = binary(xp.fuse()(chain))
    for name in ("uniform", "normal"):
        table[f"random/{name}"]["float32"] = sampler(
            lambda n, draw=getattr(xp.random, {"uniform": "random_sample", "normal": "standard_normal"}[name]): draw(n, dtype="float32"))
else:
    table["random/uniform"]["SFC64"] = sampler(lambda n, draw=generator().random: draw(n, dtype="float32"))
    table["random/normal"]["SFC64"] = sampler(lambda n, draw=generator().standard_normal: draw(n, dtype="float32"))

serve(table, fingerprint, synchronize, versions)
