"""Arithmetic, products, selection and statistics by PyTorch's names, and functions without a gradient."""
import numpy as np
import torch

from make_torch_fixture import spread

A = spread((3, 4), seed=1)
B = spread((2, 3, 4), seed=2)
C = spread((3, 4), seed=3)
V = spread((5,), seed=4)
POSITIVE = spread((3, 4), .5, 2, seed=5)
INDEX = np.array([[0, 2, 1, 0], [2, 2, 0, 1]])
MASK = np.array([[True, False, True, True], [False] * 4, [True, True, False, False]])
NAN = A.copy()
NAN[0, 1] = NAN[2, 3] = np.nan


def arithmetic(add):
    two = {'x': A, 'y': POSITIVE}
    add('add', lambda x, y, alpha: torch.add(x, y, alpha=alpha), two, dict(alpha=-.5))
    add('sub', lambda x, y, alpha: torch.sub(x, y, alpha=alpha), two, dict(alpha=3))
    add('sub', torch.sub, two)
    add('rsub', torch.rsub, two)
    add('mul', torch.mul, two)
    add('true_divide', torch.true_divide, two)
    add('div', torch.div, two)
    for mode in ('floor', 'trunc'):
        add('div', lambda x, y, rounding_mode: torch.div(x, y, rounding_mode=rounding_mode), two, dict(rounding_mode=mode))
    for name in ('remainder', 'fmod', 'floor_divide', 'fmax', 'fmin', 'copysign', 'atan2', 'float_power'):
        add(name, getattr(torch, name), {'x': POSITIVE, 'y': POSITIVE[::-1].copy()} if name == 'float_power' else two,
            dtypes=('float64',) if name == 'float_power' else ('float64', 'float32'), gradient=name != 'floor_divide')
    for name in ('remainder', 'fmod', 'floor_divide'):
        add(name, lambda x, number, name=name: getattr(torch, name)(x, number), {'x': A * 5}, dict(number=1.5),
            gradient=name != 'floor_divide')
    add('remainder', torch.remainder, {'x': np.array([7, -7, 5]), 'y': np.array([3, 3, -4])}, dtypes=('float64',))
    add('lerp', torch.lerp, {'x': A, 'y': C, 'w': POSITIVE})
    for weight in (.25, .75, 1):
        add('lerp', lambda x, y, weight: torch.lerp(x, y, weight), {'x': A, 'y': C}, dict(weight=weight))
    three = {'x': A, 'a': C, 'b': POSITIVE}
    for name in ('addcmul', 'addcdiv'):
        add(name, lambda x, a, b, value, name=name: getattr(torch, name)(x, a, b, value=value), three, dict(value=-2))
        add(name, getattr(torch, name), three)
    for name in ('neg', 'reciprocal', 'sgn', 'trunc', 'frac', 'acos', 'asin', 'atan', 'acosh', 'asinh', 'atanh', 'deg2rad',
                 'rad2deg'):
        x = spread((3, 4), -.9, .9, seed=6)
        add(name, getattr(torch, name), {'x': POSITIVE + 1 if name in ('acosh', 'reciprocal') else x * 3 if name in ('trunc', 'frac') else x})
    for decimals in (2, -1, 0):
        add('round', lambda x, decimals: torch.round(x, decimals=decimals), {'x': A * 37}, dict(decimals=decimals),
            dtypes=('float64',))
    add('logit', lambda x, eps: torch.logit(x, eps), {'x': spread((6,), 0, 1, seed=7)}, dict(eps=.2))
    add('clamp', lambda x, low, high: torch.clamp(x, low, high), {'x': A}, dict(low=-.5, high=1))
    add('clamp_min', lambda x, number: torch.clamp_min(x, number), {'x': A}, dict(number=.1))
    add('clamp_max', lambda x, number: torch.clamp_max(x, number), {'x': A}, dict(number=.1))
    odd = np.array([1., np.nan, np.inf, -np.inf, -2.])
    add('nan_to_num', lambda x: torch.nan_to_num(x), {'x': odd}, dtypes=('float64',), gradient=False)
    add('nan_to_num', lambda x, nan, posinf, neginf: torch.nan_to_num(x, nan, posinf, neginf), {'x': odd},
        dict(nan=7, posinf=8, neginf=-9))


