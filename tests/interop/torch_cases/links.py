"""Layers of later versions of Chainer, by their formulas."""
import torch
import torch.nn.functional as F

from make_torch_fixture import spread


def tree_cell(aio, fs, cs):
    a, i, o = aio.chunk(3, 1)
    c = torch.tanh(a) * torch.sigmoid(i)
    for f, child in zip(fs, cs):
        c = c + torch.sigmoid(f) * child
    return c, torch.sigmoid(o) * torch.tanh(c)


def child_sum(x, W_x, b_x, *rest):
    units = W_x.shape[0] // 4
    from_x = x @ W_x.T + b_x
    aio = from_x[:, :3 * units]
    if not rest:  # a leaf
        return tree_cell(aio, [], [])
    W_aio, W_f, *states = rest
    n = len(states) // 2
    cs, hs = states[:n], states[n:]
    aio = aio + sum(hs) @ W_aio.T
    return tree_cell(aio, [from_x[:, 3 * units:] + h @ W_f.T for h in hs], cs)


def n_ary(x, W_x, b_x, W1, W2, c1, c2, h1, h2):
    gates = x @ W_x.T + b_x + h1 @ W1.T + h2 @ W2.T
    units = h1.shape[1]
    return tree_cell(gates[:, :3 * units], [gates[:, 3 * units:4 * units], gates[:, 4 * units:]], [c1, c2])


def mgu(h, x, W_f, b_f, W_h, b_h):
    f = torch.sigmoid(torch.cat([h, x], 1) @ W_f.T + b_f)
    a = torch.tanh(torch.cat([f * h, x], 1) @ W_h.T + b_h)
    return f * a + (1 - f) * h


def local_convolution(x, W, b, stride):
    out, oh, ow, _, kh, kw = W.shape
    rows = []
    for i in range(oh):
        for j in range(ow):
            patch = x[:, :, i * stride:i * stride + kh, j * stride:j * stride + kw]
            rows.append(torch.einsum('nchw,ochw->no', patch, W[:, i, j]))
    return torch.stack(rows, 2).reshape(x.shape[0], out, oh, ow) + b


def separable(x, Wd, bd, Wp, bp, stride, pad, multiplier):
    # Output channel i multiplier + j of the first convolution is filter (j, i).
    filters = Wd.transpose(0, 1).reshape(-1, 1, *Wd.shape[2:])
    y = F.conv2d(x, filters, bd, stride, pad, groups=x.shape[1])
    return F.conv2d(y, Wp, bp)


def decorrelated(x, groups, eps):
    n, c = x.shape[:2]
    outputs = []
    for part in x.reshape(n, groups, c // groups, -1).unbind(1):
        flat = part.transpose(0, 1).reshape(c // groups, -1)
        centered = flat - flat.mean(1, keepdim=True)
        cov = centered @ centered.T / flat.shape[1] + eps * torch.eye(c // groups, dtype=x.dtype)
        values, vectors = torch.linalg.eigh(cov)
        white = vectors @ torch.diag(values ** -0.5) @ vectors.T @ centered
        outputs.append(white.reshape(c // groups, n, -1).transpose(0, 1))
    return torch.stack(outputs, 1).reshape(x.shape)


def normalized_over(x, gamma, beta, axis, eps):
    mean = x.mean(axis, keepdim=True)
    var = ((x - mean) ** 2).mean(axis, keepdim=True)
    shape = [1 if k in axis else n for k, n in enumerate(x.shape)]
    return (x - mean) / torch.sqrt(var + eps) * gamma.reshape(shape) + beta.reshape(shape)


def cases(writer):
    units = 3
    x = spread((2, 4))
    weights = dict(W_x=spread((4 * units, 4), seed=1), b_x=spread((4 * units,), seed=2),
                   W_aio=spread((3 * units, units), seed=3), W_f=spread((units, units), seed=4))
    states = {name: spread((2, units), seed=10 + k) for k, name in enumerate(['c1', 'c2', 'c3', 'h1', 'h2', 'h3'])}
    for n in (0, 1, 3):
        chosen = {k: v for k, v in states.items() if int(k[1]) <= n}
        writer.add('child_sum_tree_lstm', lambda *a, **_: child_sum(*a), dict(x=x, **{k: v for k, v in weights.items() if n or k in ('W_x', 'b_x')}, **chosen),
                   dict(children=n), dtypes=('float64',))
    pair = {k: v for k, v in states.items() if int(k[1]) <= 2}
    writer.add('n_ary_tree_lstm', n_ary, dict(x=x, W_x=spread((5 * units, 4), seed=1), b_x=spread((5 * units,), seed=2),
                                             W1=spread((5 * units, units), seed=3), W2=spread((5 * units, units), seed=4),
                                             **pair), dtypes=('float64',))
    writer.add('mgu', mgu, dict(h=spread((2, 3), seed=1), x=x, W_f=spread((3, 7), seed=2), b_f=spread((3,), seed=3),
                                W_h=spread((3, 7), seed=4), b_h=spread((3,), seed=5)), dtypes=('float64',))
    image = spread((2, 2, 5, 4))
    for stride, oh, ow in ((1, 4, 2), (2, 2, 1)):
        writer.add('local_convolution_2d', local_convolution,
                   dict(x=image, W=spread((3, oh, ow, 2, 2, 3), seed=1), b=spread((3, oh, ow), seed=2)),
                   dict(stride=stride), dtypes=('float64',))
    for stride, pad, multiplier in ((1, 0, 1), (2, 1, 2)):
        writer.add('depthwise_separable_convolution_2d', separable,
                   dict(x=image, Wd=spread((multiplier, 2, 3, 2), seed=1), bd=spread((2 * multiplier,), seed=2),
                        Wp=spread((3, 2 * multiplier, 1, 1), seed=3), bp=spread((3,), seed=4)),
                   dict(stride=stride, pad=pad, multiplier=multiplier), dtypes=('float64',))
    for shape, groups in (((5, 4), 1), ((3, 6, 2, 2), 2)):
        for eps in (2e-5, 0.1):
            writer.add('decorrelated_batch_normalization', decorrelated, dict(x=spread(shape)),
                       dict(groups=groups, eps=eps), dtypes=('float64',))
    for axis in ([0, 1], [1], [0, 2]):
        shape = (3, 4, 2)
        kept = tuple(n for k, n in enumerate(shape) if k not in axis)
        writer.add('batch_normalization_axis', normalized_over,
                   dict(x=spread(shape), gamma=spread(kept, seed=1), beta=spread(kept, seed=2)),
                   dict(axis=axis, eps=2e-5), dtypes=('float64',))
