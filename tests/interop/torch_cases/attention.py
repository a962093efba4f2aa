"""Attention: the function with all its options, and the layers with PyTorch's weights."""
import numpy as np
import torch
import torch.nn.functional as F

from make_torch_fixture import spread


def banded(Lq, Lk, window, causal, offset):
    i, j = np.arange(Lq)[:, None] + offset, np.arange(Lk)[None, :]
    seen = np.abs(i - j) < window if window else np.full((Lq, Lk), True)
    return torch.tensor(seen & (j <= i) if causal else seen)


def attention(q, k, v, mask=None, causal=False, scale=None, window=0, offset=0, gqa=False):
    if window or offset:
        mask, causal = banded(q.shape[-2], k.shape[-2], window, causal, offset), False
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=gqa)


def cases(writer):
    q, k, v = spread((2, 4, 5, 3)), spread((2, 4, 6, 3), seed=1), spread((2, 4, 6, 2), seed=2)
    seen = spread((2, 1, 5, 6), seed=3) > -0.5
    seen[0, 0, 2] = False
    few = dict(k=k[:, :2], v=v[:, :2])

    def add(q, k, v, mask=None, dtypes=('float64',), **args):
        inputs = dict(q=q, k=k, v=v, **({} if mask is None else dict(mask=mask)))
        writer.add('attention', attention, inputs, args, dtypes=dtypes)

    add(q, k, v, dtypes=('float64', 'float32', 'float16'))
    add(q, k, v, causal=True)
    add(q[:, :, :3], k, v, causal=True, scale=0.7)
    add(spread((7, 3)), spread((4, 3), seed=1), spread((4, 2), seed=2), causal=True)
    add(q, k, v, mask=seen)
    add(q, k, v, mask=spread((4, 1, 6), seed=4))
    add(q, gqa=True, **few)
    add(q, mask=seen, gqa=True, **few)
    add(q, k, v, window=2)
    add(q, k, v, window=3, causal=True, offset=1)
    add(q[:1], k[:, :1], v[:, :1])
