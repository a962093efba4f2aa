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


def input(*arguments):
    return xp.asarray(data.input(*arguments))


def refuse_bfloat16(p):
    if data.dtype(p) == "E":
        raise TypeError("there is no bfloat16")


def fingerprint(y):
    return data.fingerprint(xp.asnumpy(y) if on_gpu else y)


def line(p, seed=0, low=0, high=1):
    refuse_bfloat16(p)
    return input(p, (p["n"],), seed, low, high)


def matrix(p, seed, low=0, high=1):
    return input(p, (p["rows"], p["columns"]), seed, low, high)


def block(p, seed):
    return input(p, (p["outer"], p["axis"], p["inner"]), seed)


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


def binary(f, **fixed):
    def make(p, seed):
        return line(p, 2 * seed), line(p, 2 * seed + 1)
    return lambda p: rotating(p, lambda seed: make({**p, **fixed}, seed), lambda pair: f(*pair))


def of_matrix(f):
    return lambda p: rotating(p, lambda seed: matrix(p, seed), f)


def of_signed(f):
    return lambda p: rotating(p, lambda seed: matrix(p, seed, -1), f)


def of_block(f):
    return lambda p: rotating(p, lambda seed: block(p, seed), f)


def of_equal_bools(value, f):
    return lambda p: rotating(p, lambda seed: xp.full_like(matrix(p, seed), value), f)


def broadcast_add(p):
    other = (p["rows"], 1) if p.get("axis") == 1 else (p["columns"],)
    return rotating(p, lambda seed: (matrix(p, 2 * seed), input(p, other, 2 * seed + 1)), lambda s: s[0] + s[1])


def strided_add(p):
    step = p.get("step", 2)
    return binary(lambda a, b: a[::step] + b[::step])(p)


def where(p):
    mask = {**p, "dtype": ord("?")}
    refuse_bfloat16(p)
    return rotating(p, lambda seed: (line(mask, 3 * seed), line(p, 3 * seed + 1), line(p, 3 * seed + 2)), lambda s: xp.where(*s))


def positions(n, seed):
    return xp.asarray(data.labels(n, seed, n).astype("int64"))


def masked(f):
    def make(p, seed):
        return line(p, 2 * seed), line({**p, "dtype": ord("?")}, 2 * seed + 1)
    return lambda p: rotating(p, lambda seed: make(p, seed), lambda s: f(*s))


def assigned(values, mask):
    values[mask] = 7
    return values


