"""Functions of torch.nn.functional with their options."""
import numpy as np
import torch
import torch.nn.functional as F

from make_torch_fixture import spread


def convolutions(writer):
    x1, x2, x3 = spread((2, 4, 9)), spread((2, 4, 7, 6)), spread((1, 2, 4, 3, 4))
    w1, w2, w3 = spread((6, 2, 4), seed=1), spread((6, 2, 3, 2), seed=1), spread((2, 2, 2, 2, 2), seed=1)
    b = spread((6,), seed=2)
    writer.add('conv1d', lambda x, w, b, **o: F.conv1d(x, w, b, **o), {'x': x1, 'w': w1, 'b': b}, dict(stride=2, padding=1, groups=2))
    writer.add('conv1d_same', lambda x, w: F.conv1d(x, w, padding='same', dilation=1, groups=2), {'x': x1, 'w': w1})
    writer.add('conv1d_unbatched', lambda x, w: F.conv1d(x, w, groups=2), {'x': x1[0], 'w': w1})
    writer.add('conv2d', lambda x, w, b, **o: F.conv2d(x, w, b, **o), {'x': x2, 'w': w2, 'b': b}, dict(stride=2, padding=1, dilation=2, groups=2))
    writer.add('conv2d_same', lambda x, w: F.conv2d(x, w, padding='same', groups=2), {'x': x2, 'w': w2})
    writer.add('conv3d', lambda x, w: F.conv3d(x, w, padding=1), {'x': x3, 'w': w3})
    writer.add('conv_transpose1d', lambda x, w: F.conv_transpose1d(x, w, None, 3, 1, 2, 2), {'x': x1, 'w': spread((4, 3, 4), seed=1)})
    writer.add('conv_transpose2d', lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1, groups=2),
               {'x': x2, 'w': spread((4, 3, 3, 2), seed=1)})


def pools(writer):
    x1, x2, x3 = spread((2, 3, 9)), spread((2, 2, 7, 6)), spread((1, 2, 5, 4, 5))
    for o in (dict(kernel_size=2), dict(kernel_size=3, stride=2, padding=1), dict(kernel_size=2, stride=3, ceil_mode=True),
              dict(kernel_size=2, stride=1, padding=1, dilation=2)):
        for n, x in ((1, x1), (2, x2), (3, x3)):
            if n == 3 and o.get('dilation'):
                continue
            writer.add('max_pool%dd' % n, lambda x, n=n, **o: getattr(F, 'max_pool%dd' % n)(x, **o), {'x': x}, o)
            writer.add('max_pool%dd_with_indices' % n,
                       lambda x, n=n, **o: getattr(F, 'max_pool%dd' % n)(x, return_indices=True, **o), {'x': x}, o)
    for o in (dict(kernel_size=2), dict(kernel_size=3, stride=2, padding=1), dict(kernel_size=3, stride=2, padding=1, count_include_pad=False),
              dict(kernel_size=3, stride=3, padding=1, ceil_mode=True), dict(kernel_size=2, stride=3, ceil_mode=True, count_include_pad=False)):
        for n, x in ((1, x1), (2, x2), (3, x3)):
            writer.add('avg_pool%dd' % n, lambda x, n=n, **o: getattr(F, 'avg_pool%dd' % n)(x, **o), {'x': x}, o)
    writer.add('avg_pool2d', lambda x, **o: F.avg_pool2d(x, **o), {'x': x2}, dict(kernel_size=2, divisor_override=3))
    for n, x in ((1, x1), (2, x2)):
        writer.add('lp_pool%dd' % n, lambda x, n=n: getattr(F, 'lp_pool%dd' % n)(x, 2., 3, 2), {'x': np.abs(x) + .1})
        writer.add('adaptive_max_pool%dd_with_indices' % n,
                   lambda x, n=n: getattr(F, 'adaptive_max_pool%dd' % n)(x, 4, return_indices=True), {'x': x})
        writer.add('adaptive_avg_pool%dd' % n, lambda x, n=n: getattr(F, 'adaptive_avg_pool%dd' % n)(x, 4), {'x': x})

    def unpooled(x):
        y, i = F.max_pool2d(x, 2, return_indices=True)
        return F.max_unpool2d(y, i, 2, output_size=(7, 6))
    writer.add('max_unpool2d', unpooled, {'x': x2})
    samples = np.random.RandomState(3).uniform(0, 1, (2, 2, 2))
    writer.add('fractional_max_pool2d', lambda x, s: F.fractional_max_pool2d(x, 2, output_size=(4, 3), _random_samples=s), {'x': x2, 's': samples},
               constants=('s',), dtypes=('float64',))


