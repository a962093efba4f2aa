"""Functions of matrices.

Factors whose vectors have a free sign are compared through functions that do not depend on it: products that rebuild a
function of the matrix, and the squares of the elements. Matrices of which one triangle is read are made symmetric
first, so that the gradient is the symmetric one for both."""
import numpy as np
import torch

from make_torch_fixture import spread

LOOSE = dict(float64=[1e-8, 1e-7])


def regular(shape, seed=0):
    return spread(shape, -1, 1, seed) + 3 * np.eye(shape[-2], shape[-1])


def positive(shape, seed=0):
    a = spread(shape, -1, 1, seed)
    return a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1])


def symmetric(a):
    return (a + a.mT) / 2


def eigh_functions(a):
    w, v = torch.linalg.eigh(symmetric(a))
    return w, v * v, (v * torch.sin(w).unsqueeze(-2)) @ v.mT


def svd_functions(a):
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    return s, u * u, vh * vh, u @ vh


def qr_functions(a):
    q, r = torch.linalg.qr(a)
    return q * q, r * r, torch.sin(q @ r)


def cases(writer):
    def add(function, run, inputs, args=None, **more):
        writer.add(function, run, inputs, args, ('float64',), tolerance=LOOSE, **more)

    stacks = {'a': (3, 3)}, {'a': (2, 1, 3, 3)}
    for shapes in stacks:
        shape = shapes['a']
        for upper in (False, True):
            add('cholesky', lambda a, upper: torch.linalg.cholesky(symmetric(a), upper=upper), {'a': positive(shape)},
                dict(upper=upper))
        add('slogdet', lambda a: torch.linalg.slogdet(a), {'a': regular(shape, 1)})
        add('slogdet', lambda a: torch.linalg.slogdet(a), {'a': -regular(shape, 2)})
        add('logdet', torch.logdet, {'a': positive(shape, 3)})
        add('inv', torch.linalg.inv, {'a': regular(shape, 4)})
        add('det', torch.linalg.det, {'a': regular(shape, 5)})
        add('eigh', eigh_functions, {'a': regular(shape, 6)})
        add('eigvalsh', lambda a: torch.linalg.eigvalsh(symmetric(a)), {'a': regular(shape, 7)})
        add('matrix_exp', torch.linalg.matrix_exp, {'a': spread(shape, -1, 1, 8)})
        for n in (0, 1, 3, -2):
            add('matrix_power', lambda a, n: torch.linalg.matrix_power(a, n), {'a': regular(shape, 9) / 2}, dict(n=n),
                gradient=n != 0)
    for shape in ((4, 3), (3, 4), (2, 3, 3)):
        diagonal = np.eye(shape[-2], shape[-1]) * np.arange(1, shape[-1] + 1)
        add('svd', svd_functions, {'a': spread(shape, -1, 1, 10) + diagonal})
        add('svdvals', torch.linalg.svdvals, {'a': regular(shape, 11)})
        add('qr', qr_functions, {'a': regular(shape, 12)})
        add('pinv', torch.linalg.pinv, {'a': regular(shape, 13)})
    add('pinv_of_product', lambda a, b: torch.linalg.pinv(a @ b),
        {'a': spread((4, 1), 1, 2, 13), 'b': spread((1, 3), 1, 2, 14)})
    for a, b in (((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 1, 3, 3), (4, 3, 2)), ((4, 3, 3), (3, 2))):
        add('solve', torch.linalg.solve, {'a': regular(a, 14), 'b': spread(b, -1, 1, 15)})
    for lower in (False, True):
        for trans in (False, True):
            for unit in (False, True):
                def run(a, b, lower, trans, unit_diagonal):
                    # A transposed lower triangle is an upper one.
                    return torch.linalg.solve_triangular(a.mT if trans else a, b, upper=lower == trans,
                                                         unitriangular=unit_diagonal)
                add('solve_triangular', run, {'a': regular((2, 3, 3), 16), 'b': spread((3, 2), -1, 1, 17)},
                    dict(lower=lower, trans=trans, unit_diagonal=unit))
    add('lstsq', lambda a, b: torch.linalg.pinv(a) @ b, {'a': regular((5, 3), 18), 'b': spread((5, 2), -1, 1, 19)})
    add('trace', torch.trace, {'a': spread((3, 4), -1, 1, 20)})
    add('kron', torch.kron, {'a': spread((2, 3), -1, 1, 21), 'b': spread((3,), -1, 1, 22)})
    add('outer', torch.outer, {'a': spread((2,), -1, 1, 23), 'b': spread((3,), -1, 1, 24)})
    add('inner', torch.inner, {'a': spread((2, 4), -1, 1, 25), 'b': spread((3, 4), -1, 1, 26)})
    add('vdot', torch.vdot, {'a': spread((4,), -1, 1, 27), 'b': spread((4,), -1, 1, 28)})
    add('multi_dot', lambda *m: torch.linalg.multi_dot(m),
        {'a': spread((2, 5), -1, 1, 29), 'b': spread((5, 3), -1, 1, 30), 'c': spread((3, 4), -1, 1, 31),
         'd': spread((4,), -1, 1, 32)})
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3, 4)), ((2, 1, 2, 3), (4, 3, 2))):
        add('linalg_matmul', torch.matmul, {'a': spread(a, -1, 1, 33), 'b': spread(b, -1, 1, 34)})
    norm = torch.linalg.norm
    for p in (None, 1, 2, 3, 0.5, -1, 'inf', '-inf', 0):
        order = float(p) if isinstance(p, str) else p
        add('norm', lambda x, ord, axis, keepdims, order=order: norm(x, order, axis, keepdims),
            {'x': spread((2, 5), -2, 2, 35)}, dict(ord=p, axis=1, keepdims=p == 3), gradient=p != 0)
    for p in ('fro', 'nuc', 1, -1, 2, -2, 'inf', '-inf'):
        order = float(p) if p in ('inf', '-inf') else p
        add('norm', lambda x, ord, axis, keepdims, order=order: norm(x, order, tuple(axis), keepdims),
            {'x': spread((3, 2, 4), -2, 2, 36)}, dict(ord=p, axis=[2, 0], keepdims=p == 'nuc'))
    add('norm', lambda x: norm(x), {'x': spread((2, 3, 2), -2, 2, 37)})
