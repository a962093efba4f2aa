"""Losses."""
import functools

import numpy as np
import torch
import torch.nn.functional as F

from make_torch_fixture import spread

LABELS = np.array([2, 0, -1, 1], dtype='i4')
PIXELS = np.array([[2, 0, -1], [1, 1, 2]], dtype='i4')
SIGNS = np.array([1., -1., -1., 1.])
REDUCE = ('mean', 'sum', 'no')


def torch_name(reduce):
    return 'none' if reduce == 'no' else reduce


def simple(function, **fixed):
    """Passes reduce, and the other arguments as they are."""
    return lambda *x, reduce, **args: function(*x, reduction=torch_name(reduce), **fixed, **args)


def binary(writer):
    logits, targets = spread((4, 3), -4, 4), spread((4, 3), 0, 1, 1)
    weight, pos = spread((4, 3), 0.5, 2, 2), spread((3,), 0.5, 3, 3)
    for reduce in REDUCE:
        writer.add('binary_cross_entropy_with_logits',
                   lambda x, t, w, p, reduce: F.binary_cross_entropy_with_logits(x, t, w, reduction=torch_name(reduce),
                                                                                 pos_weight=p),
                   {'x': logits, 't': targets, 'weight': weight, 'pos_weight': pos}, dict(reduce=reduce),
                   constants=('weight', 'pos_weight'))
    writer.add('binary_cross_entropy_with_logits', simple(F.binary_cross_entropy_with_logits),
               {'x': np.array([-200., 300., 0., -1.]), 't': np.array([0., 1., 1., 0.25])}, dict(reduce='no'))
    for reduce in REDUCE:
        writer.add('binary_cross_entropy', simple(F.binary_cross_entropy),
                   {'x': spread((4, 3), 0.05, 0.95), 't': targets}, dict(reduce=reduce))

    def focal(x, t, reduce, gamma, alpha):
        p, ce = torch.sigmoid(x), F.binary_cross_entropy_with_logits(x, t, reduction='none')
        loss = ce * (1 - (p * t + (1 - p) * (1 - t))) ** gamma
        loss = loss * (alpha * t + (1 - alpha) * (1 - t)) if alpha >= 0 else loss
        return loss if reduce == 'no' else getattr(loss, reduce)()
    ones = (targets > 0.5).astype('f8')
    for args in (dict(reduce='no', gamma=2., alpha=0.25), dict(reduce='mean', gamma=1.5, alpha=-1.),
                 dict(reduce='sum', gamma=0., alpha=0.75)):
        writer.add('focal_loss', focal, {'x': logits, 't': ones}, args)
    writer.add('focal_loss', focal, {'x': logits, 't': targets}, dict(reduce='no', gamma=2., alpha=0.25))


def classes(writer):
    scores, pixels, weight = spread((4, 3), -3, 3), spread((2, 3, 3), -3, 3, 1), spread((3,), 0.5, 2, 2)
    for reduce in REDUCE:
        for x, t in ((scores, LABELS), (pixels, PIXELS)):
            writer.add('nll_loss', lambda x, t, w, reduce: F.nll_loss(x, t.long(), w, ignore_index=-1,
                                                                      reduction=torch_name(reduce)),
                       {'x': x, 't': t, 'class_weight': weight}, dict(reduce=reduce), constants=('class_weight',))
            writer.add('softmax_cross_entropy',
                       lambda x, t, w, reduce, label_smoothing: F.cross_entropy(
                           x, t.long(), w, ignore_index=-1, reduction=torch_name(reduce), label_smoothing=label_smoothing),
                       {'x': x, 't': t, 'class_weight': weight}, dict(reduce=reduce, label_smoothing=0.1),
                       constants=('class_weight',))
            writer.add('softmax_cross_entropy',
                       lambda x, t, reduce, label_smoothing: F.cross_entropy(
                           x, t.long(), ignore_index=-1, reduction=torch_name(reduce), label_smoothing=label_smoothing),
                       {'x': x, 't': t}, dict(reduce=reduce, label_smoothing=0.1))
        soft = np.abs(spread(pixels.shape, 0, 1, 3))
        writer.add('softmax_cross_entropy',
                   lambda x, t, w, reduce, label_smoothing: F.cross_entropy(
                       x, t, w, reduction=torch_name(reduce), label_smoothing=label_smoothing),
                   {'x': pixels, 't': soft, 'class_weight': weight}, dict(reduce=reduce, label_smoothing=0.2),
                   constants=('class_weight',))
    writer.add('linear_cross_entropy',
               lambda x, W, b, t: F.cross_entropy(F.linear(x, W, b), t.long(), ignore_index=-1),
               {'x': spread((4, 2)), 'W': spread((5, 2), -1, 1, 4), 'b': spread((5,), -1, 1, 5), 't': LABELS})

    def softmax_focal(x, t, w, reduce, gamma):
        known = t >= 0
        log_p = F.log_softmax(x, 1).gather(1, t.long().clamp(min=0).unsqueeze(1)).squeeze(1)
        loss = torch.where(known, -w[t.long().clamp(min=0)] * (1 - log_p.exp()) ** gamma * log_p, torch.zeros_like(log_p))
        return loss if reduce == 'no' else loss.sum() / (known.sum() if reduce == 'mean' else 1)
    for x, t, args in ((scores, LABELS, dict(reduce='mean', gamma=2.)), (pixels, PIXELS, dict(reduce='no', gamma=1.5)),
                       (scores, LABELS, dict(reduce='sum', gamma=0.))):
        writer.add('softmax_focal_loss', softmax_focal, {'x': x, 't': t, 'class_weight': weight}, args,
                   constants=('class_weight',))


