"""Symmetric quantization of weights for each channel by torch.ao, and layers with the rounded weights."""
import torch
import torch.nn.functional as F
from torch.ao.quantization import PerChannelMinMaxObserver

from make_torch_fixture import spread


# In float16 the products of a scale and a value are rounded to the dtype of x; some hundred such weights of about 1 are added up.
ROUNDED = dict(float32=[1e-5, 1e-4], float16=[1e-2, 5e-3])


def quantized(w, axis):
    w = w.float()
    observer = PerChannelMinMaxObserver(ch_axis=axis, dtype=torch.qint8, qscheme=torch.per_channel_symmetric)
    observer(w)
    scale, zero_point = observer.calculate_qparams()
    return torch.quantize_per_channel(w, scale, zero_point, axis, torch.qint8)


def parts(w, axis):
    q = quantized(w, axis)
    return q.int_repr(), q.q_per_channel_scales(), q.dequantize()


def layer(function):
    return lambda x, W, b: function(x, quantized(W, 0).dequantize().double(), b)


def cases(writer):
    for shape, axis in (((5, 7), 0), ((5, 7), 1), ((4, 3, 2, 3), 0), ((1, 300), 0), ((3, 2, 4), 2)):
        writer.add('quantize_per_channel', parts, {'w': spread(shape, seed=3)}, dict(axis=axis), dtypes=('float32',),
                   gradient=False)
    for function, f, x, W in (
            ('linear', F.linear, (3, 70), (5, 70)), ('linear', F.linear, (1, 130), (9, 130)),
            ('convolution_1d', F.conv1d, (2, 3, 9), (4, 3, 3)),
            ('convolution_2d', F.conv2d, (2, 3, 6, 7), (4, 3, 2, 3)),
            ('convolution_3d', F.conv3d, (2, 2, 4, 5, 4), (3, 2, 2, 2, 2))):
        writer.add(function, layer(f), {'x': spread(x), 'W': spread(W, seed=1), 'b': spread(W[:1], seed=2)},
                   dtypes=('float32', 'float16'), gradient=False, tolerance=ROUNDED)
