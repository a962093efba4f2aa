"""The training cases of PyTorch."""
import itertools
import math
import os
import tempfile

import numpy
import torch
import torch.nn.functional as F

import data
import files
from protocol import Case, rotating
from torch_base import device, labels, uniform

channels_last, contiguous = torch.channels_last, torch.contiguous_format


def best_of(setup, **options):
    return {"default": setup(**options), "fused": setup(fused=True, **options), "foreach": setup(foreach=True, **options)}


def update(optimizer, loss):
    """A step down the gradient; the loss."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def trained(step):
    """The compared result is that of the second step, which depends on forward, backward and update."""
    def result():
        step()
        return step()
    return Case(step, result=result)


def classifier_steps(p, model, batch, forward=None, optimizer=torch.optim.Adam, **options):
    """Steps of an optimizer on batch(seed), inputs and labels."""
    optimizer, forward = optimizer(model.parameters(), lr=0.001, **options), forward or model

    def step(xt):
        return update(optimizer, F.cross_entropy(forward(xt[0]), xt[1]))
    return trained(rotating(p, batch, step))


# ---- the optimizer ----------------------------------------------------------------------------------------------------------------
def updated(p, make_step):
    """The step that make_step(parameters) returns, over p["tensors"] parameters with gradients."""
    shape = p["rows"], p["columns"]
    parameters = []
    for i in range(p["tensors"]):
        parameters.append(uniform(shape, 2 * i, -1).requires_grad_())
        parameters[-1].grad = uniform(shape, 2 * i + 1, -1)
    step = make_step(parameters)

    def result():
        step()
        return parameters[0]
    return Case(step, result=result)


def adam(**options):
    return lambda p: updated(p, lambda parameters: torch.optim.Adam(parameters, lr=0.001, **options).step)


def adamw(**options):
    return lambda p: updated(p, lambda parameters: torch.optim.AdamW(parameters, lr=0.001, weight_decay=0.01, **options).step)


def lamb(p, alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-6, decay=0.01):
    """PyTorch has no LAMB: its steps by functions of many tensors at once."""
    def make_step(parameters):
        grads, t = [w.grad for w in parameters], itertools.count(1)
        m, v = ([torch.zeros_like(w) for w in parameters] for _ in range(2))

        @torch.no_grad()
        def step():
            now = next(t)
            torch._foreach_lerp_(m, grads, 1 - beta1)
            torch._foreach_mul_(v, beta2)
            torch._foreach_addcmul_(v, grads, grads, 1 - beta2)
            scale = torch._foreach_div(v, 1 - beta2 ** now)
            torch._foreach_sqrt_(scale)
            torch._foreach_add_(scale, eps)
            u = torch._foreach_div(m, 1 - beta1 ** now)
            torch._foreach_div_(u, scale)
            torch._foreach_add_(u, parameters, alpha=decay)
            sizes, steps = (torch.stack(torch._foreach_norm(list_)) for list_ in (parameters, u))
            ratios = torch.where((sizes > 0) & (steps > 0), sizes / steps, torch.ones_like(sizes)) * -alpha
            torch._foreach_mul_(u, list(ratios.unbind()))
            torch._foreach_add_(parameters, u)
        return step
    return updated(p, make_step)


def lion(p, lr=1e-4, beta1=0.9, beta2=0.99):
    """PyTorch has no Lion."""
    def make_step(parameters):
        grads, m = [w.grad for w in parameters], [torch.zeros_like(w) for w in parameters]

        @torch.no_grad()
        def step():
            u = torch._foreach_lerp(m, grads, 1 - beta1)
            torch._foreach_sign_(u)
            torch._foreach_add_(parameters, u, alpha=-lr)
            torch._foreach_lerp_(m, grads, 1 - beta2)
        return step
    return updated(p, make_step)


def weight_average(p):
    """The steps of torch.optim.swa_utils.get_ema_multi_avg_fn(0.99), towards weights that are 1 greater than the averages were."""
    shape = p["rows"], p["columns"]
    averages = [uniform(shape, 2 * i, -1) for i in range(p["tensors"])]
    weights = [a + 1 for a in averages]

    def step():
        torch._foreach_lerp_(averages, weights, 0.01)

    def result():
        step()
        return averages[0]
    return Case(step, result=result)


# ---- networks ---------------------------------------------------------------------------------------------------------------------
def initialize(layer, seed, bound=None):
    """Weights on [-bound, bound), by default sqrt(3 / fan_in); biases 0."""
    with torch.no_grad():
        bound = bound or math.sqrt(3 / (layer.weight.numel() // layer.weight.shape[0]))
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
    channels, size = p.get("channels", 1), p.get("size", 28)
    flat = 32 * (size // 4 - 3) ** 2
    layers = torch.nn.Conv2d(channels, 16, 5), torch.nn.Conv2d(16, 32, 5), torch.nn.Linear(flat, 128), torch.nn.Linear(128, 10)
    conv1, conv2, fc1, fc2 = (initialize(layer.to(device), 1000 + i) for i, layer in enumerate(layers))
    norm, relu, pool = batch_norm(16).to(device), torch.nn.ReLU(), torch.nn.MaxPool2d(2)
    unflatten = torch.nn.Unflatten(1, (channels, size, size)) if channels == 1 else torch.nn.Identity()
    return torch.nn.Sequential(unflatten, conv1, norm, relu, pool, conv2, relu, pool, torch.nn.Flatten(), fc1, relu, fc2)


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


def outputs(build, layout=contiguous):
    def setup(p):
        model = build(p).to(memory_format=layout).eval()
        call = rotating(p, lambda seed: uniform(input_shape(build, p["batch"]), seed), model)
        return Case(call, around=torch.inference_mode)
    return setup


def steps(build, layout=contiguous, compiled=False, **options):
    def setup(p):
        model = build(p).to(memory_format=layout)

        def batch(seed):
            return uniform(input_shape(build, p["batch"]), 2 * seed), labels(p["batch"], 2 * seed + 1, 10)
        return classifier_steps(p, model, batch, torch.compile(model) if compiled else model, **options)
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
            return labels(n, seed, words)

        def step(batch):
            context, word = batch
            samples = preset[0] if preset else torch.multinomial(weights, pairs * sampled, replacement=True).view(pairs, sampled)
            e = embed(context)
            known = (e * output(word)).sum(1)
            others = torch.bmm(output(samples), e.unsqueeze(2)).squeeze(2)
            return update(optimizer, F.softplus(-known).sum() + F.softplus(others).sum())
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
        shape = p["times"], p["batch"]

        def batch(seed):
            words, t = (labels(math.prod(shape), 2 * seed + i, p["words"]) for i in (0, 1))
            return words.reshape(shape), t
        return classifier_steps(p, LanguageModel(p).to(device), batch, **options)
    return setup


# ---- adversarial networks ---------------------------------------------------------------------------------------------------------
BOUND = 0.02 * math.sqrt(3)  # of weights whose deviation is 0.02


def generator(p):
    c, bottom = p["channels"], 4
    norm = torch.nn.BatchNorm1d(bottom * bottom * c, eps=2e-5, momentum=0.1)
    layers = [initialize(torch.nn.Linear(p["hidden"], bottom * bottom * c), 1000, BOUND), norm, torch.nn.ReLU(),
              torch.nn.Unflatten(1, (c, bottom, bottom))]
    for i, out in enumerate((c // 2, c // 4, c // 8)):
        layers += [initialize(torch.nn.ConvTranspose2d(2 * out, out, 4, 2, 1), 1001 + i, BOUND), batch_norm(out), torch.nn.ReLU()]
    layers += [initialize(torch.nn.ConvTranspose2d(c // 8, 3, 3, 1, 1), 1004, BOUND), torch.nn.Sigmoid()]
    return torch.nn.Sequential(*layers)


class Discriminator(torch.nn.Module):
    def __init__(self, p):
        super().__init__()
        c = p["channels"]
        sizes = [(3, c // 8, 3), (c // 8, c // 4, 4), (c // 4, c // 4, 3), (c // 4, c // 2, 4), (c // 2, c // 2, 3), (c // 2, c, 4),
                 (c, c, 3)]
        self.convolutions = torch.nn.ModuleList(
            initialize(torch.nn.Conv2d(n_in, out, kernel, kernel - 2, 1), 2000 + i, BOUND)
            for i, (n_in, out, kernel) in enumerate(sizes))
        self.norms = torch.nn.ModuleList(batch_norm(out) for _, out, _ in sizes[1:])
        for norm in self.norms:
            # Ones that are not trained: without a weight, the kernels of CUDA have no gradient of the bias.
            norm.weight.requires_grad_(False)
        self.fc = initialize(torch.nn.Linear(16 * c, 1), 2007, BOUND)
        self.noise = 0.2

    def noisy(self, h):
        return h + self.noise * torch.randn_like(h) if self.noise else h

    def forward(self, x):
        h = F.leaky_relu(self.noisy(self.convolutions[0](self.noisy(x))), 0.2)
        for convolution, norm in zip(self.convolutions[1:], self.norms):
            h = F.leaky_relu(self.noisy(norm(convolution(h))), 0.2)
        return self.fc(h.flatten(1))


def dcgan(layout=contiguous, **options):
    def setup(p):
        n = p["batch"]
        gen, dis = (model.to(device).to(memory_format=layout) for model in (generator(p), Discriminator(p)))
        of_gen, of_dis = (torch.optim.Adam(model.parameters(), lr=0.0002, betas=(0.5, 0.999), weight_decay=0.0001, **options)
                          for model in (gen, dis))

        def batch(seed):
            x = uniform((n, 3, 32, 32), 2 * seed).to(memory_format=layout)
            return x, uniform((n, p["hidden"]), 2 * seed + 1, -1)

        def step(batch):
            x, z = batch
            fake = gen(z)
            loss_of_dis = update(of_dis, (F.softplus(-dis(x)).sum() + F.softplus(dis(fake.detach())).sum()) / n)
            loss_of_gen = update(of_gen, F.softplus(-dis(fake)).sum() / n)
            return loss_of_dis, loss_of_gen
        call = rotating(p, batch, step)

        def result():
            noise, dis.noise = dis.noise, 0
            call()
            losses = torch.stack(call())
            dis.noise = noise
            return losses
        return Case(call, result=result)
    return setup


# ---- images from files ------------------------------------------------------------------------------------------------------------
class ImageFiles(torch.utils.data.Dataset):
    """Images of Pillow as float32 on [0, 1] with their labels, as torchvision's ToTensor makes them."""

    def __init__(self, folder, p):
        from PIL import Image
        self.open = Image.open
        self.paths = files.write_images(folder, p["images"], p["size"])
        self.labels = data.labels(p["images"], 7010, 10).tolist()

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with self.open(self.paths[i]) as opened:
            pixels = torch.from_numpy(numpy.array(opened))
        return pixels.permute(2, 0, 1).contiguous().float().div(255), self.labels[i]


