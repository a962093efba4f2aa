"""Transforms of images: torchvision's functions for tensors, with given parameters."""
import numpy as np
import torch
import torchvision.transforms.v2 as T
import torchvision.transforms.v2.functional as F
from torchvision.utils import make_grid

from make_torch_fixture import spread

EXACT = dict(float32=[0, 0])
ROUNDED = dict(float32=[1, 0])  # bytes of smooth modes, where the arithmetic decides between two roundings of k + 1/2
CLOSE = dict(float32=[2e-6, 2e-6])


def bytes_of(shape, seed=0):
    return np.random.RandomState(seed + 7).randint(0, 256, shape).astype('u1')


def cases(writer):
    images = dict(bytes=bytes_of((3, 5, 6)), floats=spread((3, 5, 6), 0, 1), grey=bytes_of((1, 4, 7)),
                  several=bytes_of((2, 3, 4, 5)), square=bytes_of((3, 4, 4)))

    def add(function, run, which, exact=True, **args):
        for name in which.split():
            # float64 in, so that the results are those of exact arithmetic; bytes stay bytes
            tolerance = CLOSE if not exact or images[name].dtype != np.uint8 else \
                ROUNDED if args.get('mode', '').startswith('bi') or function == 'resized_crop' else EXACT
            writer.add(function, run, dict(x=images[name]), args, ('float32',), tolerance=tolerance, gradient=False,
                       notes=name)

    both = 'bytes floats'
    add('crop', F.crop, both + ' several', top=1, left=2, height=3, width=2)
    for size in ((3, 3), (2, 5), (4, 4)):
        add('center_crop', lambda x, size: F.center_crop(x, list(size)), both, size=size)
    for mode in ('constant', 'edge', 'reflect', 'symmetric'):
        add('pad', lambda x, padding, fill, mode: F.pad(x, list(padding), fill, mode), both, padding=(1, 2, 3, 2),
            fill=0, mode=mode)
    add('pad', lambda x, padding, fill, mode: F.pad(x, list(padding), fill, mode), 'bytes', padding=(0, 1, 2, 0),
        fill=9, mode='constant')
    add('horizontal_flip', F.horizontal_flip, both + ' several')
    add('vertical_flip', F.vertical_flip, both + ' grey')

    def resize(x, size, mode, antialias):
        modes = dict(nearest='nearest', bilinear='bilinear', bicubic='bicubic')
        modes['nearest-exact'] = 'nearest-exact'
        # in floating point, whatever integer arithmetic this machine has for bytes
        y = F.resize(x.double(), list(size), T.InterpolationMode(modes[mode]), antialias=antialias)
        return y.round().clamp(0, 255).byte() if x.dtype == torch.uint8 else y

    for mode in ('nearest', 'nearest-exact', 'bilinear', 'bicubic'):
        for size in ((3, 4), (8, 9), (3,)):
            for antialias in ((True, False) if mode.startswith('bi') else (True,)):
                add('resize', resize, both, size=size, mode=mode, antialias=antialias)
    add('resize', resize, 'grey several', size=(7,), mode='bilinear', antialias=True)
    add('resized_crop', lambda x, top, left, height, width, size:
        resize(F.crop(x, top, left, height, width), size, 'bilinear', True), both, top=1, left=0, height=4, width=3,
        size=(2, 5))

    def rotate(x, angle, mode, fill, center):
        y = F.rotate(x.double(), angle, T.InterpolationMode(mode), False, center and list(center), fill)
        return y.round().clamp(0, 255).byte() if x.dtype == torch.uint8 else y

    for angle in (90, 180, -90):  # of other sizes, points lie in the middle between pixels
        add('rotate', rotate, 'square', angle=angle, mode='nearest', fill=0, center=None)
        add('rotate', rotate, both, angle=angle, mode='bilinear', fill=None, center=None)
    for angle in (0, 30, -75, 200):
        add('rotate', rotate, both + ' grey', angle=angle, mode='nearest', fill=0, center=None)
        add('rotate', rotate, both, angle=angle, mode='bilinear', fill=None, center=None)
    add('rotate', rotate, both, angle=30, mode='nearest', fill=0.5, center=(1, 2))
    add('rotate', rotate, 'bytes', angle=30, mode='nearest', fill=77, center=None)
    add('erase', lambda x, top, left, height, width, value: F.erase(x, top, left, height, width, torch.tensor(value)),
        both, top=1, left=2, height=3, width=4, value=1)

    for factor in (0, 0.375, 1, 1.75):  # the products of bytes are exact
        for function in ('adjust_brightness', 'adjust_contrast', 'adjust_saturation'):
            add(function, lambda x, factor, f=getattr(F, function): f(x, factor), both + ' grey several', factor=factor)
    for turns in (-0.5, -0.2, 0, 0.1, 0.37):
        add('adjust_hue', lambda x, turns: F.adjust_hue(x, turns), both + ' grey several', turns=turns)
    for channels in (1, 3):
        add('rgb_to_grayscale', lambda x, channels: F.rgb_to_grayscale(x, channels), both + ' grey several',
            channels=channels)
    add('normalize', lambda x, mean, std: F.normalize(x, list(mean), list(std)), 'floats', mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225))
    add('to_float', lambda x: F.to_dtype(x, torch.float64, scale=True), both, exact=False)

    batch = spread((3, 2, 4, 5), 0, 1)
    writer.add('mixup', lambda x, ratio: x.roll(1, 0) * (1 - ratio) + x * ratio, dict(x=batch), dict(ratio=0.3),
               ('float32', 'float64'), gradient=False)
    grids = dict(columns=2, padding=2, fill=0.5)
    for shape in ((5, 3, 2, 3), (2, 3, 4, 2), (4, 1, 2, 2)):
        def grid(x, columns, padding, fill):
            return make_grid(x, columns, padding, pad_value=fill)[:x.shape[1]]  # it repeats a single channel

        writer.add('image_grid', grid, dict(x=spread(shape, 0, 1)), grids, ('float32',), gradient=False)