def products(add):
    add('bmm', torch.bmm, {'a': B, 'b': spread((2, 4, 5), seed=8)})
    add('mm', torch.mm, {'a': A, 'b': spread((4, 2), seed=9)})
    add('mv', torch.mv, {'a': A, 'b': spread((4,), seed=10)})
    add('ger', torch.ger, {'a': V, 'b': spread((3,), seed=11)})
    options = dict(beta=.5, alpha=-2)
    for name, x, a, b in (('addmm', (3, 2), (3, 4), (4, 2)), ('addmv', (3,), (3, 4), (4,)), ('addr', (3, 2), (3,), (2,)),
                          ('baddbmm', (2, 3, 5), (2, 3, 4), (2, 4, 5)), ('addbmm', (3, 5), (2, 3, 4), (2, 4, 5))):
        operands = {'x': spread(x, seed=12), 'a': spread(a, seed=13), 'b': spread(b, seed=14)}
        add(name, getattr(torch, name), operands)
        add(name, lambda x, a, b, beta, alpha, name=name: getattr(torch, name)(x, a, b, beta=beta, alpha=alpha), operands,
            options)
    add('cross', lambda a, b, dim: torch.cross(a, b, dim=dim), {'a': B, 'b': B[::-1].copy()}, dict(dim=1))
    add('dist', lambda a, b, p: torch.dist(a, b, p), {'a': A, 'b': C}, dict(p=2))
    add('dist', lambda a, b, p: torch.dist(a, b, p), {'a': A, 'b': C}, dict(p=1))
    add('renorm', lambda x, p, dim, maxnorm: torch.renorm(x, p, dim, maxnorm), {'x': A}, dict(p=2, dim=0, maxnorm=2.2))
    add('vander', lambda x, n, increasing: torch.linalg.vander(x, N=n).flip(-1) if not increasing else
        torch.linalg.vander(x, N=n), {'x': V}, dict(n=3, increasing=True))
    add('vander', lambda x, n, increasing: torch.linalg.vander(x, N=n).flip(-1), {'x': V}, dict(n=4, increasing=False))
    factor = np.tril(spread((3, 3), .5, 2, seed=15))
    b = spread((3, 2), seed=16)
    add('cholesky_solve', lambda b, f, upper: torch.cholesky_solve(b, f, upper), {'b': b, 'f': factor}, dict(upper=False),
        gradient=False)
    add('cholesky_solve', lambda b, f, upper: torch.cholesky_solve(b, f, upper), {'b': b, 'f': factor.T.copy()},
        dict(upper=True), gradient=False)
    add('cholesky_inverse', lambda f, upper: torch.cholesky_inverse(f, upper), {'f': factor}, dict(upper=False), gradient=False)
    add('triangular_solve', lambda b, a: torch.linalg.solve_triangular(a, b, upper=True), {'b': b, 'a': factor.T.copy()})
    add('matrix_norm', lambda a: torch.linalg.matrix_norm(a), {'a': B})
    add('vecdot', lambda x, y, dim: torch.linalg.vecdot(x, y, dim=dim), {'x': A, 'y': C}, dict(dim=0))


def positions(add):
    add('narrow', lambda x, dim, start, length: torch.narrow(x, dim, start, length), {'x': B}, dict(dim=-1, start=1, length=2))
    add('select', lambda x, dim, index: torch.select(x, dim, index), {'x': B}, dict(dim=1, index=-1))
    add('take', torch.take, {'x': A, 'index': np.array([[0, 5], [11, 5]])})
    add('take_along_dim', lambda x, index: torch.take_along_dim(x, index), {'x': A, 'index': np.array([3, 3, 0])})
    add('masked_scatter', lambda x, source, mask: x.masked_scatter(mask, source), {'x': A, 'source': C, 'mask': MASK})
    add('index_copy', lambda x, source, index, dim: torch.index_copy(x, dim, index, source),
        {'x': B, 'source': spread((2, 2, 4), seed=17), 'index': np.array([2, 0])}, dict(dim=1))
    add('index_fill', lambda x, index, dim, value: torch.index_fill(x, dim, index, value), {'x': B, 'index': np.array([3, 1])},
        dict(dim=-1, value=2.5))
    add('index_put', lambda x, values, i, k: torch.index_put(x, (i, k), values),
        {'x': A, 'values': spread((3,), seed=18), 'i': np.array([0, 2, 1]), 'k': np.array([3, 3, 0])})
    add('index_put', lambda x, values, i, k, accumulate: torch.index_put(x, (i, k), values, accumulate),
        {'x': A, 'values': spread((3,), seed=18), 'i': np.array([0, 0, 1]), 'k': np.array([3, 3, 0])}, dict(accumulate=True))
    for reduce in ('sum', 'prod', 'mean', 'amax', 'amin'):
        for include_self in (True, False):
            add('scatter_reduce', lambda x, src, index, dim, reduce, include_self: torch.scatter_reduce(
                x, dim, index, src, reduce, include_self=include_self),
                {'x': A, 'src': spread((2, 4), seed=19), 'index': INDEX}, dict(dim=0, reduce=reduce, include_self=include_self))
    add('select_scatter', lambda x, src, dim, index: torch.select_scatter(x, src, dim, index), {'x': A, 'src': spread((3,))},
        dict(dim=1, index=2))
    add('slice_scatter', lambda x, src, dim, start, end, step: torch.slice_scatter(x, src, dim, start, end, step),
        {'x': A, 'src': spread((3, 2))}, dict(dim=1, start=0, end=4, step=2))
    add('diagonal_scatter', lambda x, src, offset: torch.diagonal_scatter(x, src, offset), {'x': A, 'src': spread((3,))},
        dict(offset=1))
    add('unflatten', lambda x, dim, sizes: torch.unflatten(x, dim, sizes), {'x': A}, dict(dim=1, sizes=[2, -1]))
    add('column_stack', lambda x, y: torch.column_stack([x, y]), {'x': spread((3,)), 'y': A})
    add('block_diag', lambda x, y, z: torch.block_diag(x, y, z), {'x': A, 'y': spread((2,)), 'z': spread((2, 1))})
    for sections in (3, [1, 3]):
        add('tensor_split', lambda x, sections, dim: torch.tensor_split(x, sections, dim), {'x': spread((2, 5))},
            dict(sections=sections, dim=1))
    add('hsplit', lambda x, sections: torch.hsplit(x, sections), {'x': A}, dict(sections=2))
    add('vsplit', lambda x, sections: torch.vsplit(x, sections), {'x': A}, dict(sections=3))
    add('dsplit', lambda x, sections: torch.dsplit(x, sections), {'x': B}, dict(sections=2))
    add('diagflat', lambda x, offset: torch.diagflat(x, offset), {'x': spread((2, 2))}, dict(offset=-1))
    add('cartesian_prod', torch.cartesian_prod, {'x': V, 'y': spread((2,))})
    for r, again in ((2, False), (3, False), (2, True)):
        add('combinations', lambda x, r, again: torch.combinations(x, r, again), {'x': V}, dict(r=r, again=again))
    for name in ('tril_indices', 'triu_indices'):
        add(name, lambda x, rows, columns, offset, name=name: getattr(torch, name)(rows, columns, offset), {'x': V},
            dict(rows=3, columns=4, offset=1), dtypes=('float64',))


