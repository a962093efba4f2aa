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


def input(p, *arguments):
    """From memory that is not aligned where p has an offset."""
    x = torch.from_numpy(data.input(p, *arguments)).to(device)
    return x.bfloat16() if data.dtype(p) == "E" else x


def dtype(p):
    return {"f": torch.float32, "d": torch.float64}[data.dtype(p)]


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
    return torch.from_numpy(data.labels(n, seed, n)).long().to(device)


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


def median(p):
    """The element that a partition puts in the middle; PyTorch has no partition."""
    middle = p["n"] // 2 + 1
    return Case(rotating(p, lambda seed: line(p, seed, -1), lambda a: a.kthvalue(middle).values),
                result=lambda: line(p, 0, -1).kthvalue(middle).values.reshape(1))


def bincount(p):
    return rotating(p, lambda seed: torch.from_numpy(data.labels(p["n"], seed, p["classes"])).long().to(device), torch.bincount)


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


def layer_norm_images(p):
    n, c, size = p["batch"], p["channels"], p["size"]
    columns = c * size * size
    gamma, beta = torch.ones(columns, device=device), torch.zeros(columns, device=device)
    return rotating(p, lambda seed: uniform((n, size, size, c), seed, -3, 3).permute(0, 3, 1, 2),
                    lambda x: F.layer_norm(x.reshape(n, columns), (columns,), gamma, beta))


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
        if layer.bias is not None:
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


class BasicBlock(torch.nn.Module):
    def __init__(self, n_in, out, stride, seed):
        super().__init__()
        self.conv1 = initialize(torch.nn.Conv2d(n_in, out, 3, stride, 1, bias=False), seed)
        self.conv2 = initialize(torch.nn.Conv2d(out, out, 3, 1, 1, bias=False), seed + 1)
        self.bn1, self.bn2 = batch_norm(out), batch_norm(out)
        self.shortcut = torch.nn.Identity()
        if n_in != out or stride != 1:
            self.shortcut = torch.nn.Sequential(initialize(torch.nn.Conv2d(n_in, out, 1, stride, bias=False), seed + 2), batch_norm(out))

    def forward(self, x):
        h = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(h + self.shortcut(x))


def batch_norm(n):
    return torch.nn.BatchNorm2d(n, eps=2e-5, momentum=0.1)


def resnet18(p):
    width = p["width"]
    conv1 = initialize(torch.nn.Conv2d(3, width, 3, 1, 1, bias=False), 1000)
    fc = initialize(torch.nn.Linear(8 * width, 10), 1001)
    blocks, n_in = [], width
    for i, out in enumerate((width, 2 * width, 4 * width, 8 * width)):
        for j, stride in enumerate((1 if i == 0 else 2, 1)):
            blocks.append(BasicBlock(n_in, out, stride, 1002 + 3 * (2 * i + j)))
            n_in = out
    return torch.nn.Sequential(conv1, batch_norm(width), torch.nn.ReLU(), *blocks, torch.nn.AvgPool2d(4), torch.nn.Flatten(), fc).to(device)


def input_shape(build, batch):
    return (batch, 3, 32, 32) if build is resnet18 else (batch, 784)


def outputs(build, layout=torch.contiguous_format):
    def setup(p):
        model = build(p).to(memory_format=layout).eval()
        call = rotating(p, lambda seed: uniform(input_shape(build, p["batch"]), seed), model)
        return Case(call, around=torch.inference_mode)
    return setup


def steps(build, layout=torch.contiguous_format, compiled=False, **options):
    def setup(p):
        model = build(p).to(memory_format=layout)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001, **options)
        forward = torch.compile(model) if compiled else model

        def batch(seed):
            t = torch.from_numpy(data.labels(p["batch"], 2 * seed + 1, 10)).long().to(device)
            return uniform(input_shape(build, p["batch"]), 2 * seed), t

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