class Sweeps(torch.utils.data.Sampler):
    """Random orders of n examples without an end."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        while True:
            yield from torch.randperm(self.n).tolist()


def fed(batches, layout=contiguous, **options):
    """Steps on next(batches(images, p)); a call is p["steps"] of them."""
    def setup(p):
        folder = tempfile.TemporaryDirectory()
        images, n = ImageFiles(folder.name, p), p["batch"]
        model = cnn(p).to(memory_format=layout)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001, **options)
        shuffled = batches(images, p)

        def step(x, t):
            return update(optimizer, F.cross_entropy(model(x.to(device, memory_format=layout)), t.to(device)))

        def call():
            for _ in range(p["steps"]):
                step(*next(shuffled))

        def result():
            for first in (0, n):
                chosen = [images[i % len(images)] for i in range(first, first + n)]
                loss = step(*torch.utils.data.default_collate(chosen))
            return loss
        case = Case(call, result=result)
        case.folder = folder  # is removed with the case
        return case
    return setup


def loader(workers):
    def batches(images, p):
        ahead = {"prefetch_factor": 2} if workers else {}
        return iter(torch.utils.data.DataLoader(images, p["batch"], sampler=Sweeps(len(images)), num_workers=workers, **ahead))
    return batches


def from_memory(images, p):
    x, t = torch.utils.data.default_collate([images[i] for i in range(len(images))])
    order = iter(Sweeps(len(images)))
    while True:
        chosen = torch.tensor(list(itertools.islice(order, p["batch"])))
        yield x[chosen], t[chosen]


class Augmented(torch.utils.data.Dataset):
    """Images in memory: cut out of a frame of zeros, mirrored half of the times, normalized. At random, or by the index."""
    frame = 4

    def __init__(self, p, is_random):
        self.x = torch.from_numpy(data.uniform((p["images"], 3, p["size"], p["size"]), 0))
        self.t = torch.from_numpy(data.labels(p["images"], 1, 10)).long()
        self.is_random = is_random
        self.mean, self.deviation = torch.tensor([0.49, 0.48, 0.45]).view(3, 1, 1), torch.tensor([0.25, 0.24, 0.26]).view(3, 1, 1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        places, size = 2 * self.frame + 1, self.x.shape[2]
        if self.is_random:
            y, x, mirrored = torch.randint(0, 2 * places, (3,)).tolist()
            y, x, mirrored = y % places, x % places, mirrored % 2
        else:
            y, x, mirrored = i % places, i // places % places, i % 2
        cut = F.pad(self.x[i], (self.frame,) * 4)[:, y:y + size, x:x + size]
        if mirrored:
            cut = cut.flip(2)
        return (cut - self.mean) / self.deviation, self.t[i]


def augmented(workers):
    def setup(p):
        shuffled = loader(workers)(Augmented(p, True), p)

        def call():
            for _ in range(p["steps"]):
                next(shuffled)

        def result():
            images = Augmented(p, False)
            return torch.stack([images[i % len(images)][0] for i in range(p["batch"])])
        return Case(call, result=result)
    return setup


# ---- whole epochs -----------------------------------------------------------------------------------------------------------------
class Epochs:
    """Loops written by hand over data of the form of MNIST, with validation, and files of the model and the optimizer at the end."""

    def __init__(self, p, **options):
        self.x, self.t = uniform((p["images"], 784), 0), labels(p["images"], 1, 10)
        self.test_x, self.test_t = uniform((p["tests"], 784), 2), labels(p["tests"], 3, 10)
        self.batch, self.model = p["batch"], mlp(p)
        self.options, self.initial = options, [parameter.detach().clone() for parameter in self.model.parameters()]
        self.folder = tempfile.TemporaryDirectory()
        self.printed = open(os.devnull, "w")

    def batches(self, n, shuffle):
        for chosen in (torch.randperm(n) if shuffle else torch.arange(n)).to(device).split(self.batch):
            yield self.x[chosen], self.t[chosen]

    def run(self, batches, n):
        """An epoch from the initial weights. The means of the loss, of the validation's loss and of its accuracy, over the first n images of both sets."""
        with torch.no_grad():
            for parameter, value in zip(self.model.parameters(), self.initial):
                parameter.copy_(value)
        optimizer, total = torch.optim.Adam(self.model.parameters(), lr=0.001, eps=1e-12, **self.options), 0.0
        for x, t in batches:
            total += update(optimizer, F.cross_entropy(self.model(x), t)).item() * len(t)
        self.model.eval()
        loss = correct = 0.0
        with torch.inference_mode():
            test_x, test_t = self.test_x[:n], self.test_t[:n]
            for x, t in zip(test_x.split(self.batch), test_t.split(self.batch)):
                y = self.model(x)
                loss += F.cross_entropy(y, t, reduction="sum").item()
                correct += (y.argmax(1) == t).sum().item()
        self.model.train()
        means = total / n, loss / len(test_t), correct / len(test_t)
        print(*means, file=self.printed, flush=True)
        state = {"model": self.model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, os.path.join(self.folder.name, "state"))
        return means