def norms(writer):
    x, w, b = spread((3, 4, 5)), spread((4,), .5, 2, 1), spread((4,), seed=2)
    m, v = spread((4,), seed=3), spread((4,), .5, 2, 4)
    writer.add('batch_norm', lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, eps=1e-3), {'x': x, 'm': m, 'v': v, 'w': w, 'b': b}, constants=('m', 'v'))
    writer.add('batch_norm_plain', lambda x: F.batch_norm(x, None, None, training=True), {'x': x})
    writer.add('layer_norm', lambda x, w, b: F.layer_norm(x, (4, 5), w, b), {'x': x, 'w': spread((4, 5), .5, 2, 1), 'b': spread((4, 5), seed=2)})
    writer.add('layer_norm_weight', lambda x, w: F.layer_norm(x, (5,), w, eps=.1), {'x': x, 'w': spread((5,), .5, 2, 1)})
    writer.add('rms_norm', lambda x, w: F.rms_norm(x, (5,), w, .1), {'x': x, 'w': spread((5,), .5, 2, 1)})
    writer.add('group_norm', lambda x, w, b: F.group_norm(x, 2, w, b), {'x': x, 'w': w, 'b': b})
    writer.add('instance_norm', lambda x, w, b: F.instance_norm(x, weight=w, bias=b), {'x': x, 'w': w, 'b': b})
    for size in (3, 4):
        writer.add('local_response_norm', lambda x, size: F.local_response_norm(x, size, .5, .6, 2.), {'x': x}, dict(size=size))


def others(writer):
    x = spread((2, 4, 3, 5))
    points = spread((3, 4))
    writer.add('softplus', lambda x: F.softplus(x, 2, 1), {'x': points})
    writer.add('hardsigmoid', lambda x: F.hardsigmoid(x), {'x': spread((3, 4), -5, 5)})
    writer.add('leaky_relu', lambda x: F.leaky_relu(x), {'x': points})
    writer.add('channel_shuffle', lambda x:
               x.reshape(2, 2, 2, 3, 5).transpose(1, 2).reshape(2, 4, 3, 5), {'x': x})
    grid = spread((2, 3, 2, 2), -.9, .9, 5)
    writer.add('grid_sample', lambda x, g: F.grid_sample(x, g, align_corners=False), {'x': x, 'g': grid})
    for a in (False, True):
        writer.add('affine_grid', lambda t, a: F.affine_grid(t, (2, 1, 3, 4), align_corners=a), {'t': spread((2, 2, 3))}, dict(a=a))
    writer.add('affine_grid3d', lambda t: F.affine_grid(t, (1, 1, 2, 3, 4), align_corners=False), {'t': spread((1, 3, 4))})
    writer.add('pdist', lambda x: F.pdist(x, 2.), {'x': spread((4, 3))})
    writer.add('pad', lambda x: F.pad(x, (1, 1, 2, 1), 'reflect'), {'x': x})
    writer.add('linear', lambda x, w, b: F.linear(x, w, b), {'x': spread((2, 3, 4)), 'w': spread((5, 4), seed=1), 'b': spread((5,), seed=2)})
    ids, flat = np.array([[0, 2, 1], [4, 4, 2]]), np.array([0, 2, 1, 4, 4, 2])
    w = spread((5, 3), seed=1)
    for mode in ('sum', 'mean', 'max'):
        writer.add('embedding_bag', lambda w, mode: F.embedding_bag(torch.tensor(ids), w, mode=mode, padding_idx=2), {'w': w}, dict(mode=mode))
        writer.add('embedding_bag_offsets', lambda w, mode: F.embedding_bag(torch.tensor(flat), w, torch.tensor([0, 2, 2]), mode=mode), {'w': w}, dict(mode=mode))
    a, p, n = spread((3, 4)), spread((3, 4), seed=1), spread((3, 4), seed=2)
    for swap in (False, True):
        writer.add('triplet_with_distance', lambda a, p, n, swap: F.triplet_margin_with_distance_loss(a, p, n, margin=2., swap=swap, reduction='sum'),
                   {'a': a, 'p': p, 'n': n}, dict(swap=swap))
    for name, cell, gates in (('lstm_cell', torch.nn.LSTMCell, 4), ('gru_cell', torch.nn.GRUCell, 3), ('rnn_cell', torch.nn.RNNCell, 1)):
        states = {'h': spread((4, 2), seed=1), 'c': spread((4, 2), seed=2)}
        if gates != 4:
            del states['c']

        def run(x, *given, cell=cell):
            *state, wi, wh, bi, bh = given
            params = dict(weight_ih=wi, weight_hh=wh, bias_ih=bi, bias_hh=bh)
            return torch.func.functional_call(cell(3, 2).double(), params, (x, tuple(state) if len(state) == 2 else state[0]))
        writer.add(name, run, {'x': spread((4, 3)), **states, 'wi': spread((2 * gates, 3), seed=3),
                               'wh': spread((2 * gates, 2), seed=4), 'bi': spread((2 * gates,), seed=5), 'bh': spread((2 * gates,), seed=6)},
                   constants=('wi', 'wh', 'bi', 'bh'))


def cases(writer):
    convolutions(writer)
    pools(writer)
    norms(writer)
    others(writer)
