"""Chainer, on NumPy or, with --device cuda, on CuPy; with its defaults, and without its type checks."""
import argparse
import contextlib
import math
import warnings

import numpy

warnings.simplefilter("ignore")  # of a NumPy newer than Chainer, which also lacks names that Chainer uses
for kind in (bool, int, float, complex, object, str):
    if kind.__name__ not in vars(numpy):
        setattr(numpy, kind.__name__, kind)
import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402

import data  # noqa: E402
from protocol import Case, rotating, serve  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
on_gpu = parser.parse_args().device == "cuda"
device = chainer.get_device("@cupy:0" if on_gpu else "@numpy")
device.use()


def synchronize():
    if on_gpu:
        chainer.cuda.Stream.null.synchronize()


def uniform(*arguments):
    return device.send(data.uniform(*arguments))


def variable(*arguments):
    return chainer.Variable(uniform(*arguments))


def fingerprint(y):
    return data.fingerprint(chainer.get_device("@numpy").send(getattr(y, "array", y)))


def no_type_check():
    return chainer.using_config("type_check", False)


def variants(setup, around=contextlib.nullcontext):
    """Setups return Cases or calls; both variants enter `around`."""
    def opened(also):
        def prepare(p):
            case = setup(p)
            call, result = (case.call, case.result) if isinstance(case, Case) else (case, None)

            @contextlib.contextmanager
            def both():
                with around(), also():
                    yield
            return Case(call, both, result)
        return prepare
    return {"default": opened(contextlib.nullcontext), "no_type_check": opened(no_type_check)}


def add(p):
    x = variable((p["n"],), 0)
    return lambda: x + x


def square_sum_backward(p):
    x = variable((p["n"],), 0)

    def call():
        x.cleargrad()
        F.sum(x * x).backward()
        return x.grad
    return call


def images(p, channels, seed):
    return (p["batch"], p[channels], p["size"], p["size"]), seed, -1


def convolution_forward(p):
    W = variable((p["outputs"], p["channels"], 3, 3), 1000, -0.1, 0.1)
    return rotating(p, lambda seed: uniform(*images(p, "channels", seed)), lambda x: F.convolution_2d(x, W, pad=1))


def convolution_forward_backward(p):
    W = variable((p["outputs"], p["channels"], 3, 3), 1000, -0.1, 0.1)
    gy = uniform(*images(p, "outputs", 2000))

    def step(x):
        x.cleargrad()
        W.cleargrad()
        y = F.convolution_2d(x, W, pad=1)
        y.grad = gy
        y.backward()
        return W.grad
    return rotating(p, lambda seed: variable(*images(p, "channels", seed)), step)


def softmax(p):
    return rotating(p, lambda seed: uniform((p["rows"], p["columns"]), seed, -3, 3), F.softmax)


def layer_norm(p):
    gamma, beta = device.send(numpy.ones(p["columns"], "f")), device.send(numpy.zeros(p["columns"], "f"))
    return rotating(p, lambda seed: uniform((p["rows"], p["columns"]), seed, -3, 3), lambda x: F.layer_normalization(x, gamma, beta))


def adam(p):
    shape = p["rows"], p["columns"]
    model = chainer.Chain()
    with model.init_scope():
        for i in range(p["tensors"]):
            parameter = chainer.Parameter(uniform(shape, 2 * i, -1))
            parameter.grad = uniform(shape, 2 * i + 1, -1)
            setattr(model, f"W{i}", parameter)
    optimizer = chainer.optimizers.Adam().setup(model)

    def result():
        optimizer.update()
        return model.W0
    return Case(optimizer.update, result=result)


def initialize(layer, seed):
    bound = math.sqrt(3 / (layer.W.size // layer.W.shape[0]))
    layer.W.array[...] = uniform(layer.W.shape, seed, -bound, bound)


class MLP(chainer.Chain):
    def __init__(self, units):
        super().__init__()
        with self.init_scope():
            self.l1, self.l2, self.l3 = L.Linear(784, units), L.Linear(units, units), L.Linear(units, 10)

    def layers(self):
        return self.l1, self.l2, self.l3

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


class CNN(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1, self.conv2 = L.Convolution2D(1, 16, 5), L.Convolution2D(16, 32, 5)
            self.bn1 = L.BatchNormalization(16)
            self.fc1, self.fc2 = L.Linear(512, 128), L.Linear(128, 10)

    def layers(self):
        return self.conv1, self.conv2, self.fc1, self.fc2

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.bn1(self.conv1(x.reshape(-1, 1, 28, 28)))), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.fc2(F.relu(self.fc1(h)))


def steps(build):
    def setup(p):
        model = build(p)
        model.to_device(device)
        for i, layer in enumerate(model.layers()):
            initialize(layer, 1000 + i)
        optimizer = chainer.optimizers.Adam().setup(model)

        def batch(seed):
            return uniform((p["batch"], 784), 2 * seed), device.send(data.labels(p["batch"], 2 * seed + 1, 10))

        def step(batch):
            x, t = batch
            loss = None

            def forward():
                nonlocal loss
                loss = F.softmax_cross_entropy(model(x), t)
                return loss
            optimizer.update(forward)
            return loss
        call = rotating(p, batch, step)

        def result():
            call()
            return call()
        return Case(call, result=result)
    return setup


table = {
    "autograd/add_no_graph": variants(add, chainer.no_backprop_mode),
    "autograd/add": variants(add),
    "autograd/square_sum_backward": variants(square_sum_backward),
    "rows/softmax": variants(softmax, chainer.no_backprop_mode),
    "rows/layer_norm": variants(layer_norm, chainer.no_backprop_mode),
    "convolution/forward": variants(convolution_forward, chainer.no_backprop_mode),
    "convolution/forward_backward": variants(convolution_forward_backward),
    "optimizer/adam_200x64x64": variants(adam),
    "optimizer/adam_25600000": variants(adam),
    "training/mlp": variants(steps(lambda p: MLP(p["units"]))),
    "training/cnn": variants(steps(lambda p: CNN())),
}

serve(table, fingerprint, synchronize, f"Chainer {chainer.__version__}, NumPy {numpy.__version__}")
