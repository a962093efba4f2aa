"""Activation functions."""
import numpy as np
import torch.nn.functional as F

from make_torch_fixture import spread

# Values beside those drawn: zero, and far from it on both sides, where the functions are 0 or x.
POINTS = np.concatenate([spread((3, 4)).ravel(), [0., -0., 1., -1., 6., -6., 40., -40.]]).reshape(4, 5)


def cases(writer):
    for approximate in ('none', 'tanh'):
        writer.add('gelu', lambda x, approximate: F.gelu(x, approximate=approximate), {'x': POINTS},
                   dict(approximate=approximate))
