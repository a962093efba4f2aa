"""Functions that move, select and sort elements, and running functions."""
import functools

import numpy as np
import torch

from make_torch_fixture import spread

A = spread((3, 4), seed=1)
B = spread((2, 3, 4), seed=2)
V = spread((5,), seed=3)
ZEROS = A.copy()
ZEROS[0, 1] = ZEROS[1, 0] = ZEROS[1, 2] = ZEROS[2] = 0
INDEX = np.array([[0, 2, 1, 0], [2, 2, 0, 1]])
LONG = np.array([[0, 3, 1, 0, 3], [1, 1, 0, 2, 2], [3, 0, 0, 0, 1]])
DISTINCT = np.array([[0, 2, 1, 2], [2, 1, 0, 0]])
MASK = np.array([[True, False, True, True], [False] * 4, [True, True, False, False]])


def positions(add):
    x = {'x': A, 'index': INDEX}
    add('gather', lambda x, index, axis: torch.gather(x, axis, index), x, dict(axis=0))
    add('gather', lambda x, index, axis: torch.gather(x, axis, index), {'x': A, 'index': LONG}, dict(axis=1))
    add('gather', lambda x, index, axis: torch.gather(x, axis, index), {'x': B, 'index': INDEX.reshape(1, 2, 4)}, dict(axis=-2))
    add('take_along_axis', lambda x, index, axis: torch.take_along_dim(x, index, axis), {'x': B, 'index': LONG[None]},
        dict(axis=2))
    add('take_along_axis', lambda x, index, axis: torch.take_along_dim(x, index, axis),
        {'x': spread((1, 3)), 'index': np.array([[2, 0], [1, 1], [0, 2]])}, dict(axis=1))
    add('scatter', lambda x, src, index, axis: x.scatter(axis, index, src), {'x': A, 'src': spread((2, 4)), 'index': DISTINCT},
        dict(axis=0))
    add('scatter', lambda x, index, axis: x.scatter(axis, index, 7.), {'x': A, 'index': LONG[:2]}, dict(axis=1))
    add('scatter_add', lambda x, src, index, axis: x.scatter_add(axis, index, src),
        {'x': A, 'src': spread((2, 4)), 'index': INDEX}, dict(axis=0))
    add('scatter_add', lambda x, src, index, axis: x.scatter_add(axis, index, src),
        {'x': B, 'src': spread((2, 3, 5)), 'index': np.stack([LONG, LONG[::-1]])}, dict(axis=-1))
    add('index_select', lambda x, index, axis: torch.index_select(x, axis, index), {'x': B, 'index': np.array([2, 0, 2])},
        dict(axis=1))
    add('index_add', lambda x, source, index, axis, alpha: torch.index_add(x, axis, index, source, alpha=alpha),
        {'x': B, 'source': spread((2, 3, 3)), 'index': np.array([1, 0, 1])}, dict(axis=-1, alpha=-2))
    add('masked_fill', lambda x, mask: x.masked_fill(mask, -3.), {'x': B, 'mask': MASK})
    add('masked_fill', lambda x, value, mask: x.masked_fill(mask, value), {'x': A, 'value': np.array(2.5), 'mask': MASK})
    add('masked_select', torch.masked_select, {'x': B, 'mask': MASK})
    add('masked_select', torch.masked_select, {'x': spread((3, 1)), 'mask': MASK})
    add('one_hot', lambda t, n: torch.nn.functional.one_hot(t, n).float(), {'t': INDEX}, dict(n=4), dtypes=('float32',))
    add('one_hot', lambda t: torch.nn.functional.one_hot(t).float(), {'t': LONG[0]}, dtypes=('float32',))


def order(add):
    for axis in (0, -1):
        for descending in (False, True):
            add('sort', lambda x, axis, descending: torch.sort(x, axis, descending), {'x': A},
                dict(axis=axis, descending=descending))
    add('argsort', lambda x, axis: torch.argsort(x, axis), {'x': B}, dict(axis=1))
    for k, largest in ((2, True), (2, False), (4, True), (1, False)):
        add('topk', lambda x, k, axis, largest: torch.topk(x, k, axis, largest), {'x': B}, dict(k=k, axis=-1, largest=largest))
    add('topk', lambda x, k, axis, largest: torch.topk(x, k, axis, largest), {'x': B}, dict(k=2, axis=1, largest=True))
    for name, function in (('cummax', torch.cummax), ('cummin', torch.cummin)):
        add(name, lambda x, axis, function=function: function(x, axis), {'x': B}, dict(axis=2))
        add(name, lambda x, axis, function=function: function(x, axis), {'x': A}, dict(axis=0))


