"""PyTorch with its defaults, and as its documentation recommends for speed."""
import argparse
import math

import numpy
import torch
import torch.nn.functional as F

import data
from protocol import Case, rotating, serve

parser = argparse.ArgumentParser()
parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
device = parser.parse_args().device
synchronize = torch.cuda.synchronize if device == "cuda" else (lambda: None)


def uniform(*arguments):
    return torch.from_numpy(data.uniform(*arguments)).to(device)


def fingerprint(y):
    y = y.detach() if isinstance(y, torch.Tensor) else torch.as_tensor(y)
    return data.fingerprint(y.double().cpu().numpy(), y.element_size())


def line(p, seed=0, low=0, high=1):
    return uniform((p["n"],), seed, low, high)


def matrix(p, seed):
    return uniform((p["rows"], p["columns"]), seed)


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


def binary(f, dtype=torch.float32):
    return lambda p: rotating(p, lambda seed: (line(p, 2 * seed).to(dtype), line(p, 2 * seed + 1).to(dtype)), lambda s: f(*s))


def of_matrix(f):
    return {"default": lambda p: rotating(p, lambda seed: matrix(p, seed), f)}


def view(p):
    a = matrix(p, 0)
    return lambda: a[3]


def broadcast_add(p):
    return rotating(p, lambda seed: (matrix(p, 2 * seed), uniform((p["columns"],), 2 * seed + 1)), lambda s: s[0] + s[1])


def chain(x, y):
    return torch.sqrt(x * y + 1) - torch.exp(x) * y


def compiled(f):
    """Compiled by the first call of result, which is not timed."""
    return binary(torch.compile(f))


def product(p):
    return rotating(p, lambda seed: (uniform((p["m"], p["k"]), 2 * seed, -1), uniform((p["k"], p["n"]), 2 * seed + 1, -1)),
                    lambda s: torch.matmul(*s))


def rows(f):
    return plain(lambda p: rotating(p, lambda seed: uniform((p["rows"], p["columns"]), seed, -3, 3), f))


def layer_norm(p):
    columns = p["columns"]
    gamma, beta = torch.ones(columns, device=device), torch.zeros(columns, device=device)
    return rotating(p, lambda seed: uniform((p["rows"], columns), seed, -3, 3), lambda x: F.layer_norm(x, (columns,), gamma, beta))


def temporary(p):
    n = p["bytes"]
    return Case(lambda: torch.empty(n, dtype=torch.uint8, device=device), result=lambda: [n])


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


def images(p, channels, seed, layout):
    return uniform((p["batch"], p[channels], p["size"], p["size"]), seed, -1).to(memory_format=layout)


def filters(p, layout):
    return uniform((p["outputs"], p["channels"], 3, 3), 1000, -0.1, 0.1).to(memory_format=layout)


def convolution_forward(p, layout, around):
    W = filters(p, layout)
    return Case(rotating(p, lambda seed: images(p, "channels", seed, layout), lambda x: F.conv2d(x, W, padding=1)), around=around)


def convolution_forward_backward(p, layout):
    W, gy = filters(p, layout).requires_grad_(), images(p, "outputs", 2000, layout)

    def step(x):
        x.grad = W.grad = None
        F.conv2d(x, W, padding=1).backward(gy)
        return W.grad
    return rotating(p, lambda seed: images(p, "channels", seed, layout).requires_grad_(), step)


# ---- training ---------------------------------------------------------------------------------------------------------------------
def adam(**options):
    def setup(p):
        shape = p["rows"], p["columns"]
        parameters = []
        for i in range(p["tensors"]):
            parameters.append(uniform(shape, 2 * i, -1).requires_grad_())
            parameters[-1].grad = uniform(shape, 2 * i + 1, -1)
        optimizer = torch.optim.Adam(parameters, lr=0.001, **options)

        def result():
            optimizer.step()
            return parameters[0]
        return Case(optimizer.step, result=result)
    return setup