def distributions(writer):
    log_q, p = np.log(spread((4, 3), 0.1, 1)), spread((4, 3), 0.1, 1, 1)
    for reduce in ('mean', 'sum', 'no', 'batchmean'):
        writer.add('kl_div', simple(F.kl_div), {'x': log_q, 't': p}, dict(reduce=reduce))
        writer.add('kl_div', simple(F.kl_div), {'x': log_q, 't': np.log(p)}, dict(reduce=reduce, log_target=True))
    zero = p.copy()
    zero[:, 1] = 0
    writer.add('kl_div', simple(F.kl_div), {'x': log_q, 't': zero}, dict(reduce='no'), gradient=False)
    counts = np.array([[0., 1., 2., 5.], [3., 0., 1., 9.]])
    rate = spread((2, 4), 0.5, 3, 2)
    # Stirling's approximation begins above 1.
    for args, t in ((dict(reduce='mean', log_input=True, full=False), counts),
                    (dict(reduce='sum', log_input=False, full=False), counts),
                    (dict(reduce='no', log_input=True, full=True), counts + 0.25)):
        writer.add('poisson_nll', simple(F.poisson_nll_loss), {'x': rate, 't': t}, args)
    for args in (dict(reduce='mean', full=False), dict(reduce='no', full=True), dict(reduce='sum', full=False)):
        writer.add('gaussian_nll_loss',
                   lambda x, t, v, reduce, full: F.gaussian_nll_loss(x, t, v, full, reduction=torch_name(reduce)),
                   {'x': spread((3, 2)), 't': spread((3, 2), seed=1), 'var': spread((3, 2), 0.2, 2, 2)}, args)