def statistics(add):
    for name in ('var_mean', 'std_mean'):
        add(name, lambda x, name=name: getattr(torch, name)(x), {'x': A})
        add(name, lambda x, dim, correction, keepdim, name=name: getattr(torch, name)(
            x, dim=dim, correction=correction, keepdim=keepdim), {'x': B}, dict(dim=1, correction=0, keepdim=True))
    add('nansum', lambda x: torch.nansum(x), {'x': NAN})
    add('nanmean', lambda x, dim: torch.nanmean(x, dim), {'x': NAN}, dict(dim=0))
    add('cov', lambda x: torch.cov(x), {'x': A})
    add('cov', lambda x, correction: torch.cov(x, correction=correction), {'x': A}, dict(correction=0))
    add('cov', lambda x, f, a: torch.cov(x, fweights=f, aweights=a),
        {'x': A, 'f': np.array([1, 2, 1, 3]), 'a': spread((4,), .5, 2)})
    add('cov', lambda x: torch.cov(x), {'x': V})
    add('corrcoef', torch.corrcoef, {'x': A})
    add('aminmax', lambda x: tuple(torch.aminmax(x)), {'x': A})
    add('aminmax', lambda x, dim, keepdim: tuple(torch.aminmax(x, dim=dim, keepdim=keepdim)), {'x': A}, dict(dim=1, keepdim=True))
    add('median', lambda x: torch.median(x), {'x': A})
    add('median', lambda x, dim: tuple(torch.median(x, dim)), {'x': B}, dict(dim=2))
    add('nanmedian', lambda x: torch.nanmedian(x), {'x': NAN})
    add('nanmedian', lambda x, dim: tuple(torch.nanmedian(x, dim)), {'x': NAN}, dict(dim=0))
    add('kthvalue', lambda x, k, dim: tuple(torch.kthvalue(x, k, dim)), {'x': B}, dict(k=2, dim=1))
    equal = np.array([[3., 1, 3, 2, 1], [2, 2, 5, 5, 5], [4, 3, 2, 1, 0]])
    add('mode', lambda x, dim: torch.mode(x, dim).values, {'x': equal}, dict(dim=1), gradient=False)
    for q in (.3, [0, .25, 1]):
        for interpolation in ('linear', 'lower', 'higher', 'nearest', 'midpoint'):
            add('quantile', lambda x, q, dim, interpolation: torch.quantile(
                x, torch.tensor(q, dtype=x.dtype), dim, interpolation=interpolation), {'x': A},
                dict(q=q, dim=1, interpolation=interpolation), dtypes=('float64',))
    add('quantile', lambda x, q: torch.quantile(x, q), {'x': A}, dict(q=.6))
    add('quantile', lambda x, q, dim, keepdim: torch.quantile(x, q, dim, keepdim), {'x': B}, dict(q=.5, dim=1, keepdim=True))
    add('diff', lambda x: torch.diff(x), {'x': A})
    add('diff', lambda x, first, last, n, dim: torch.diff(x, n, dim, first, last),
        {'x': A, 'first': spread((1, 4)), 'last': spread((2, 4))}, dict(n=2, dim=0))
    for name in ('trapezoid', 'cumulative_trapezoid'):
        add(name, lambda y, dx, dim, name=name: getattr(torch, name)(y, dx=dx, dim=dim), {'y': A}, dict(dx=.5, dim=0))
        add(name, lambda y, x, dim, name=name: getattr(torch, name)(y, x, dim=dim), {'y': A, 'x': spread((4,))}, dict(dim=1))


def cases(writer):
    for family in (arithmetic, products, positions, statistics):
        family(writer.add)
