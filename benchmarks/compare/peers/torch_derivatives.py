"""The cases of benchmarks/cases/derivatives.cpp, per_example.cpp and language_model.cpp in PyTorch."""
import math

import torch
import torch.nn.functional as F

import data
from protocol import Case, rotating
from torch_base import device, input, labels, uniform
from torch_gradients import joined
from torch_training import best_of, classifier_steps, initialize


def derived(p, operands, f):
    """f gets tensors of these shapes and intervals; the gradients are compared."""
    def make(seed):
        return [input(p, shape, 8 * seed + i, *bounds).requires_grad_() for i, (shape, *bounds) in enumerate(operands)]
    with torch.no_grad():
        shape = tuple(f(*make(0)).shape)
    gy = input(p, shape, 2000, -1)

    def step(inputs):
        for x in inputs:
            x.grad = None
        f(*inputs).backward(gy)
        return inputs[0].grad

    def result():
        inputs = make(0)
        step(inputs)
        return joined(*(x.grad for x in inputs))
    return Case(rotating(p, make, step), result=result)


def attention(p):
    rows = (1, p["heads"], p["tokens"], p["d"]), -1
    return derived(p, [rows] * 3, lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=bool(p["causal"])))


def batched_attention(p):
    return derived(p, [((p["batch"], p["heads"], p["tokens"], p["d"]), -1)] * 3, F.scaled_dot_product_attention)


def attention_forward(p):
    def make(seed):
        return [input(p, (p["batch"], p["heads"], p["tokens"], p["d"]), 8 * seed + i, -1) for i in range(3)]

    def step(inputs):
        with torch.no_grad():
            return F.scaled_dot_product_attention(*inputs)
    return Case(rotating(p, make, step), result=lambda: step(make(0)))


def group_norm(p):
    c, size = p["channels"], p["size"]
    return derived(p, [((p["batch"], c, size, size), -3, 3), ((c,), 0.5, 1.5), ((c,), -1)],
                   lambda x, gamma, beta: F.group_norm(x, p["groups"], gamma, beta))


def convolution_block(backward):
    def setup(p):
        n, c, size = p["batch"], p["channels"], p["size"]
        half = torch.bfloat16 if data.dtype(p) == "E" else torch.float16
        gy = input(p, (n, c, size, size), 2000, -1).to(memory_format=torch.channels_last)
        weight = uniform((c, c, 3, 3), 1000, -0.05, 0.05).to(memory_format=torch.channels_last).requires_grad_()
        gamma, beta = torch.ones(c, device=device).requires_grad_(), torch.zeros(c, device=device).requires_grad_()

        def block(x):
            with torch.autocast(device, dtype=half):
                return F.relu(F.batch_norm(F.conv2d(x, weight, None, 1, 1), None, None, gamma, beta, True))

        def make(seed):
            return input(p, (n, size, size, c), seed, -1).permute(0, 3, 1, 2).requires_grad_(backward)

        def step(x):
            if not backward:
                with torch.no_grad():
                    return block(x)
            for v in (x, weight, gamma, beta):
                v.grad = None
            block(x).backward(gy)
            return x.grad
        return Case(rotating(p, make, step), result=lambda: block(make(0)).detach().contiguous())
    return setup


def rms_norm(p):
    columns = p["columns"]
    return derived(p, [((p["rows"], columns), -3, 3), ((columns,), 0.5, 1.5)],
                   lambda x, gamma: F.rms_norm(x, (columns,), gamma, 1e-6))


def gelu(p):
    return derived(p, [((p["n"],), -3, 3)], F.gelu)


def topk(p):
    return derived(p, [((p["rows"], p["columns"]), -1)], lambda x: torch.topk(x, p["k"]).values)


def gather(p):
    index = labels(p["rows"] * p["k"], 3000, p["columns"]).reshape(p["rows"], p["k"])
    return derived(p, [((p["rows"], p["columns"]), -1)], lambda x: torch.gather(x, 1, index))


def diagonal(n):
    return torch.eye(n, device=device) * n


def cholesky(p):
    identity = diagonal(p["n"])
    return derived(p, [((p["n"], p["n"]), -1)], lambda x: torch.linalg.cholesky(x @ x.T + identity))


def solve(p):
    identity = diagonal(p["n"])
    return derived(p, [((p["n"], p["n"]), -1), ((p["n"], p["columns"]), -1)], lambda a, b: torch.linalg.solve(a + identity, b))


def einsum(p):
    rows = (p["batch"], p["tokens"], p["heads"], p["d"]), -1
    return derived(p, [rows] * 2, lambda q, k: torch.einsum("bihd,bjhd->bhij", q, k))


