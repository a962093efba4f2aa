"""Products, variances and standard deviations."""
import numpy as np
import torch

from make_torch_fixture import spread


def cases(writer):
    zeros = spread((3, 4), -2, 2, 1)
    zeros[0, 1] = zeros[1, 2] = zeros[1, 3] = 0
    for x in (spread((3, 4), -2, 2, 2), zeros):
        for axis in (0, 1):
            for keepdims in (False, True):
                writer.add('prod', lambda x, axis, keepdims: torch.prod(x, axis, keepdims), {'x': x},
                           dict(axis=axis, keepdims=keepdims), ('float64',))
        writer.add('prod', torch.prod, {'x': x}, dtypes=('float64',))
    writer.add('prod', lambda x, axis: torch.prod(x, axis), {'x': spread((2, 7), -2, 2, 3)}, dict(axis=1), ('float64',))
    for name, function in dict(var=torch.var, std=torch.std).items():
        for axis, ddof, keepdims in (([0], 0, False), ([1], 1, True), ([0, 2], 0.5, False)):
            writer.add(name, lambda x, axis, ddof, keepdims: function(x, axis, correction=ddof, keepdim=keepdims),
                       {'x': spread((3, 4, 2), -2, 2, 4)}, dict(axis=axis, ddof=ddof, keepdims=keepdims), ('float64',))
        writer.add(name, lambda x, ddof: function(x, correction=ddof), {'x': spread((5,), -2, 2, 5)}, dict(ddof=1),
                   ('float64',))