def few_selected(f):
    """Masks of runs, of which every hundredth is selected."""
    def make(p, seed):
        n, run = p["n"], p["run"]
        chosen = data.labels((n + run - 1) // run, 2 * seed + 1, 100) == 0
        return line(p, 2 * seed), xp.asarray(numpy.repeat(chosen, run)[:n])
    return lambda p: rotating(p, lambda seed: make(p, seed), lambda s: f(*s))


def read_elements(p):
    def read(a):
        total, n = 0.0, len(a)
        for i in range(1000):
            total += float(a[i * 7 % n])
        return xp.array([total])
    return rotating(p, lambda seed: line(p, seed), read)


def write_in_line(p):
    def write(given):
        a, n = given.copy(), len(given)
        for i in range(1000):
            a[i * 7 % n] = 1.5
        return a
    return rotating(p, lambda seed: line(p, seed), write)


def sparse_matrix(p, seed):
    if on_gpu:
        from cupyx.scipy import sparse
    else:
        from scipy import sparse
    n, entries = p["rows"], p["rows"] * p["per_row"]
    places = xp.arange(entries) // p["per_row"], xp.asarray(data.labels(entries, 2 * seed, n))
    return sparse.coo_matrix((input(p, (entries,), 2 * seed + 1, -1), places), shape=(n, n)).tocsr()


def sparse_by_dense(p):
    shape = (p["rows"], p["columns"]) if "columns" in p else (p["rows"],)
    return rotating(p, lambda seed: (sparse_matrix(p, seed), input(p, shape, 1000 + seed, -1)), lambda s: s[0] @ s[1])


def sparse_by_sparse(p):
    """SciPy's product does not have its columns in order; they are sorted for the comparison alone."""
    def in_order():
        m = sparse_matrix(p, 0)
        product = m @ m
        product.sort_indices()
        return product.data
    return Case(rotating(p, lambda seed: sparse_matrix(p, seed), lambda m: m @ m), result=in_order)


def take(p):
    return rotating(p, lambda seed: (line(p, 2 * seed), positions(p["n"], 2 * seed + 1)), lambda s: s[0][s[1]])


def take_rows(p):
    return rotating(p, lambda seed: (matrix(p, 2 * seed), positions(p["rows"], 2 * seed + 1)), lambda s: s[0].take(s[1], axis=0))


def partition(p):
    kth = p.get("kth", p["n"] // 2)
    return Case(rotating(p, lambda seed: line(p, seed, -1), lambda a: xp.partition(a, kth)),
                result=lambda: xp.partition(line(p, 0, -1), kth)[kth:kth + 1])


def argpartition(p):
    kth = p["kth"]

    def chosen():
        a = matrix(p, 0, -1)
        return xp.take_along_axis(a, xp.argpartition(a, kth)[:, kth:kth + 1], 1)
    return Case(rotating(p, lambda seed: matrix(p, seed, -1), lambda a: xp.argpartition(a, kth)), result=chosen)


def scatter_add(p):
    def addends(seed):
        n = p["n"]
        values = (data.labels(n, 2 * seed, 3) - 1).astype(data.dtype(p))
        return xp.asarray(data.labels(n, 2 * seed + 1, p["bins"]).astype("int64")), xp.asarray(values)

    def add(sums, index, values):
        xp.add.at(sums, index, values)
        return sums

    def zeros():
        return xp.zeros(p["bins"], data.dtype(p))
    sums = zeros()
    return Case(rotating(p, addends, lambda s: add(sums, *s)), result=lambda: add(zeros(), *addends(0)))


def nonzero(p):
    return rotating(p, lambda seed: line({**p, "dtype": ord("?")}, seed), lambda mask: xp.nonzero(mask)[0])


def bincount(p):
    return rotating(p, lambda seed: xp.asarray(data.labels(p["n"], seed, p["classes"]).astype("int64")), xp.bincount)


def arange(p):
    return lambda: xp.arange(p["n"], dtype=chr(int(p.get("dtype", ord("l")))))


def concatenate(p):
    def arrays(seed):
        return [input(p, (p["n"],), 1000 * seed + k, -1) for k in range(p["count"])]
    return rotating(p, arrays, xp.concatenate)


def choice(draw):
    return lambda p: Case(lambda: draw(p["population"], p["n"]), result=lambda: numpy.array([p["n"]]))


def chain(x, y):
    return xp.sqrt(x * y + 1) - xp.exp(x) * y


def product(p):
    return rotating(p, lambda seed: (input(p, (p["m"], p["k"]), 2 * seed, -1), input(p, (p["k"], p["n"]), 2 * seed + 1, -1)),
                    lambda s: xp.matmul(*s))


def complex_product(p):
    def operand(shape, seed):
        return input(p, shape, 2 * seed, -1) + 1j * input(p, shape, 2 * seed + 1, -1)

    def make(seed):
        return operand((p["m"], p["k"]), 2 * seed), operand((p["k"], p["n"]), 2 * seed + 1)

    def parts():
        y = xp.matmul(*make(0))
        return xp.concatenate((y.real.ravel(), y.imag.ravel()))
    return Case(rotating(p, make, lambda s: xp.matmul(*s)), result=parts)


def attention_scores(p):
    shape = p["batch"], p["tokens"], p["heads"], p["d"]
    return rotating(p, lambda seed: (input(p, shape, 2 * seed, -1), input(p, shape, 2 * seed + 1, -1)),
                    lambda s: xp.matmul(s[0].transpose(0, 2, 1, 3), s[1].transpose(0, 2, 3, 1)))


def dominant(p, shape, seed):
    a, n = input(p, shape, seed, -1), shape[-1]
    return a + n * xp.eye(n, dtype=a.dtype)


def solve(p):
    n = p["n"]
    return rotating(p, lambda seed: (dominant(p, (n, n), 2 * seed), input(p, (n, p["columns"]), 2 * seed + 1, -1)),
                    lambda s: xp.linalg.solve(*s))


def inverses(p):
    return rotating(p, lambda seed: dominant(p, (p["count"], p["n"], p["n"]), seed), xp.linalg.inv)


def eigh(p):
    def symmetric(seed):
        a = input(p, (p["n"], p["n"]), seed, -1)
        return a + a.T
    return rotating(p, symmetric, lambda a: xp.linalg.eigh(a)[0])


def product_of_transposed(p):
    return rotating(p, lambda seed: (input(p, (p["k"], p["m"]), 2 * seed, -1), input(p, (p["n"], p["k"]), 2 * seed + 1, -1)),
                    lambda s: xp.matmul(s[0].T, s[1].T))


def bias_gradient(p):
    size = (p["size"] + 2 * p.get("pad", 1) - p.get("kernel", 3)) // p.get("stride", 1) + 1
    return rotating(p, lambda seed: uniform((p["batch"], p["outputs"], size, size), seed, -1), lambda gy: gy.sum(axis=(0, 2, 3)))


def softmax(x):
    y = xp.exp(x - x.max(axis=1, keepdims=True))
    y /= y.sum(axis=1, keepdims=True)
    return y


def log_softmax(x):
    y = x - x.max(axis=1, keepdims=True)
    y -= xp.log(xp.exp(y).sum(axis=1, keepdims=True))
    return y


def rows(f):
    return lambda p: rotating(p, lambda seed: matrix(p, seed, -3, 3), f)


def layer_norm(p):
    gamma, beta = xp.ones(p["columns"], data.dtype(p)), xp.zeros(p["columns"], data.dtype(p))

    def normalized(x):
        centred = x - x.mean(axis=1, keepdims=True)
        return centred / xp.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta
    return rows(normalized)(p)


def temporary(p):
    n = p["bytes"]
    return Case(lambda: xp.empty(n, dtype="uint8"), result=lambda: numpy.array([n]))


def host_to_device(p):
    host, on_device = data.uniform((p["bytes"] // 4,), 0), xp.zeros(p["bytes"] // 4, "float32")

    def copy():
        if on_gpu:
            on_device.set(host)
        else:
            numpy.copyto(on_device, host)
        return on_device
    return copy


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


def complex_signal(p, seed):
    return matrix(p, 2 * seed, -1) + 1j * matrix(p, 2 * seed + 1, -1)


def of_complex(f):
    return lambda p: rotating(p, lambda seed: complex_signal(p, seed), f)


def of_line(f):
    return lambda p: rotating(p, lambda seed: line(p, seed, -1), f)


def with_nan(f):
    def make(p, seed):
        a = matrix(p, seed, -1)
        return xp.where(a < -0.8, xp.nan, a).astype(a.dtype)
    return lambda p: rotating(p, lambda seed: make(p, seed), f)


def interpolation(p):
    x = xp.linspace(-1, 1, 1001)
    y = xp.sin(5 * x)
    return of_line(lambda a: xp.interp(a, x, y))(p)


def convolution_with_window(p):
    taps = xp.hanning(101).astype(xp.float32)
    return of_line(lambda a: xp.convolve(a, taps, "same"))(p)


def chain(p):
    n = p["n"]

    def make(seed):
        return input(p, (n, n), 3 * seed, -1), input(p, (n, n), 3 * seed + 1, -1), input(p, (n, 4), 3 * seed + 2, -1)
    return rotating(p, make, lambda s: xp.einsum("ij,jk,kl->il", *s, optimize=True))


def write_elements(p):
    a = xp.zeros((100, 100))

    def write():
        for i in range(100):
            a[i, 99 - i] = 1.5
        return a
    return write


def default(setup):
    return {"default": setup}


table = {
    "overhead/add": default(small(lambda a, b: a + b, 2)),
    "overhead/add_out": default(add_out),
    "overhead/add_scalar": default(small(lambda a: a + 1.5)),
    "overhead/fused": default(small(lambda a, b: (a - b) * (a - b), 2)),
    "overhead/view": default(view),
    "overhead/sum": default(small(lambda a: a.sum())),
    "overhead/item": default(small(lambda a: float(a.sum()))),
    "elementwise/add": default(binary(lambda a, b: a + b)),
    "elementwise/add_float16": default(binary(lambda a, b: a + b, dtype=ord("e"))),
    "elementwise/add_strided": default(strided_add),
    "elementwise/add_broadcast": default(broadcast_add),
    "elementwise/exp": default(unary(xp.exp)),
    "elementwise/tanh": default(unary(xp.tanh)),
    "elementwise/cast_float64": default(unary(lambda a: a.astype("float64"))),
    "elementwise/cast_float16": default(unary(lambda a: a.astype("float16"))),
    "elementwise/multiply_integers": default(binary(lambda a, b: a * b)),
    "elementwise/less": default(binary(lambda a, b: a < b)),
    "elementwise/maximum": default(binary(xp.maximum)),
    "elementwise/where": default(where),
    "elementwise/chain": default(binary(chain)),
    "elementwise/chain_fused": default(binary(chain)),
    "elementwise/copy": default(unary(lambda a: a.copy())),
    "elementwise/multiply_add": default(binary(lambda a, b: a * b + a)),
    "elementwise/transpose_copy": default(of_matrix(lambda a: a.T.copy())),
    "elementwise/permuted_copy": default(of_block(lambda a: a.transpose(2, 0, 1).copy())),
    "reduction/sum": default(of_matrix(lambda a: a.sum())),
    "reduction/sum_axis0": default(of_matrix(lambda a: a.sum(axis=0))),
    "reduction/sum_axis1": default(of_matrix(lambda a: a.sum(axis=1))),
    "reduction/sum_middle": default(of_block(lambda a: a.sum(axis=1))),
    "reduction/sum_outer": default(of_block(lambda a: a.sum(axis=(0, 2)))),
    "reduction/max": default(of_matrix(lambda a: a.max())),
    "reduction/max_axis0": default(of_matrix(lambda a: a.max(axis=0))),
    "reduction/max_axis1": default(of_matrix(lambda a: a.max(axis=1))),
    "reduction/argmax": default(of_matrix(lambda a: a.argmax())),
    "reduction/argmax_axis0": default(of_matrix(lambda a: a.argmax(axis=0))),
    "reduction/argmax_axis1": default(of_matrix(lambda a: a.argmax(axis=1))),
    "reduction/var": default(of_matrix(lambda a: a.var())),
    "reduction/any": default(of_equal_bools(False, lambda a: a.any())),
    "reduction/any_early": default(of_matrix(lambda a: a.any())),
    "reduction/all": default(of_equal_bools(True, lambda a: a.all())),
    "reduction/max_bools": default(of_equal_bools(False, lambda a: a.max())),
    "reduction/count_nonzero": default(of_matrix(lambda a: xp.asarray(xp.count_nonzero(a)))),
    "indexing/mask_select": default(masked(lambda a, mask: a[mask])),
    "indexing/mask_assign": default(masked(assigned)),
    "indexing/mask_select_few": default(few_selected(lambda a, mask: a[mask])),
    "indexing/mask_assign_few": default(few_selected(assigned)),
    "indexing/mask_select_runs": default(few_selected(lambda a, mask: a[mask])),
    "indexing/mask_assign_runs": default(few_selected(assigned)),
    "indexing/read_elements": default(read_elements),
    "indexing/write_elements": default(write_in_line),
    "sparse/csr_vector": default(sparse_by_dense),
    "sparse/csr_dense": default(sparse_by_dense),
    "sparse/csr_csr": default(sparse_by_sparse),
    "indexing/take": default(take),
    "indexing/take_rows": default(take_rows),
    "indexing/bincount": default(bincount),
    "indexing/scatter_add": default(scatter_add),
    "indexing/nonzero": default(nonzero),
    "creation/arange": default(arange),
    "joining/concatenate": default(concatenate),
    "sorting/partition": default(partition),
    "sorting/argpartition": default(argpartition),
    "sorting/sort": default(of_signed(lambda a: xp.sort(a))),
    "sorting/argsort": default(of_signed(lambda a: xp.argsort(a, kind="stable"))),
    "scan/cumsum": default(of_signed(lambda a: a.cumsum())),
    "scan/cumsum_axis0": default(of_signed(lambda a: a.cumsum(axis=0))),
    "scan/cumsum_axis1": default(of_signed(lambda a: a.cumsum(axis=1))),
    **{f"matmul/{shape}": default(product) for shape in ("1024_cubed", "100x784x1000", "16_cubed", "32_cubed", "64_cubed", "skinny")},
    "matmul/transposed": default(product_of_transposed),
    "matmul/complex": default(complex_product),
    "matmul/attention_scores": default(attention_scores),
    "fft/complex_1e6": default(of_complex(lambda a: xp.fft.fft(a).real)),
    "fft/complex_1000x1024": default(of_complex(lambda a: xp.fft.fft(a).real)),
    "fft/real_1000x1024": default(of_signed(lambda a: xp.fft.rfft(a).real)),
    "fft/plane_1024": default(of_signed(lambda a: xp.fft.rfft2(a).real)),
    "numerics/median": default(of_line(lambda a: xp.asarray(xp.median(a)))),
    "numerics/percentile": default(of_line(lambda a: xp.percentile(a, [5, 50, 95]))),
    "numerics/histogram": default(of_line(lambda a: xp.histogram(a, bins=100)[0])),
    "numerics/unique": default(of_line(xp.unique)),
    "numerics/interp": default(interpolation),
    "numerics/convolve": default(convolution_with_window),
    "numerics/nansum": default(with_nan(lambda a: xp.nansum(a, axis=1))),
    "numerics/nanmean": default(with_nan(lambda a: xp.nanmean(a, axis=0))),
    "numerics/einsum_chain": default(chain),
    "numerics/write_elements": default(write_elements),
    "linalg/solve_512": default(solve),
    "linalg/inverses_1000x16x16": default(inverses),
    "linalg/svd_256": default(of_signed(lambda a: xp.linalg.svd(a, full_matrices=False)[1])),
    "linalg/eigh_512": default(eigh),
    "linalg/norm": default(of_signed(lambda a: xp.asarray(xp.linalg.norm(a)))),
    "linalg/norm_axis1": default(of_signed(lambda a: xp.linalg.norm(a, axis=1))),
    "convolution/bias_gradient": default(bias_gradient),
    "rows/softmax": default(rows(softmax)),
    "rows/log_softmax": default(rows(log_softmax)),
    "rows/layer_norm": default(layer_norm),
    "transfer/host_to_device": default(host_to_device),
    "pool/temporary": default(temporary),
    "pool/trace": default(trace),
    "random/choice": default(choice(lambda population, n: xp.random.choice(population, n))),
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
    table["random/choice"]["SFC64"] = choice(lambda population, n, draw=generator().choice: draw(population, n))
    table["random/uniform"]["SFC64"] = sampler(lambda n, draw=generator().random: draw(n, dtype="float32"))
    table["random/normal"]["SFC64"] = sampler(lambda n, draw=generator().standard_normal: draw(n, dtype="float32"))

serve(table, fingerprint, synchronize, versions)
