"""Activation functions."""
import numpy as np
import torch
import torch.nn.functional as F

from make_torch_fixture import spread

# Values beside those drawn: zero, and far from it on both sides, where the functions are 0 or x.
POINTS = np.concatenate([spread((3, 4)).ravel(), [0., -0., 1., -1., 6., -6., 40., -40.]]).reshape(4, 5)
# Kinks at 0, 0.5, 1, 3, 6, where conventions about derivatives differ.
SMOOTH = POINTS[(np.abs(POINTS) > 1e-9) & (np.abs(POINTS) != 1) & (np.abs(POINTS) != 6)]


def cases(writer):
    for approximate in ('none', 'tanh'):
        writer.add('gelu', lambda x, approximate: F.gelu(x, approximate=approximate), {'x': POINTS},
                   dict(approximate=approximate))
    for name, function, points in [
            ('silu', F.silu, POINTS), ('mish', F.mish, POINTS), ('log_sigmoid', F.logsigmoid, POINTS),
            ('relu6', F.relu6, SMOOTH), ('hard_swish', F.hardswish, POINTS), ('softsign', F.softsign, SMOOTH),
            ('tanhshrink', F.tanhshrink, POINTS)]:
        writer.add(name, function, {'x': points})
    writer.add('selu', F.selu, {'x': SMOOTH})
    for args in (dict(), dict(beta=3.)):
        writer.add('softplus', lambda x, beta=1.: F.softplus(x, beta=beta), {'x': POINTS}, args)
    for args in (dict(axis=-1), dict(axis=0)):
        writer.add('glu', lambda x, axis: F.glu(x, axis), {'x': spread((4, 6))}, args)
    for gate, f in (('silu', F.silu), ('gelu', F.gelu)):
        def gated(x, gate, f=f):
            a, b = x.chunk(2, -1)
            return a * f(b)
        writer.add('glu', gated, {'x': spread((2, 3, 4))}, dict(gate=gate))
    for shape in ((), (3,), (3, 2)):
        writer.add('swish', lambda x, beta: x * torch.sigmoid(x * beta.reshape(beta.shape + (1,) * (x.ndim - 1 - beta.ndim))),
                   {'x': spread((2, 3, 2)), 'beta': spread(shape, 0.5, 2, 1)})
    for name, function, args in [
            ('hardtanh', F.hardtanh, dict()), ('hardtanh', F.hardtanh, dict(min_val=-0.3, max_val=1.7)),
            ('softshrink', F.softshrink, dict(lambd=0.5)), ('hardshrink', F.hardshrink, dict(lambd=0.7)),
            ('threshold', F.threshold, dict(threshold=0.2, value=-3.)), ('celu', F.celu, dict(alpha=1.)),
            ('celu', F.celu, dict(alpha=0.4))]:
        writer.add(name, function, {'x': SMOOTH}, args)
    writer.add('softmin', lambda x, axis: F.softmin(x, axis), {'x': spread((3, 4))}, dict(axis=-1))
