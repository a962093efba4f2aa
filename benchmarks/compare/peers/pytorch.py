"""PyTorch with its defaults, and as its documentation recommends for speed."""
import numpy
import torch
import torch.nn.functional as F

import data
import torch_derivatives
import torch_gradients
import torch_quantized
import torch_training
from protocol import Case, rotating, serve
from torch_base import device, dtype, fingerprint, input, labels, synchronize, uniform
from torch_training import channels_last, contiguous


def line(p, seed=0, low=0, high=1):
    return input(p, (p["n"],), seed, low, high)


def matrix(p, seed, low=0, high=1):
    return input(p, (p["rows"], p["columns"]), seed, low, high)


def block(p, seed):
    return input(p, (p["outer"], p["axis"], p["inner"]), seed)


def plain(call):
    """A case without gradients: by default, and in inference mode."""
    return {"default": call, "inference_mode": lambda p: Case(call(p), around=torch.inference_mode)}


def small(f, operands=1):
    def setup(p):
        arrays = [line(p, seed) for seed in range(operands)]
        return lambda: f(*arrays)
    return plain(setup)


def unary(f):
    return {"default": lambda p: rotating(p, lambda seed: line(p, seed, -3, 3), f)}


def binary(f, **fixed):
    def make(p, seed):
        return line(p, 2 * seed), line(p, 2 * seed + 1)
    return lambda p: rotating(p, lambda seed: make({**p, **fixed}, seed), lambda s: f(*s))


def of_matrix(f):
    return {"default": lambda p: rotating(p, lambda seed: matrix(p, seed), f)}


def of_signed(f):
    return {"default": lambda p: rotating(p, lambda seed: matrix(p, seed, -1), f)}


def of_complex(f):
    def signal(p, seed):
        return torch.complex(matrix(p, 2 * seed, -1), matrix(p, 2 * seed + 1, -1))
    return {"default": lambda p: rotating(p, lambda seed: signal(p, seed), f)}


def of_block(f):
    return {"default": lambda p: rotating(p, lambda seed: block(p, seed), f)}


def of_equal_bools(value, f):
    return {"default": lambda p: rotating(p, lambda seed: torch.full_like(matrix(p, seed), value), f)}


def view(p):
    a = matrix(p, 0)
    return lambda: a[3]


def broadcast_add(p):
    other = (p["rows"], 1) if p.get("axis") == 1 else (p["columns"],)
    return rotating(p, lambda seed: (matrix(p, 2 * seed), input(p, other, 2 * seed + 1)), lambda s: s[0] + s[1])


def strided_add(p):
    step = p.get("step", 2)
    if step < 0:
        raise ValueError("there are no negative strides")
    return binary(lambda a, b: a[::step] + b[::step])(p)


def where(p):
    mask = {**p, "dtype": ord("?")}
    return rotating(p, lambda seed: (line(mask, 3 * seed), line(p, 3 * seed + 1), line(p, 3 * seed + 2)), lambda s: torch.where(*s))


def positions(n, seed):
    return labels(n, seed, n)


def masked(f):
    def make(p, seed):
        return line(p, 2 * seed), line({**p, "dtype": ord("?")}, 2 * seed + 1)
    return {"default": lambda p: rotating(p, lambda seed: make(p, seed), lambda s: f(*s))}


def assigned(values, mask):
    values[mask] = 7
    return values


def take(f):
    return lambda p: rotating(p, lambda seed: (line(p, 2 * seed), positions(p["n"], 2 * seed + 1)), lambda s: f(*s))


def take_rows(f):
    return lambda p: rotating(p, lambda seed: (matrix(p, 2 * seed), positions(p["rows"], 2 * seed + 1)), lambda s: f(*s))