def distances(writer):
    x, y, z = spread((4, 3)), spread((4, 3), seed=1), spread((4, 3), seed=2)
    for axis in (0, 1, -1):
        writer.add('cosine_similarity', lambda x, y, axis: F.cosine_similarity(x, y, dim=axis), {'x': x, 'y': y},
                   dict(axis=axis))
    writer.add('cosine_similarity', lambda x, y, axis: F.cosine_similarity(x, y, dim=axis),
               {'x': spread((4, 1, 3)), 'y': spread((2, 3), seed=1)}, dict(axis=-1))
    for p in (1., 2., 3.5, float('inf')):
        writer.add('pairwise_distance', lambda x, y, p, keepdims: F.pairwise_distance(x, y, float(p), keepdim=keepdims),
                   {'x': x, 'y': y}, dict(p='inf' if p > 9 else p, keepdims=p == 2))
    for reduce in REDUCE:
        writer.add('mean_squared_error', simple(F.mse_loss), {'x': x, 'y': y}, dict(reduce=reduce))
        writer.add('mean_absolute_error', simple(F.l1_loss), {'x': x, 'y': y}, dict(reduce=reduce))
        for beta in (1., 0.5, 0.):
            writer.add('smooth_l1', simple(F.smooth_l1_loss), {'x': x, 'y': y}, dict(reduce=reduce, beta=beta))
        writer.add('margin_ranking_loss', simple(F.margin_ranking_loss), {'x': x[:, 0], 'y': y[:, 0], 't': SIGNS},
                   dict(reduce=reduce, margin=0.3), constants=('t',))
        writer.add('cosine_embedding_loss', simple(F.cosine_embedding_loss), {'x': x, 'y': y, 't': SIGNS},
                   dict(reduce=reduce, margin=-0.2), constants=('t',))
        writer.add('hinge_embedding_loss', simple(F.hinge_embedding_loss), {'x': x[:, 0], 't': SIGNS},
                   dict(reduce=reduce, margin=0.8), constants=('t',))
        writer.add('soft_margin_loss', simple(F.soft_margin_loss), {'x': x[:, 0], 't': SIGNS}, dict(reduce=reduce),
                   constants=('t',))
        for p, swap in ((2., False), (1., True), (3., True)):
            writer.add('triplet_margin_loss', simple(F.triplet_margin_loss), {'x': x, 'y': y, 'z': z},
                       dict(reduce=reduce, margin=0.7, p=p, swap=swap))

    def info_nce(q, k, temperature):
        scores = F.normalize(q) @ F.normalize(k).T / temperature
        return F.cross_entropy(scores, torch.arange(len(q)))
    writer.add('info_nce', info_nce, {'x': x, 'y': y}, dict(temperature=0.5))


def margins(writer):
    scores, weight = spread((4, 3)), spread((3,), 0.5, 2, 2)
    labels = np.array([2, 0, 2, 1], dtype='i4')
    several = np.array([[2, 0, -1], [1, -1, 0], [-1, 1, 2], [0, 1, 2]], dtype='i4')
    for reduce in REDUCE:
        for p in (1, 2):
            writer.add('multi_margin_loss',
                       lambda x, t, w, reduce, p, margin: F.multi_margin_loss(x, t.long(), p, margin, w,
                                                                              reduction=torch_name(reduce)),
                       {'x': scores, 't': labels, 'class_weight': weight}, dict(reduce=reduce, p=p, margin=0.9),
                       constants=('class_weight',))
        writer.add('multilabel_margin_loss',
                   lambda x, t, reduce: F.multilabel_margin_loss(x, t.long(), reduction=torch_name(reduce)),
                   {'x': scores, 't': several}, dict(reduce=reduce))
        writer.add('multilabel_soft_margin_loss',
                   lambda x, t, w, reduce: F.multilabel_soft_margin_loss(x, t, w, reduction=torch_name(reduce)),
                   {'x': scores, 't': (spread((4, 3), seed=3) > 0).astype('f8'), 'class_weight': weight},
                   dict(reduce=reduce), constants=('class_weight',))


def cases(writer):
    # Values of float32 are compared with those of float64 in C++.
    writer.add = functools.partial(writer.add, dtypes=('float64',))
    binary(writer)
    classes(writer)
    distributions(writer)
    distances(writer)
    margins(writer)
    # Scores (T, B, V); labels one after the other.
    for reduce in REDUCE:
        writer.add('ctc_loss',
                   lambda x, t, n, m, reduce: F.ctc_loss(F.log_softmax(x, 2), t.long(), n.long(), m.long(), blank=0,
                                                         reduction=torch_name(reduce)),
                   {'x': spread((5, 3, 4)), 't': np.array([1, 2, 3, 3, 2], dtype='i4'),
                    'input_length': np.array([5, 4, 5], dtype='i4'), 'label_length': np.array([2, 1, 2], dtype='i4')},
                   dict(reduce=reduce))
    # Log-probabilities (T, B, V), labels in rows.
    for reduce in REDUCE:
        writer.add('ctc_loss_of_log_probabilities',
                   lambda x, t, n, m, reduce: F.ctc_loss(F.log_softmax(x, 2), t.long(), n.long(), m.long(), blank=1,
                                                         reduction=torch_name(reduce), zero_infinity=True),
                   {'x': spread((5, 3, 4)), 't': np.array([[2, 3], [3, 0], [2, 2]], dtype='i4'),
                    'input_length': np.array([5, 4, 2], dtype='i4'), 'label_length': np.array([2, 1, 2], dtype='i4')},
                   dict(reduce=reduce))
