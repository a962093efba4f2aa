"""Sums of products in Einstein's notation."""
import torch

from make_torch_fixture import spread


def cases(writer):
    rows = [('ij,jk->ik', (2, 3), (3, 4)), ('ij,jk', (2, 3), (3, 4)), ('ba,cb', (2, 3), (4, 2)), ('ij->ji', (2, 3)),
            ('ij->i', (2, 3)), ('ij->', (2, 3)), ('ii', (3, 3)), ('ii->i', (3, 3)), ('iji->j', (3, 2, 3)),
            ('iii->i', (2, 2, 2)), ('i,j->ij', (2,), (3,)), ('i,i', (4,), (4,)), ('bij,bjk->bik', (2, 3, 4), (2, 4, 3)),
            ('bi,bi->b', (3, 4), (3, 4)), ('...ij,...jk->...ik', (2, 1, 3, 4), (5, 4, 2)), ('...ij->...ji', (2, 3, 4)),
            ('b...,b...->...', (2, 3), (2, 3)), ('bhqd,bhkd->bhqk', (1, 2, 3, 4), (1, 2, 5, 4)),
            ('ij,jk,kl->il', (2, 3), (3, 4), (4, 2)),
            ('ij,ij,ij->ij', (2, 3), (2, 3), (2, 3)), ('ijk,jl,kl->il', (2, 3, 4), (3, 5), (4, 5)),
            ('a,b,c,d->abcd', (2,), (2,), (2,), (2,)), ('ij,kj->k', (2, 3), (4, 3)), ('ij,k->k', (2, 3), (4,))]
    for subscripts, *shapes in rows:
        inputs = {'x%d' % i: spread(s, -1, 1, i) for i, s in enumerate(shapes)}
        writer.add('einsum', lambda *x, subscripts: torch.einsum(subscripts, *x), inputs, dict(subscripts=subscripts),
                   ('float64',))
    for axes, a, b in ((2, (2, 3, 4), (3, 4, 5)), (0, (2,), (3,)), ([[0, 2], [1, 0]], (2, 3, 4), (4, 2, 5))):
        writer.add('tensordot', lambda a, b, axes: torch.tensordot(a, b, axes),
                   {'a': spread(a, -1, 1, 3), 'b': spread(b, -1, 1, 4)}, dict(axes=axes), ('float64',))