def word2vec(sparse=False, **options):
    def setup(p):
        words, units, pairs, sampled = p["vocabulary"], p["units"], p["pairs"], p["samples"]
        embed, output = (torch.nn.Embedding(words, units, sparse=sparse, device=device) for _ in range(2))
        with torch.no_grad():
            for seed, layer in enumerate((embed, output)):
                layer.weight.copy_(uniform((words, units), 1000 + seed, -0.5, 0.5))
        parameters = [embed.weight, output.weight]
        optimizer = torch.optim.SparseAdam(parameters, lr=0.001) if sparse else torch.optim.Adam(parameters, lr=0.001, **options)
        weights = torch.tensor([1000000 // (k + 1) + 1 for k in range(words)], dtype=torch.float32, device=device) ** 0.75
        preset = []

        def numbers(n, seed):
            return torch.from_numpy(data.labels(n, seed, words)).long().to(device)

        def step(batch):
            context, word = batch
            samples = preset[0] if preset else torch.multinomial(weights, pairs * sampled, replacement=True).view(pairs, sampled)
            e = embed(context)
            known = (e * output(word)).sum(1)
            others = torch.bmm(output(samples), e.unsqueeze(2)).squeeze(2)
            loss = F.softplus(-known).sum() + F.softplus(others).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss
        call = rotating(p, lambda seed: (numbers(pairs, 2 * seed), numbers(pairs, 2 * seed + 1)), step)

        def result():
            preset.append(numbers(pairs * sampled, 9000).view(pairs, sampled))
            call()
            loss = call()
            preset.clear()
            return loss
        return Case(call, result=result)
    return setup


# ---- recurrent networks -----------------------------------------------------------------------------------------------------------
def hashed(parameter, p, layer, which):
    """The parameters of benchmarks/cases/recurrent.cpp."""
    bound = 1 / math.sqrt(p["units"])
    with torch.no_grad():
        parameter.copy_(uniform(tuple(parameter.shape), 1000 + 4 * layer + which, -bound, bound))


def sequence(p):
    return lambda seed: uniform((p["times"], p["batch"], p["inputs"]), seed, -1)


PARTS = "weight_ih", "weight_hh", "bias_ih", "bias_hh"


def passes(module):
    def setup(p):
        model = module(p["inputs"], p["units"], p["layers"]).to(device)
        for layer in range(p["layers"]):
            for which, part in enumerate(PARTS):
                hashed(getattr(model, f"{part}_l{layer}"), p, layer, which)

        def step(x):
            model.zero_grad()
            y, _ = model(x)
            y.sum().backward()
            return model.weight_hh_l0.grad[:p["units"]]
        return Case(rotating(p, sequence(p), step))
    return setup


def lstm_cells(p):
    n = p["units"]
    cells = torch.nn.ModuleList(torch.nn.LSTMCell(p["inputs"] if k == 0 else n, n) for k in range(p["layers"])).to(device)
    for layer, cell in enumerate(cells):
        for which, part in enumerate(PARTS[:3]):
            hashed(getattr(cell, part), p, layer, which)
        torch.nn.init.zeros_(cell.bias_hh)

    def step(xs):
        cells.zero_grad()
        states, ys = [None] * len(cells), []
        for x in xs:
            for k, cell in enumerate(cells):
                states[k] = cell(x, states[k])
                x = states[k][0]
            ys.append(x)
        torch.cat(ys).sum().backward()
        return cells[0].weight_hh.grad[:n]
    return Case(rotating(p, sequence(p), step))


class LanguageModel(torch.nn.Module):
    def __init__(self, p):
        super().__init__()
        self.embed = torch.nn.Embedding(p["words"], p["inputs"])
        self.lstm = torch.nn.LSTM(p["inputs"], p["units"], p["layers"])
        self.out = torch.nn.Linear(p["units"], p["words"])
        for layer in range(p["layers"]):
            for which, part in enumerate(PARTS):
                hashed(getattr(self.lstm, f"{part}_l{layer}"), p, layer, which)
        hashed(self.embed.weight, p, -2, 0)
        hashed(self.out.weight, p, -1, 0)
        torch.nn.init.zeros_(self.out.bias)

    def forward(self, words):
        return self.out(self.lstm(self.embed(words))[0]).flatten(0, 1)


def language_model(**options):
    def setup(p):
        model = LanguageModel(p).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001, **options)
        shape = p["times"], p["batch"]

        def batch(seed):
            words, t = (torch.from_numpy(data.labels(math.prod(shape), 2 * seed + i, p["words"])).long().to(device) for i in (0, 1))
            return words.reshape(shape), t

        def step(batch):
            loss = F.cross_entropy(model(batch[0]), batch[1])
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
    "overhead/fused": small(lambda a, b: (a - b) * (a - b), 2),
    "overhead/view": plain(view),
    "overhead/sum": small(lambda a: a.sum()),
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
    "creation/arange": {"default": arange},
    "joining/concatenate": {"default": concatenate},
    "sorting/partition": {"default": median},
    "sorting/sort": of_signed(lambda a: a.sort(1).values),
    "sorting/argsort": of_signed(lambda a: a.argsort(dim=1, stable=True)),
    "scan/cumsum": of_signed(lambda a: a.ravel().cumsum(0)),
    "scan/cumsum_axis0": of_signed(lambda a: a.cumsum(0)),
    "scan/cumsum_axis1": of_signed(lambda a: a.cumsum(1)),
    **{f"matmul/{shape}": plain(product) for shape in ("1024_cubed", "100x784x1000", "16_cubed", "32_cubed", "64_cubed", "skinny")},
    "matmul/transposed": plain(product_of_transposed),
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
    "convolution/forward": {
        "default": lambda p: convolution_forward(p, contiguous, torch.no_grad),
        "channels_last": lambda p: convolution_forward(p, channels_last, torch.inference_mode),
    },
    "convolution/forward_backward": layouts(convolution_forward_backward),
    "convolution/bias_gradient": {"default": bias_gradient},
    "convolution/resnet18": layouts(convolution_forward_backward),
    "convolution/depthwise": layouts(depthwise),
    "convolution/deconvolution": layouts(deconvolution),
    "pool/temporary": {"default": temporary},
    "pool/trace": {"default": trace},
    "random/choice": {"default": choice},
    "random/uniform": sampler(torch.rand),
    "random/normal": sampler(torch.randn),
    "optimizer/adam_200x64x64": best_of(adam),
    "optimizer/adam_25600000": best_of(adam),
    "training/mlp": best_of(steps, build=mlp),
    "training/cnn": {**best_of(steps, build=cnn), "channels_last_fused": steps(cnn, channels_last, fused=True)},
    "training/resnet18": {"fused": steps(resnet18, fused=True), "channels_last_fused": steps(resnet18, channels_last, fused=True)},
    "training/word2vec": {**best_of(word2vec), "sparse": word2vec(sparse=True)},
    "recurrent/lstm": {"default": passes(torch.nn.LSTM)},
    "recurrent/gru": {"default": passes(torch.nn.GRU)},
    "recurrent/lstm_cells": {"default": lstm_cells},
    "recurrent/language_model": best_of(language_model),
    "inference/mlp": {"default": outputs(mlp)},
    "inference/cnn": {"default": outputs(cnn), "channels_last": outputs(cnn, channels_last)},
    "inference/resnet18": {"default": outputs(resnet18), "channels_last": outputs(resnet18, channels_last)},
}
if device == "cuda":
    table["training/mlp"]["compile_fused"] = steps(mlp, compiled=True, fused=True)
    table["training/cnn"]["compile_fused"] = steps(cnn, compiled=True, fused=True)

if __name__ == "__main__":
    serve(table, fingerprint, synchronize, f"PyTorch {torch.__version__}")