def epochs(with_loader=False, **options):
    def setup(p):
        e, n, few = Epochs(p, **options), p["images"], 5 * p["batch"]
        examples = torch.utils.data.TensorDataset(e.x, e.t)
        loader = torch.utils.data.DataLoader(examples, p["batch"], shuffle=True)
        return Case(lambda: e.run(loader if with_loader else e.batches(n, True), n),
                    result=lambda: torch.tensor(e.run(e.batches(few, False), few)))
    return setup


table = {
    "optimizer/adam_200x64x64": best_of(adam),
    "optimizer/adam_25600000": best_of(adam),
    "optimizer/adamw_200x64x64": best_of(adamw),
    "optimizer/lamb_200x64x64": {"foreach": lamb},
    "optimizer/lion_200x64x64": {"foreach": lion},
    "optimizer/weight_average_200x64x64": {"foreach": weight_average},
    "training/mlp": best_of(steps, build=mlp),
    "training/cnn": {**best_of(steps, build=cnn), "channels_last_fused": steps(cnn, channels_last, fused=True)},
    "training/resnet18": {"fused": steps(resnet18, fused=True), "channels_last_fused": steps(resnet18, channels_last, fused=True)},
    "training/word2vec": {**best_of(word2vec), "sparse": word2vec(sparse=True)},
    "training/dcgan": {"fused": dcgan(fused=True), "channels_last_fused": dcgan(channels_last, fused=True)},
    "training/png_feed": {**{f"fused_{workers}_workers": fed(loader(workers), fused=True) for workers in (0, 1, 2)},
                          "channels_last_fused_1_workers": fed(loader(1), channels_last, fused=True)},
    "training/augmented_batches": {f"{workers}_workers": augmented(workers) for workers in (0, 1, 2)},
    "training/memory_feed": {"fused": fed(from_memory, fused=True), "channels_last_fused": fed(from_memory, channels_last, fused=True)},
    "training/trainer_cost": {**best_of(epochs), "data_loader_fused": epochs(with_loader=True, fused=True)},
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
