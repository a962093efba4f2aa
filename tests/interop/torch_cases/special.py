"""Special functions, and elementwise functions that the reference lacks."""
import numpy as np
import torch

from make_torch_fixture import spread

S = torch.special


def cases(writer):
    rows = dict(erf=(S.erf, -3, 3), erfc=(S.erfc, -3, 6), erfinv=(S.erfinv, -.99, .99), ndtr=(S.ndtr, -6, 4),
                log_ndtr=(S.log_ndtr, -40, 4), ndtri=(S.ndtri, .01, .99), lgamma=(S.gammaln, .1, 9),
                digamma=(S.digamma, -3.6, 9), logit=(S.logit, .05, .95), expit=(S.expit, -5, 5),
                log_expit=(torch.nn.functional.logsigmoid, -40, 40), sinc=(S.sinc, -2.4, 2.4), entr=(S.entr, .1, 3),
                arccosh=(torch.arccosh, 1.2, 5), arctanh=(torch.arctanh, -.9, .9), exp2=(torch.exp2, -3, 3))
    for name, (function, low, high) in rows.items():
        writer.add(name, function, {'x': spread((12,), low, high, 1)}, dtypes=('float64',))
    writer.add('lgamma', S.gammaln, {'x': np.array([-.5, -1.25, -3.75])}, dtypes=('float64',))
    for n in (0, 1, 2, 4):
        writer.add('polygamma', lambda x, n: S.polygamma(n, x), {'x': spread((6,), .4, 6, 2)}, dict(n=n), ('float64',))
    two = dict(arctan2=torch.arctan2, hypot=torch.hypot, logaddexp=torch.logaddexp, logaddexp2=torch.logaddexp2)
    for name, function in two.items():
        writer.add(name, function, {'a': spread((3, 4), -3, 3, 3), 'b': spread((4,), -3, 3, 4)}, dtypes=('float64',))
    for name, function in dict(xlogy=S.xlogy, xlog1py=S.xlog1py).items():
        writer.add(name, function, {'x': np.array([0., 0.5, 2., -1., 0.]), 'y': np.array([0.5, 1.5, .25, 2., 3.])},
                   dtypes=('float64',))