def running(add):
    for axis in (0, 1, -1):
        add('cumsum', lambda x, axis: torch.cumsum(x, axis), {'x': B}, dict(axis=axis))
        add('cumprod', lambda x, axis: torch.cumprod(x, axis), {'x': B}, dict(axis=axis))
        add('logcumsumexp', lambda x, axis: torch.logcumsumexp(x, axis), {'x': B * 20}, dict(axis=axis))
    for axis in (0, 1):
        add('cumprod', lambda x, axis: torch.cumprod(x, axis), {'x': ZEROS}, dict(axis=axis))
    add('cumprod', lambda x, axis: torch.cumprod(x, axis), {'x': np.array([2., 0, 3, 0, 4])}, dict(axis=0))
    add('cumsum', lambda x: torch.cumsum(x.reshape(-1), 0), {'x': A})
    add('cumprod', lambda x: torch.cumprod(x.reshape(-1), 0), {'x': A})
    add('logcumsumexp', lambda x, axis: torch.logcumsumexp(x, axis), {'x': np.array([-2000., 1, 900, 3])}, dict(axis=0))


def places(add):
    for k in (-2, 0, 1, 4):
        add('tril', lambda x, k: torch.tril(x, k), {'x': B}, dict(k=k))
        add('triu', lambda x, k: torch.triu(x, k), {'x': A}, dict(k=k))
        add('diag', lambda x, k: torch.diag(x, k), {'x': V}, dict(k=k))
        add('diag', lambda x, k: torch.diag(x, k), {'x': A}, dict(k=min(k, 3)))
    for offset, axis1, axis2 in ((0, 0, 1), (1, 2, 1), (-1, -1, 0), (2, 1, 2)):
        add('diagonal', lambda x, offset, axis1, axis2: torch.diagonal(x, offset, axis1, axis2), {'x': B},
            dict(offset=offset, axis1=axis1, axis2=axis2))
    add('diag_embed', lambda x, offset: torch.diag_embed(x, offset), {'x': A}, dict(offset=-1))
    for indexing in ('ij', 'xy'):
        add('meshgrid', lambda x, y, z, indexing: torch.meshgrid(x, y, z, indexing=indexing),
            {'x': V, 'y': spread((2,)), 'z': spread((3,))}, dict(indexing=indexing))
    add('moveaxis', lambda x, source, destination: torch.moveaxis(x, source, destination), {'x': B},
        dict(source=[0, -1], destination=[1, 0]))
    add('roll', lambda x, shift: torch.roll(x, shift), {'x': A}, dict(shift=5))
    add('roll', lambda x, shift, axis: torch.roll(x, shift, axis), {'x': B}, dict(shift=[1, -6], axis=[0, 2]))
    add('repeat', lambda x, repeats: torch.repeat_interleave(x, repeats), {'x': A}, dict(repeats=2))
    add('repeat', lambda x, repeats, axis: torch.repeat_interleave(x, repeats, axis), {'x': B}, dict(repeats=3, axis=1))
    add('repeat', lambda x, repeats, axis: torch.repeat_interleave(x, torch.tensor(repeats), axis), {'x': A},
        dict(repeats=[2, 0, 3], axis=0))
    for k in (-1, 0, 1, 2, 3):
        add('rot90', lambda x, k, axes: torch.rot90(x, k, axes), {'x': B}, dict(k=k, axes=[2, 0]))
    add('chunk', lambda x, chunks, axis: torch.chunk(x, chunks, axis), {'x': V}, dict(chunks=3, axis=0))
    add('chunk', lambda x, chunks, axis: torch.chunk(x, chunks, axis), {'x': B}, dict(chunks=3, axis=2))
    add('split', lambda x, lengths, axis: torch.split(x, lengths, axis), {'x': V}, dict(lengths=2, axis=0))
    add('split', lambda x, lengths, axis: torch.split(x, lengths, axis), {'x': A}, dict(lengths=[0, 1, 3, 0], axis=1))
    add('unbind', lambda x, axis: torch.unbind(x, axis), {'x': B}, dict(axis=-1))
    for axis, size, step in ((0, 1, 1), (1, 2, 1), (2, 3, 1), (2, 2, 2), (2, 1, 3), (-1, 4, 1)):
        add('unfold', lambda x, axis, size, step: x.unfold(axis, size, step), {'x': B}, dict(axis=axis, size=size, step=step))
    add('as_strided', lambda x, shape, strides, offset: torch.as_strided(x, shape, strides, offset), {'x': B},
        dict(shape=[3, 2, 4], strides=[4, 1, 3], offset=2))


def mathematics(add):
    three = {'x': A, 'y': spread((4,), seed=5), 'z': spread((3, 1), seed=6)}
    add('add', lambda x, y, z: x + y + z, three)
    add('maximum', lambda x, y, z: torch.maximum(torch.maximum(x, y), z), three)
    add('minimum', lambda x, y, z: torch.minimum(torch.minimum(x, y), z), three)
    add('clip', lambda x, high: torch.clamp(x, max=high), {'x': A}, dict(high=.5))
    add('clip', lambda x, low: torch.clamp(x, min=low), {'x': A}, dict(low=-.5))
    add('clip', torch.clamp, {'x': A, 'low': spread((4,), -1, 0), 'high': spread((3, 1), 0, 1)})
    add('fix', torch.fix, {'x': A * 3})
    add('round', torch.round, {'x': np.concatenate([A.ravel() * 3, [.5, 1.5, -2.5]])})


def cases(writer):
    # Functions that only move elements do not depend on the dtype.
    moving = functools.partial(writer.add, dtypes=('float64',))
    for family in (positions, order, places):
        family(moving)
    for family in (running, mathematics):
        family(writer.add)