def kth_of_line(find):
    """The element that a partition puts in its place, by find(line, how many are not greater); PyTorch has no partition."""
    def setup(p):
        k = p.get("kth", p["n"] // 2) + 1
        return Case(rotating(p, lambda seed: line(p, seed, -1), lambda a: find(a, k)), result=lambda: find(line(p, 0, -1), k).reshape(1))
    return setup


def smallest(a, k):
    """The greatest of the k smallest, by a selection of them all."""
    return a.topk(k, largest=False).values[..., -1]


def smallest_of_rows(p):
    k = p["kth"] + 1
    return Case(rotating(p, lambda seed: matrix(p, seed, -1), lambda a: a.topk(k, largest=False, sorted=False)),
                result=lambda: smallest(matrix(p, 0, -1), k))


def scatter_add(name):
    """The method of a tensor that adds: index_add_ or scatter_add_."""
    def setup(p):
        n, bins = p["n"], p["bins"]

        def addends(seed):
            return labels(n, 2 * seed + 1, bins), (labels(n, 2 * seed, 3) - 1).to(dtype(p))

        def add(sums, index, values):
            return getattr(sums, name)(0, index, values)

        def zeros():
            return torch.zeros(bins, dtype=dtype(p), device=device)
        sums = zeros()
        return Case(rotating(p, addends, lambda s: add(sums, *s)), result=lambda: add(zeros(), *addends(0)))
    return setup


def nonzero(p):
    return rotating(p, lambda seed: line({**p, "dtype": ord("?")}, seed), torch.nonzero)


def item(p):
    a = line(p)
    return Case(lambda: a.sum().item(), result=lambda: torch.tensor([a.sum().item()], dtype=torch.float64))


def bincount(p):
    return rotating(p, lambda seed: labels(p["n"], seed, p["classes"]), torch.bincount)


def arange(p):
    kind = {"l": torch.int64, "i": torch.int32, "d": torch.float64, "f": torch.float32}[chr(int(p.get("dtype", ord("l"))))]
    return lambda: torch.arange(p["n"], dtype=kind, device=device)


def concatenate(p):
    def arrays(seed):
        return [input(p, (p["n"],), 1000 * seed + k, -1) for k in range(p["count"])]
    return rotating(p, arrays, torch.cat)


def choice(p):
    return Case(lambda: torch.randint(p["population"], (p["n"],), device=device), result=lambda: numpy.array([p["n"]]))


def chain(x, y):
    return torch.sqrt(x * y + 1) - torch.exp(x) * y


def compiled(f):
    """Compiled by the first call of result, which is not timed."""
    return binary(torch.compile(f))


def product(p):
    return rotating(p, lambda seed: (input(p, (p["m"], p["k"]), 2 * seed, -1), input(p, (p["k"], p["n"]), 2 * seed + 1, -1)),
                    lambda s: torch.matmul(*s))


def complex_product(p):
    def operand(shape, seed):
        return torch.complex(input(p, shape, 2 * seed, -1), input(p, shape, 2 * seed + 1, -1))

    def make(seed):
        return operand((p["m"], p["k"]), 2 * seed), operand((p["k"], p["n"]), 2 * seed + 1)

    def parts():
        y = torch.matmul(*make(0))
        return torch.cat((y.real.ravel(), y.imag.ravel()))
    return Case(rotating(p, make, lambda s: torch.matmul(*s)), result=parts)


def attention_scores(p):
    shape = p["batch"], p["tokens"], p["heads"], p["d"]
    return rotating(p, lambda seed: (input(p, shape, 2 * seed, -1), input(p, shape, 2 * seed + 1, -1)),
                    lambda s: torch.matmul(s[0].permute(0, 2, 1, 3), s[1].permute(0, 2, 3, 1)))


def dominant(p, shape, seed):
    a, n = input(p, shape, seed, -1), shape[-1]
    return a + n * torch.eye(n, dtype=a.dtype, device=a.device)


def solve(p):
    n = p["n"]
    return rotating(p, lambda seed: (dominant(p, (n, n), 2 * seed), input(p, (n, p["columns"]), 2 * seed + 1, -1)),
                    lambda s: torch.linalg.solve(*s))


def inverses(p):
    return rotating(p, lambda seed: dominant(p, (p["count"], p["n"], p["n"]), seed), torch.linalg.inv)


def eigh(p):
    def symmetric(seed):
        a = input(p, (p["n"], p["n"]), seed, -1)
        return a + a.T
    return rotating(p, symmetric, lambda a: torch.linalg.eigh(a)[0])


def product_of_transposed(p):
    return rotating(p, lambda seed: (input(p, (p["k"], p["m"]), 2 * seed, -1), input(p, (p["n"], p["k"]), 2 * seed + 1, -1)),
                    lambda s: torch.matmul(s[0].T, s[1].T))


def rows(f):
    return plain(lambda p: rotating(p, lambda seed: matrix(p, seed, -3, 3), f))


def layer_norm(p):
    columns = p["columns"]
    gamma, beta = (make(columns, device=device, dtype=dtype(p)) for make in (torch.ones, torch.zeros))
    return rotating(p, lambda seed: matrix(p, seed, -3, 3), lambda x: F.layer_norm(x, (columns,), gamma, beta))


def batch_norm(p):
    c, shape = p["channels"], (p["batch"], p["channels"], p["size"], p["size"])
    gamma, beta = torch.ones(c, device=device), torch.zeros(c, device=device)
    return rotating(p, lambda seed: input(p, shape, seed, -3, 3),
                    lambda x: F.batch_norm(x, None, None, gamma, beta, True, eps=2e-5))


def dropout(p):
    return Case(rotating(p, lambda seed: line(p, seed, -3, 3), lambda x: F.dropout(x, 0.5, True)), around=torch.inference_mode,
                result=lambda: [p["n"]])


def max_pooling(p):
    shape = p["batch"], p["channels"], p["size"], p["size"]
    return rotating(p, lambda seed: input(p, shape, seed, -1), lambda x: F.max_pool2d(x, 3, 2, 1))


def layer_norm_images(p):
    n, c, size = p["batch"], p["channels"], p["size"]
    columns = c * size * size
    gamma, beta = torch.ones(columns, device=device), torch.zeros(columns, device=device)
    return rotating(p, lambda seed: uniform((n, size, size, c), seed, -3, 3).permute(0, 3, 1, 2),
                    lambda x: F.layer_norm(x.reshape(n, columns), (columns,), gamma, beta))


def temporary(p):
    n = p["bytes"]
    return Case(lambda: torch.empty(n, dtype=torch.uint8, device=device), result=lambda: [n])


def host_to_device(p):
    host, on_device = torch.from_numpy(data.uniform((p["bytes"] // 4,), 0)), torch.zeros(p["bytes"] // 4, device=device)
    return lambda: on_device.copy_(host)


def trace(p):
    n = p["operations"]
    slots = data.uniform((n,), 0, 0, p["live"]).astype(int).tolist()
    sizes = numpy.exp2(data.uniform((n,), 1, 6, 22)).astype(int).tolist()
    held, at = [None] * p["live"], 0

    def operate():
        nonlocal at
        slot = slots[at]
        held[slot] = None if held[slot] is not None else torch.empty(sizes[at], dtype=torch.uint8, device=device)
        at = at + 1 if at + 1 < n else 0
    return Case(operate, result=lambda: [n])


def sampler(f):
    return {"default": lambda p: Case(lambda: f(p["n"], device=device), result=lambda: [p["n"]])}


# ---- gradients --------------------------------------------------------------------------------------------------------------------
def add_with_graph(p):
    x = line(p).requires_grad_()
    return lambda: x + x


def without_graph(around):
    def setup(p):
        x = line(p).requires_grad_()
        return Case(lambda: x + x, around=around)
    return setup


def square_sum_backward(p):
    x = line(p).requires_grad_()

    def call():
        x.grad = None
        (x * x).sum().backward()
        return x.grad
    return call


def images(p, seed, layout):
    return uniform((p["batch"], p["channels"], p["size"], p["size"]), seed, -1).to(memory_format=layout)


def gradients(p, seed, layout):
    size = (p["size"] + 2 * p.get("pad", 1) - p.get("kernel", 3)) // p.get("stride", 1) + 1
    return uniform((p["batch"], p["outputs"], size, size), seed, -1).to(memory_format=layout)


def filters(p, layout):
    k = p.get("kernel", 3)
    return uniform((p["outputs"], p["channels"], k, k), 1000, -0.1, 0.1).to(memory_format=layout)


def convolution(p, x, W):
    return F.conv2d(x, W, padding=p.get("pad", 1), stride=p.get("stride", 1))


def convolution_forward(p, layout, around):
    W = filters(p, layout)
    return Case(rotating(p, lambda seed: images(p, seed, layout), lambda x: convolution(p, x, W)), around=around)


def layouts(setup):
    """A case in both layouts of images."""
    return {"default": lambda p: setup(p, contiguous), "channels_last": lambda p: setup(p, channels_last)}


def convolution_forward_backward(p, layout):
    W, gy = filters(p, layout).requires_grad_(), gradients(p, 2000, layout)

    def step(x):
        x.grad = W.grad = None
        convolution(p, x, W).backward(gy)
        return W.grad
    return rotating(p, lambda seed: images(p, seed, layout).requires_grad_(), step)


def gradient_of_filters(p, y_of, W, layout):
    """A step forward and back; the compared result is the gradient of W."""
    with torch.no_grad():
        shape = tuple(y_of(images(p, 0, layout), W).shape)
    gy = uniform(shape, 2000, -1).to(memory_format=layout)
    W.requires_grad_()

    def step(x):
        x.grad = W.grad = None
        y_of(x, W).backward(gy)
        return W.grad
    return rotating(p, lambda seed: images(p, seed, layout).requires_grad_(), step)


def depthwise(p, layout):
    k, channels = p.get("kernel", 3), p["channels"]
    W = uniform((1, channels, k, k), 1000, -0.3, 0.3).reshape(channels, 1, k, k).to(memory_format=layout)
    return gradient_of_filters(
        p, lambda x, W: F.conv2d(x, W, padding=p.get("pad", 1), stride=p.get("stride", 1), groups=channels), W, layout)


def deconvolution(p, layout):
    k = p.get("kernel", 3)
    W = uniform((p["channels"], p["outputs"], k, k), 1000, -0.1, 0.1).to(memory_format=layout)
    return gradient_of_filters(
        p, lambda x, W: F.conv_transpose2d(x, W, padding=p.get("pad", 1), stride=p.get("stride", 1)), W, layout)


def bias_gradient(p):
    return rotating(p, lambda seed: gradients(p, seed, contiguous), lambda gy: gy.sum((0, 2, 3)))


table = {
    "overhead/add": small(lambda a, b: a + b, 2),
    "overhead/add_out": small(lambda a, b, c=None: torch.add(a, b, out=c), 3),
    "overhead/add_scalar": small(lambda a: a + 1.5),
    "overhead/fused": small(lambda a, b: (a - b) * (a - b), 2),
    "overhead/view": plain(view),
    "overhead/sum": small(lambda a: a.sum()),
    "overhead/item": {"default": item},
    "autograd/add_no_graph": {"default": without_graph(torch.no_grad), "inference_mode": without_graph(torch.inference_mode)},
    "autograd/add": {"default": add_with_graph},
    "autograd/square_sum_backward": {"default": square_sum_backward},
    "elementwise/add": {"default": binary(lambda a, b: a + b)},
    "elementwise/add_float16": {"default": binary(lambda a, b: a + b, dtype=ord("e"))},
    "elementwise/add_strided": {"default": strided_add},
    "elementwise/add_broadcast": {"default": broadcast_add},
    "elementwise/exp": unary(torch.exp),
    "elementwise/tanh": unary(torch.tanh),
    "elementwise/cast_float64": unary(lambda a: a.double()),
    "elementwise/cast_float16": unary(lambda a: a.half()),
    "elementwise/multiply_integers": {"default": binary(lambda a, b: a * b)},
    "elementwise/less": {"default": binary(lambda a, b: a < b)},
    "elementwise/maximum": {"default": binary(torch.maximum)},
    "elementwise/where": {"default": where},
    "elementwise/chain": {"default": binary(chain)},
    "elementwise/chain_fused": {"default": binary(chain), "compile": compiled(chain)},
    "elementwise/copy": unary(lambda a: a.clone()),
    "elementwise/multiply_add": {"default": binary(lambda a, b: torch.addcmul(a, a, b))},
    "activation/relu": unary(torch.relu),
    "activation/dropout": {"default": dropout},
    "elementwise/transpose_copy": of_matrix(lambda a: a.T.contiguous()),
    "elementwise/permuted_copy": of_block(lambda a: a.permute(2, 0, 1).contiguous()),
    "reduction/sum": of_matrix(lambda a: a.sum()),
    "reduction/sum_axis0": of_matrix(lambda a: a.sum(0)),
    "reduction/sum_axis1": of_matrix(lambda a: a.sum(1)),
    "reduction/sum_middle": of_block(lambda a: a.sum(1)),
    "reduction/sum_outer": of_block(lambda a: a.sum((0, 2))),
    "reduction/max": of_matrix(lambda a: a.max()),
    "reduction/max_axis0": of_matrix(lambda a: a.amax(0)),
    "reduction/max_axis1": of_matrix(lambda a: a.amax(1)),
    "reduction/argmax": of_matrix(lambda a: a.argmax()),
    "reduction/argmax_axis0": of_matrix(lambda a: a.argmax(0)),
    "reduction/argmax_axis1": of_matrix(lambda a: a.argmax(1)),
    "reduction/var": of_matrix(lambda a: a.var(correction=0)),
    "reduction/any": of_equal_bools(False, lambda a: a.any()),
    "reduction/any_early": of_matrix(lambda a: a.any()),
    "reduction/all": of_equal_bools(True, lambda a: a.all()),
    "reduction/max_bools": of_equal_bools(False, lambda a: a.max()),
    "reduction/count_nonzero": of_matrix(torch.count_nonzero),
    "indexing/mask_select": masked(lambda a, mask: a[mask]),
    "indexing/mask_assign": masked(assigned),
    "indexing/take": {"default": take(lambda a, index: a[index]), "take": take(torch.take)},
    "indexing/take_rows": {"default": take_rows(lambda a, index: a[index]),
                           "index_select": take_rows(lambda a, index: a.index_select(0, index))},
    "indexing/bincount": {"default": bincount},
    "indexing/scatter_add": {"default": scatter_add("index_add_"), "scatter_add": scatter_add("scatter_add_")},
    "indexing/nonzero": {"default": nonzero},
    "creation/arange": {"default": arange},
    "joining/concatenate": {"default": concatenate},
    "sorting/partition": {"default": kth_of_line(lambda a, k: a.kthvalue(k).values), "topk": kth_of_line(smallest)},
    "sorting/argpartition": {"default": smallest_of_rows},
    "sorting/sort": of_signed(lambda a: a.sort(1).values),
    "sorting/argsort": of_signed(lambda a: a.argsort(dim=1, stable=True)),
    "scan/cumsum": of_signed(lambda a: a.ravel().cumsum(0)),
    "scan/cumsum_axis0": of_signed(lambda a: a.cumsum(0)),
    "scan/cumsum_axis1": of_signed(lambda a: a.cumsum(1)),
    **{f"matmul/{shape}": plain(product) for shape in ("1024_cubed", "100x784x1000", "16_cubed", "32_cubed", "64_cubed", "skinny")},
    "matmul/transposed": plain(product_of_transposed),
    "matmul/complex": {"default": complex_product},
    "matmul/attention_scores": plain(attention_scores),
    "fft/complex_1e6": of_complex(lambda a: torch.fft.fft(a).real),
    "fft/complex_1000x1024": of_complex(lambda a: torch.fft.fft(a).real),
    "fft/real_1000x1024": of_signed(lambda a: torch.fft.rfft(a).real),
    "fft/plane_1024": of_signed(lambda a: torch.fft.rfft2(a).real),
    "linalg/solve_512": plain(solve),
    "linalg/inverses_1000x16x16": plain(inverses),
    "linalg/svd_256": of_signed(lambda a: torch.linalg.svd(a, full_matrices=False).S),
    "linalg/eigh_512": plain(eigh),
    "linalg/norm": of_signed(torch.linalg.norm),
    "linalg/norm_axis1": of_signed(lambda a: torch.linalg.norm(a, dim=1)),
    "rows/softmax": rows(lambda x: F.softmax(x, 1)),
    "rows/log_softmax": rows(lambda x: F.log_softmax(x, 1)),
    "rows/layer_norm": plain(layer_norm),
    "rows/layer_norm_images": plain(layer_norm_images),
    "rows/batch_norm": plain(batch_norm),
    "convolution/forward": {
        "default": lambda p: convolution_forward(p, contiguous, torch.no_grad),
        "channels_last": lambda p: convolution_forward(p, channels_last, torch.inference_mode),
    },
    "convolution/forward_backward": layouts(convolution_forward_backward),
    "convolution/bias_gradient": {"default": bias_gradient},
    "convolution/resnet18": layouts(convolution_forward_backward),
    "convolution/depthwise": layouts(depthwise),
    "convolution/max_pooling": plain(max_pooling),
    "convolution/deconvolution": layouts(deconvolution),
    "transfer/host_to_device": {"default": host_to_device},
    "pool/temporary": {"default": temporary},
    "pool/trace": {"default": trace},
    "random/choice": {"default": choice},
    "random/uniform": sampler(torch.rand),
    "random/normal": sampler(torch.randn),
    **torch_derivatives.table,
    **torch_gradients.table,
    **torch_quantized.table,
    **torch_training.table,
}

if __name__ == "__main__":
    serve(table, fingerprint, synchronize, f"PyTorch {torch.__version__}")
