"""Spectral normalization of weights by PyTorch's parametrization, and standardization by its formula, and PyTorch's normalization."""
import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.parametrizations import _SpectralNorm

from make_torch_fixture import spread


def spectral(weight, u, v, n_power_iteration, eps, train, dim):
    module = _SpectralNorm(torch.zeros_like(weight), n_power_iteration, dim, eps)
    module._u, module._v = u.clone(), v.clone()
    module.train(train)
    return module(weight), module


def standardized(weight, eps, dim):
    axes = [k for k in range(weight.dim()) if k != dim]
    mean = weight.mean(axes, keepdim=True)
    return (weight - mean) / torch.sqrt(((weight - mean) ** 2).mean(axes, keepdim=True) + eps)


LAYERS = dict(linear=(F.linear, (3, 4), (5, 4), 0), convolution=(F.conv2d, (2, 3, 5, 4), (4, 3, 2, 3), 0),
              deconvolution=(F.conv_transpose2d, (2, 3, 4, 3), (3, 4, 2, 2), 1))


def unit(n, seed):
    v = spread((n,), seed=seed)
    return v / (v ** 2).sum() ** 0.5


def cases(writer):
    for layer, (function, x_shape, w_shape, dim) in LAYERS.items():
        rows = w_shape[dim]
        columns = 1
        for n in w_shape:
            columns *= n
        columns //= rows
        inputs = dict(x=spread(x_shape), W=spread(w_shape, seed=1), b=spread((rows,), seed=2), u=unit(rows, 3),
                      v=unit(columns, 4))
        for n_power_iteration, train in ((1, True), (3, True), (1, False)):
            def run(x, W, b, u, v, layer, n_power_iteration, train, eps):
                normalized, module = spectral(W, u, v, n_power_iteration, eps, train, dim)
                return function(x, normalized, b), module._u, module._v
            writer.add('spectral_normalization', run, inputs,
                       dict(layer=layer, n_power_iteration=n_power_iteration, train=train, eps=1e-12),
                       constants=('u', 'v'))
        for eps in (1e-5, 0.1):
            def run(x, W, b, layer, eps):
                return function(x, standardized(W, eps, dim), b)
            writer.add('weight_standardization', run, {k: inputs[k] for k in 'xWb'}, dict(layer=layer, eps=eps))
        for axis in (0, 1, -1):
            def run(x, W, b, g, layer, dim):
                return function(x, torch._weight_norm(W, g, dim), b)
            shape = () if axis < 0 else tuple(n if k == axis else 1 for k, n in enumerate(w_shape))
            writer.add('weight_norm', run, dict({k: inputs[k] for k in 'xWb'}, g=np.asarray(spread(shape, seed=5))),
                       dict(layer=layer, dim=axis))
