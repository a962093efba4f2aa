"""Layers with attention, with weights that are inputs beside x."""
import zlib

import numpy as np
import torch
from torch import nn

from make_torch_fixture import spread


def weights_of(module):
    return {name: spread(tuple(p.shape), -0.6, 0.6, zlib.crc32(name.encode()) % 1000) + ('norm' in name and 'weight' in name)
            for name, p in module.named_parameters()}


def cases(writer):
    def add(function, module, inputs, call, **args):
        weights = weights_of(module)
        names = list(inputs)

        def run(*tensors, **_):
            given = dict(zip(names, tensors))
            parameters = dict(zip(weights, tensors[len(names):]))
            return call(lambda *a, **k: torch.func.functional_call(module, parameters, a, k), **given)

        writer.add(function, run, dict(inputs, **weights), args, dtypes=('float64',), constants=tuple(weights))

    x, memory = spread((2, 4, 6)), spread((2, 3, 6), seed=1)
    seen = np.tril(np.ones((4, 4), bool))
    padding = np.array([[False, False, True], [False, False, False]])
    f8 = dict(dtype=torch.float64)
    mha = nn.MultiheadAttention(6, 3, batch_first=True, **f8)
    add('mha', mha, dict(x=x, mask=seen), lambda f, x, mask: f(x, x, x, attn_mask=~mask, need_weights=False)[0])
    add('mha', mha, dict(x=x, memory=memory, padding=padding),
        lambda f, x, memory, padding: f(x, memory, memory, key_padding_mask=padding, need_weights=False)[0])
    other = nn.MultiheadAttention(6, 2, kdim=5, vdim=3, bias=False, batch_first=True, **f8)
    add('mha', other, dict(x=x, memory=spread((2, 3, 5), seed=2), value=spread((2, 3, 3), seed=3)),
        lambda f, x, memory, value: f(x, memory, value, need_weights=False)[0], heads=2)
    for first in (False, True):
        options = dict(dim_feedforward=5, dropout=0., norm_first=first, batch_first=True, **f8)
        add('encoder_layer', nn.TransformerEncoderLayer(6, 3, **options), dict(x=x, mask=seen),
            lambda f, x, mask: f(x, src_mask=~mask), norm_first=first)
        add('decoder_layer', nn.TransformerDecoderLayer(6, 3, **options),
            dict(x=x, memory=memory, mask=seen, padding=padding),
            lambda f, x, memory, mask, padding: f(x, memory, tgt_mask=~mask, memory_key_padding_mask=padding),
            norm_first=first)

    # Outputs and weights; these averaged over the heads, or those of every head.
    def both(f, q, k, v, average, **masks):
        return f(q, k, v, average_attn_weights=average, **masks)

    for average in (True, False):
        add('mha_weights', mha, dict(x=x, mask=~seen),
            lambda f, x, mask, average=average: both(f, x, x, x, average, attn_mask=mask), average=average)
        add('mha_weights', mha, dict(x=x, memory=memory, padding=padding),
            lambda f, x, memory, padding, average=average: both(f, x, memory, memory, average, key_padding_mask=padding),
            average=average)
    add('mha_weights', other, dict(x=x, memory=spread((2, 3, 5), seed=2), value=spread((2, 3, 3), seed=3),
                                   mask=spread((4, 4, 3), seed=4)),
        lambda f, x, memory, value, mask: both(f, x, memory, value, True, attn_mask=mask), heads=2, average=True)
    turned = nn.MultiheadAttention(6, 3, **f8)
    add('mha_weights', turned, dict(x=spread((4, 2, 6))), lambda f, x: both(f, x, x, x, True), batch_first=False, average=True)
