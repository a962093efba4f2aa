"""The cases of PyTorch that are a loss or a layer with its gradients, without an optimizer."""
import torch
import torch.nn.functional as F

from protocol import Case, rotating
from torch_base import device, dtype, input, labels, uniform
from torch_training import initialize


def joined(*tensors):
    return torch.cat([t.detach().ravel() for t in tensors])


# ---- layers -----------------------------------------------------------------------------------------------------------------------
def normalization(p, shape, gy, normalize, length, parameters=torch.float32):
    """A step of normalize(x, gamma, beta) for x of a shape; the result is the three gradients. gamma and beta have `length` elements."""
    gamma, beta = (make(length, device=device, dtype=parameters).requires_grad_() for make in (torch.ones, torch.zeros))

    def variable(seed):
        return input(p, shape, seed, -3, 3).requires_grad_()

    def step(x):
        x.grad = gamma.grad = beta.grad = None
        normalize(x, gamma, beta).backward(gy)

    def result():
        x = variable(0)
        step(x)
        return joined(x.grad, gamma.grad, beta.grad)
    return Case(rotating(p, variable, step), result=result)


def layer_norm(p):
    shape = p["rows"], p["columns"]
    return normalization(p, shape, input(p, shape, 2000, -1, 1), lambda x, gamma, beta: F.layer_norm(x, shape[1:], gamma, beta), shape[1],
                         dtype(p))


def batch_norm(p):
    """The parameters are float32 beside images of 16 bits, too."""
    shape = p["batch"], p["channels"], p["size"], p["size"]
    return normalization(p, shape, input(p, shape, 2000, -3, 3),
                         lambda x, gamma, beta: F.batch_norm(x, None, None, gamma, beta, True, eps=2e-5), shape[1])


def max_pooling(p):
    side = (p["size"] - 1) // 2 + 1
    gy = input(p, (p["batch"], p["channels"], side, side), 2000, -1)

    def step(x):
        x.grad = None
        F.max_pool2d(x, 3, 2, 1).backward(gy)
        return x.grad
    return rotating(p, lambda seed: input(p, (p["batch"], p["channels"], p["size"], p["size"]), seed, -1).requires_grad_(), step)


def relu(p):
    gy = input(p, (p["n"],), 2000, -3, 3)

    def step(x):
        x.grad = None
        torch.relu(x).backward(gy)
        return x.grad
    return rotating(p, lambda seed: input(p, (p["n"],), seed, -3, 3).requires_grad_(), step)


def embedding(p):
    words, shape = p["vocabulary"], (p["batch"], p["times"])
    embed = torch.nn.Embedding(words, p["units"], device=device)
    with torch.no_grad():
        embed.weight.copy_(uniform((words, p["units"]), 1000, -0.5, 0.5))
    gy = uniform((*shape, p["units"]), 2000, -1)

    def step(ids):
        embed.zero_grad()
        embed(ids).backward(gy)
        return embed.weight.grad
    return rotating(p, lambda seed: labels(shape[0] * shape[1], seed, words).reshape(shape), step)


def gradient_penalty(p):
    n = p["units"]
    linear = [torch.nn.Linear(i, o) for i, o in ((p["inputs"], n), (n, n), (n, 1))]
    l1, l2, l3 = (initialize(layer.to(device), 1000 + i) for i, layer in enumerate(linear))
    critic = torch.nn.Sequential(l1, torch.nn.Tanh(), l2, torch.nn.Tanh(), l3)

    def step(x):
        critic.zero_grad()
        x.grad = None
        gx, = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
        ((gx.norm(dim=1) - 1) ** 2).mean().backward()
        return l1.weight.grad
    return rotating(p, lambda seed: uniform((p["batch"], p["inputs"]), seed, -1).requires_grad_(), step)


# ---- losses -----------------------------------------------------------------------------------------------------------------------
def with_gradient(p, make, loss_of):
    def step(x):
        x.grad = None
        loss = loss_of(x)
        loss.backward()
        return loss

    def result():
        x = make(0)
        return joined(step(x), x.grad)
    return Case(rotating(p, make, step), result=result)


def softmax_cross_entropy(p):
    t = labels(p["rows"], 2000, p["columns"])
    return with_gradient(p, lambda seed: input(p, (p["rows"], p["columns"]), seed, -3, 3).requires_grad_(),
                         lambda x: F.cross_entropy(x, t))


def ctc(p):
    times, batch, classes, length = p["times"], p["batch"], p["classes"], p["labels"]

    def lengths(full, seed):
        return full - labels(batch, seed, full // 2 + 1) if p["varied"] else torch.full((batch,), full)
    of_scores, of_labels = lengths(times, 2001), lengths(length, 2002)
    t = labels(batch * length, 2000, classes - 1).reshape(batch, length) + 1

    def loss(x):
        return F.ctc_loss(F.log_softmax(x, 2), t, of_scores, of_labels, reduction="sum") / batch
    return with_gradient(p, lambda seed: uniform((times, batch, classes), seed, -3, 3).requires_grad_(), loss)


table = {
    "activation/relu_backward": {"default": relu},
    "autograd/gradient_penalty": {"default": gradient_penalty},
    "embedding/dense_gradient": {"default": embedding},
    "loss/ctc": {"default": ctc},
    "loss/softmax_cross_entropy": {"default": softmax_cross_entropy},
    "rows/layer_norm_backward": {"default": layer_norm},
    "rows/batch_norm_backward": {"default": batch_norm},
    "convolution/max_pooling_backward": {"default": max_pooling},
}