def initialize(layer, seed):
    with torch.no_grad():
        bound = math.sqrt(3 / (layer.weight.numel() // layer.weight.shape[0]))
        layer.weight.copy_(uniform(tuple(layer.weight.shape), seed, -bound, bound))
        layer.bias.zero_()
    return layer


def mlp(p):
    n = p["units"]
    linear = [torch.nn.Linear(i, o) for i, o in ((784, n), (n, n), (n, 10))]
    l1, l2, l3 = (initialize(layer.to(device), 1000 + i) for i, layer in enumerate(linear))
    return torch.nn.Sequential(l1, torch.nn.ReLU(), l2, torch.nn.ReLU(), l3)


def cnn(p):
    layers = torch.nn.Conv2d(1, 16, 5), torch.nn.Conv2d(16, 32, 5), torch.nn.Linear(512, 128), torch.nn.Linear(128, 10)
    conv1, conv2, fc1, fc2 = (initialize(layer.to(device), 1000 + i) for i, layer in enumerate(layers))
    norm = torch.nn.BatchNorm2d(16, eps=2e-5, momentum=0.1).to(device)
    relu, pool = torch.nn.ReLU(), torch.nn.MaxPool2d(2)
    return torch.nn.Sequential(torch.nn.Unflatten(1, (1, 28, 28)), conv1, norm, relu, pool, conv2, relu, pool, torch.nn.Flatten(), fc1,
                               relu, fc2)


def steps(build, layout=torch.contiguous_format, compiled=False, **options):
    def setup(p):
        model = build(p).to(memory_format=layout)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001, **options)
        forward = torch.compile(model) if compiled else model

        def batch(seed):
            t = torch.from_numpy(data.labels(p["batch"], 2 * seed + 1, 10)).long().to(device)
            return uniform((p["batch"], 784), 2 * seed), t

        def step(batch):
            x, t = batch
            loss = F.cross_entropy(forward(x), t)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss
        call = rotating(p, batch, step)

        def result():
            call()
            return call()
        return Case(call, result=result)
    return setup


def best_of(setup, **options):
    return {"default": setup(**options), "fused": setup(fused=True, **options), "foreach": setup(foreach=True, **options)}


channels_last, contiguous = torch.channels_last, torch.contiguous_format
table = {
    "overhead/add": small(lambda a, b: a + b, 2),
    "overhead/add_out": small(lambda a, b, c=None: torch.add(a, b, out=c), 3),
    "overhead/add_scalar": small(lambda a: a + 1.5),
    "overhead/view": plain(view),
    "overhead/sum": small(lambda a: a.sum()),
    "autograd/add_no_graph": {"default": without_graph(torch.no_grad), "inference_mode": without_graph(torch.inference_mode)},
    "autograd/add": {"default": add_with_graph},
    "autograd/square_sum_backward": {"default": square_sum_backward},
    "elementwise/add": {"default": binary(lambda a, b: a + b)},
    "elementwise/add_float16": {"default": binary(lambda a, b: a + b, torch.float16)},
    "elementwise/add_strided": {"default": binary(lambda a, b: a[::2] + b[::2])},
    "elementwise/add_broadcast": {"default": broadcast_add},
    "elementwise/exp": unary(torch.exp),
    "elementwise/tanh": unary(torch.tanh),
    "elementwise/cast_float64": unary(lambda a: a.double()),
    "elementwise/cast_float16": unary(lambda a: a.half()),
    "elementwise/chain": {"default": binary(chain)},
    "elementwise/chain_fused": {"default": binary(chain), "compile": compiled(chain)},
    "elementwise/transpose_copy": of_matrix(lambda a: a.T.contiguous()),
    "reduction/sum": of_matrix(lambda a: a.sum()),
    "reduction/sum_axis0": of_matrix(lambda a: a.sum(0)),
    "reduction/sum_axis1": of_matrix(lambda a: a.sum(1)),
    "reduction/argmax": of_matrix(lambda a: a.argmax()),
    "reduction/argmax_axis1": of_matrix(lambda a: a.argmax(1)),
    "reduction/var": of_matrix(lambda a: a.var(correction=0)),
    **{f"matmul/{shape}": plain(product) for shape in ("1024_cubed", "100x784x1000", "16_cubed", "32_cubed", "64_cubed")},
    "rows/softmax": rows(lambda x: F.softmax(x, 1)),
    "rows/layer_norm": plain(layer_norm),
    "convolution/forward": {
        "default": lambda p: convolution_forward(p, contiguous, torch.no_grad),
        "channels_last": lambda p: convolution_forward(p, channels_last, torch.inference_mode),
    },
    "convolution/forward_backward": {
        "default": lambda p: convolution_forward_backward(p, contiguous),
        "channels_last": lambda p: convolution_forward_backward(p, channels_last),
    },
    "pool/temporary": {"default": temporary},
    "pool/trace": {"default": trace},
    "random/uniform": sampler(torch.rand),
    "random/normal": sampler(torch.randn),
    "optimizer/adam_200x64x64": best_of(adam),
    "optimizer/adam_25600000": best_of(adam),
    "training/mlp": best_of(steps, build=mlp),
    "training/cnn": {**best_of(steps, build=cnn), "channels_last_fused": steps(cnn, channels_last, fused=True)},
}
if device == "cuda":
    table["training/mlp"]["compile_fused"] = steps(mlp, compiled=True, fused=True)
    table["training/cnn"]["compile_fused"] = steps(cnn, compiled=True, fused=True)

serve(table, fingerprint, synchronize, f"PyTorch {torch.__version__}")
