"""Normalization of groups, instances and rows, and of vectors."""
import torch.nn.functional as F

from make_torch_fixture import spread


def parameters(x, n, seed=1):
    return dict(x=x, gamma=spread(n, 0.5, 1.5, seed), beta=spread(n, -1, 1, seed + 1))


def cases(writer):
    for shape, groups in (((2, 4), 2), ((2, 6, 3), 3), ((2, 4, 2, 3), 1), ((1, 4, 2, 2, 2), 4), ((2, 6, 17), 3)):
        writer.add('group_normalization', lambda x, gamma, beta, groups, eps: F.group_norm(x, groups, gamma, beta, eps),
                   parameters(spread(shape), shape[1]), dict(groups=groups, eps=1e-3))
    writer.add('group_normalization', lambda x, groups, eps: F.group_norm(x, groups, eps=eps),
               dict(x=spread((2, 4, 3))), dict(groups=2, eps=1e-5))
    for shape in ((2, 3, 4), (2, 2, 3, 2)):
        writer.add('instance_normalization', lambda x, gamma, beta, eps: F.instance_norm(x, None, None, gamma, beta, eps=eps),
                   parameters(spread(shape), shape[1]), dict(eps=1e-3))
    writer.add('instance_normalization', lambda x, eps: F.instance_norm(x, eps=eps), dict(x=spread((2, 3, 4))),
               dict(eps=1e-5))
    for shape, last in (((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), 2)):
        writer.add('rms_normalization', lambda x, gamma, eps: F.rms_norm(x, gamma.shape, gamma, eps),
                   dict(x=spread(shape), gamma=spread(shape[-last:], 0.5, 1.5, 1)), dict(eps=1e-3))
    writer.add('rms_normalization', lambda x, eps: F.rms_norm(x, x.shape[-1:], eps=eps), dict(x=spread((3, 5))),
               dict(eps=1e-6))
    for shape, last in (((3, 5), 1), ((2, 3, 4), 2)):
        writer.add('layer_normalization', lambda x, gamma, beta, eps: F.layer_norm(x, gamma.shape, gamma, beta, eps),
                   parameters(spread(shape), shape[-last:]), dict(eps=1e-5))
    for ord in (1, 2, 'inf'):
        for axis in (1, -1):
            writer.add('normalize', lambda x, ord, axis, eps: x / (x.norm(float(ord), axis, keepdim=True) + eps),
                       dict(x=spread((2, 3, 4))), dict(ord=ord, axis=axis, eps=1e-2))