def interpolate(p):
    return derived(p, [((p["batch"], p["channels"], p["size"], p["size"]), -1)],
                   lambda x: F.interpolate(x, (p["to"], p["to"]), mode="bilinear"))


def per_example(make_model):
    """vmap of the gradient of one example; the gradients in the order of the layers, the weights before the biases."""
    def setup(p):
        model = make_model(p).to(device)
        parameters = {name: v.detach() for name, v in model.named_parameters()}

        def loss(values, x, t):
            return F.cross_entropy(torch.func.functional_call(model, values, (x[None],)), t[None])
        gradients = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))

        def batch(seed):
            return uniform((p["batch"], 784), 2 * seed), labels(p["batch"], 2 * seed + 1, 10)

        def step(xt):
            return gradients(parameters, *xt)
        return Case(rotating(p, batch, step), result=lambda: joined(*step(batch(0)).values()))
    return {"default": setup}


def per_example_mlp(p):
    n = p["units"]
    sizes = (784, n), (n, n), (n, 10)
    layers = [initialize(torch.nn.Linear(*size), 1000 + i) for i, size in enumerate(sizes)]
    return torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])


def per_example_cnn(p):
    layers = torch.nn.Conv2d(1, 16, 5), torch.nn.Conv2d(16, 32, 5), torch.nn.Linear(512, 10)
    conv1, conv2, fc = (initialize(layer, 1000 + i) for i, layer in enumerate(layers))
    return torch.nn.Sequential(torch.nn.Unflatten(1, (1, 28, 28)), conv1, torch.nn.ReLU(), torch.nn.MaxPool2d(2), conv2,
                               torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), fc)


class LanguageModel(torch.nn.Module):
    def __init__(self, p):
        super().__init__()
        n = p["units"]
        self.embed, self.position = torch.nn.Embedding(p["words"], n), torch.nn.Embedding(p["context"], n)
        layer = torch.nn.TransformerEncoderLayer(n, p["heads"], 4 * n, 0, F.gelu, batch_first=True, norm_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, p["layers"], torch.nn.LayerNorm(n), enable_nested_tensor=False)
        self.out = initialize(torch.nn.Linear(n, p["words"]), 1002)
        with torch.no_grad():
            for seed, embedding in enumerate((self.embed, self.position)):
                embedding.weight.copy_(uniform(tuple(embedding.weight.shape), 1000 + seed, -0.05, 0.05))
            for i, layer in enumerate(self.encoder.layers):
                seed, attention = 1010 + 4 * i, layer.self_attn
                bound = math.sqrt(3 / n)
                attention.in_proj_weight.copy_(uniform((3 * n, n), seed, -bound, bound))
                attention.in_proj_bias.zero_()
                for k, linear in enumerate((attention.out_proj, layer.linear1, layer.linear2)):
                    initialize(linear, seed + 1 + k)
        self.mask = torch.nn.Transformer.generate_square_subsequent_mask(p["context"], device=device)

    def forward(self, words):
        x = self.embed(words) + self.position.weight
        return self.out(self.encoder(x, self.mask, is_causal=True)).flatten(0, 1)


def transformer(**options):
    def setup(p):
        shape = p["batch"], p["context"]

        def batch(seed):
            words, t = (labels(math.prod(shape), 2 * seed + i, p["words"]) for i in (0, 1))
            return words.reshape(shape), t
        return classifier_steps(p, LanguageModel(p).to(device), batch, optimizer=torch.optim.AdamW, **options)
    return setup


table = {
    **{f"attention/{kind}_{tokens}": {"default": attention} for kind in ("full", "causal") for tokens in (128, 1024, 8192)},
    "attention/f16_1024": {"default": attention_forward},
    "attention/f16_1024_backward": {"default": batched_attention},
    "convolution/block_autocast": {"default": convolution_block(False)},
    "convolution/block_autocast_backward": {"default": convolution_block(True)},
    "rows/group_norm_backward": {"default": group_norm},
    "rows/rms_norm_backward": {"default": rms_norm},
    "activation/gelu_backward": {"default": gelu},
    "sorting/topk_backward": {"default": topk},
    "indexing/gather_backward": {"default": gather},
    "linalg/cholesky_backward": {"default": cholesky},
    "linalg/solve_backward": {"default": solve},
    "numerics/einsum_backward": {"default": einsum},
    "convolution/interpolate_backward": {"default": interpolate},
    **{f"per_example/{kind}": per_example(model) for name, model in (("mlp", per_example_mlp), ("cnn", per_example_cnn))
       for kind in (name, f"{name}_vmap")},
    "training/transformer": best_of(transformer),
}
