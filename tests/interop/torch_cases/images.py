"""Functions of images: interpolation, sampling, patches, pooling to given sizes, linear maps of the last axis."""
import torch
import torch.nn.functional as F

from make_torch_fixture import spread


def interpolations(writer):
    image, line = spread((1, 2, 4, 5)), spread((2, 1, 5))

    def run(x, mode, size=None, scale_factor=None, align_corners=None, antialias=False):
        return F.interpolate(x, size, scale_factor, mode, align_corners, antialias=antialias)

    only64 = ('float64',)
    for mode in ('nearest', 'nearest-exact', 'area'):
        for size in ((3, 7), (9, 2)):
            writer.add('interpolate', run, dict(x=image), dict(mode=mode, size=size), only64)
    for mode in ('bilinear', 'bicubic'):
        for corners in (False, True):
            for size in ((3, 7), (1, 5)):
                writer.add('interpolate', run, dict(x=image), dict(mode=mode, size=size, align_corners=corners), only64)
        for size in ((2, 3), (7, 2)):
            writer.add('interpolate', run, dict(x=image), dict(mode=mode, size=size, align_corners=False, antialias=True),
                       only64)
        for factor in (0.6, 1.7):
            writer.add('interpolate', run, dict(x=image), dict(mode=mode, scale_factor=factor, align_corners=False), only64)
    writer.add('interpolate', run, dict(x=image), dict(mode='nearest', scale_factor=1.7), only64)
    writer.add('interpolate', run, dict(x=line), dict(mode='linear', size=(8,), align_corners=False), only64)
    writer.add('interpolate', run, dict(x=spread((1, 1, 2, 3, 2))),
               dict(mode='trilinear', size=(3, 2, 4), align_corners=True),
               only64)


def cases(writer):
    interpolations(writer)
    grid = spread((2, 3, 4, 2), -1.6, 1.6, 5)
    for mode in ('bilinear', 'nearest'):
        for padding_mode in ('zeros', 'border', 'reflection'):
            for corners in (False, True):
                writer.add('grid_sample',
                           lambda x, grid, mode, padding_mode, align_corners:
                           F.grid_sample(x, grid.permute(0, 2, 3, 1), mode, padding_mode, align_corners),
                           dict(x=spread((2, 2, 4, 3)), grid=grid.transpose(0, 3, 1, 2)),
                           dict(mode=mode, padding_mode=padding_mode, align_corners=corners), ('float64',),
                           ('grid',) if mode == 'nearest' else ())
    for ksize, stride, pad, dilate in (((2, 3), (1, 2), (1, 0), (1, 1)), ((2, 2), (2, 1), (0, 1), (2, 1))):
        writer.add('unfold', lambda x, ksize, stride, pad, dilate: F.unfold(x, ksize, dilate, pad, stride),
                   dict(x=spread((2, 2, 5, 6))), dict(ksize=ksize, stride=stride, pad=pad, dilate=dilate))
        patches = F.unfold(torch.zeros(2, 2, 5, 6), ksize, dilate, pad, stride).shape
        writer.add('fold', lambda x, ksize, stride, pad, dilate: F.fold(x, (5, 6), ksize, dilate, pad, stride),
                   dict(x=spread(tuple(patches))), dict(ksize=ksize, stride=stride, pad=pad, dilate=dilate))
    for size in ((3, 2), (4, 7), (1, 1)):
        for name, run in (('adaptive_average_pooling_2d', F.adaptive_avg_pool2d),
                          ('adaptive_max_pooling_2d', F.adaptive_max_pool2d)):
            writer.add(name, lambda x, size, run=run: run(x, size), dict(x=spread((2, 2, 5, 7))), dict(size=size),
                       ('float64',))
    writer.add('adaptive_average_pooling_nd', lambda x, size: F.adaptive_avg_pool1d(x, size), dict(x=spread((2, 2, 7))),
               dict(size=(3,)))
    writer.add('adaptive_max_pooling_nd', lambda x, size: F.adaptive_max_pool3d(x, size),
               dict(x=spread((1, 2, 3, 4, 5))), dict(size=(2, 3, 2)))
    writer.add('linear', lambda x, W, b: F.linear(x, W, b),
               dict(x=spread((2, 3, 4)), W=spread((5, 4), seed=1), b=spread(5, seed=2)))
    for n, shape, size in ((1, (7,), 3), (3, (3, 4, 3), 2)):
        x, W = spread((2, 4) + shape), spread((6, 2) + (size,) * n, seed=1)
        for name, run in (('convolution', 'conv'), ('deconvolution', 'conv_transpose')):
            f = getattr(F, '%s%dd' % (run, n))
            weights = W if run == 'conv' else spread((4, 3) + (size,) * n, seed=1)
            writer.add('%s_%dd' % (name, n), lambda x, W, b, f=f: f(x, W, b, 2, 1, groups=2),
                       dict(x=x, W=weights, b=spread(6, seed=2)))
        for name, run in (('max_pooling_%dd' % n, 'max_pool%dd' % n), ('average_pooling_%dd' % n, 'avg_pool%dd' % n)):
            writer.add(name, lambda x, f=getattr(F, run): f(x, 2, 1, 1), dict(x=x))
