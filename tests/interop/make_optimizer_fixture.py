"""Writes tests/golden/torch_optimizers.{json,npz}, parameters after each of 50 steps of optimizers that Chainer 1.24 lacks,
torch_param_groups.{json,npz}, the same with parameter groups, torch_lbfgs.{json,npz}, losses and parameters after updates of
PyTorch's LBFGS, and torch_clipping.json, gradients before and after clipping.

    python make_optimizer_fixture.py

Needs PyTorch 2.9 or newer, and NumPy. Optimizers that PyTorch has are run there, in float64; of the others, the formulas of
the papers are written out below. The format is that of tests/golden/optimizers.json; tests/training/optimizer_test.cpp reads
it.
"""
import json
import math
import os

import numpy as np
import torch

STEPS = 50
SHAPES = dict(W=(5, 3), b=(4,), s=())


def torch_trajectory(params, grads, make):
    tensors = {k: torch.nn.Parameter(torch.tensor(v)) for k, v in params.items()}
    optimizers = make(list(tensors.values()))
    steps = {k: [] for k in params}
    for t in range(STEPS):
        for k, v in tensors.items():
            v.grad = torch.tensor(grads[k][t])
        for optimizer in optimizers:
            optimizer.step()
        for k, v in tensors.items():
            steps[k].append(v.detach().numpy().copy())
    return {k: np.array(v) for k, v in steps.items()}


def formula_trajectory(params, grads, step):
    """step(p, g, t, state) returns the new parameter; `state` is a dictionary of its own for each parameter."""
    result = {}
    for k, p in params.items():
        state, steps = dict(m=np.zeros_like(p), v=np.zeros_like(p), greatest=np.zeros_like(p)), []
        for t in range(1, STEPS + 1):
            p = step(p, grads[k][t - 1], t, state)
            steps.append(p)
        result[k] = np.array(steps)
    return result


def moments(state, g, beta1, beta2):
    state['m'] = beta1 * state['m'] + (1 - beta1) * g
    state['v'] = beta2 * state['v'] + (1 - beta2) * g * g
    state['greatest'] = np.maximum(state['greatest'], state['v'])


def chainer_adam(second, eta, decay, alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    def step(p, g, t, state):
        moments(state, g, beta1, beta2)
        lr = alpha * math.sqrt(1 - beta2 ** t) / (1 - beta1 ** t)
        return p - eta * (lr * state['m'] / (np.sqrt(state[second]) + eps) + decay * p)
    return step


def bound(second, alpha=0.001, beta1=0.9, beta2=0.999, final_lr=0.1, gamma=0.001, eps=1e-8, decay=0.0):
    def step(p, g, t, state):
        moments(state, g, beta1, beta2)
        lr = alpha * math.sqrt(1 - beta2 ** t) / (1 - beta1 ** t)
        rate = np.clip(lr / (np.sqrt(state[second]) + eps), final_lr * (1 - 1 / (gamma * t + 1)),
                       final_lr * (1 + 1 / (gamma * t)))
        return p - rate * state['m'] - decay * p
    return step


def lion(lr=1e-4, beta1=0.9, beta2=0.99, decay=0.0):
    def step(p, g, t, state):
        u = np.sign(beta1 * state['m'] + (1 - beta1) * g) + decay * p
        state['m'] = beta2 * state['m'] + (1 - beta2) * g
        return p - lr * u
    return step


def lamb(alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-6, decay=0.01):
    def step(p, g, t, state):
        moments(state, g, beta1, beta2)
        u = state['m'] / (1 - beta1 ** t) / (np.sqrt(state['v'] / (1 - beta2 ** t)) + eps) + decay * p
        n, k = np.sqrt((p * p).sum()), np.sqrt((u * u).sum())
        return p - alpha * (n / k if n > 0 and k > 0 else 1) * u
    return step


def msvag(lr=0.1, beta=0.9, eta=1.0, decay=0.0):
    def step(p, g, t, state):
        power = beta ** t
        rho = min((1 - beta) ** 2 * (1 - power ** 2) / ((1 - power) ** 2 * (1 - beta ** 2)), 0.9999)
        state['m'] = beta * state['m'] + (1 - beta) * g
        state['v'] = beta * state['v'] + (1 - beta) * g * g
        mean, square = state['m'] / (1 - power), state['v'] / (1 - power)
        variance = (square - mean ** 2) / (1 - rho)
        factor = np.nan_to_num(np.clip(mean ** 2 / (mean ** 2 + rho * variance), 0, 1))
        return p - eta * (lr * mean * factor + decay * p)
    return step


def muon(tensors, **options):
    matrices = [p for p in tensors if p.ndim == 2]
    return [torch.optim.Muon(matrices, lr=options.get('lr', 0.02), momentum=options.get('momentum', 0.95),
                             weight_decay=0.1, nesterov=options.get('nesterov', True)),
            torch.optim.AdamW([p for p in tensors if p.ndim != 2], lr=3e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)]


def cases():
    optim = torch.optim
    yield 'CorrectedMomentumSGD', {}, lambda p: [optim.SGD(p, lr=0.01, momentum=0.9)], None
    yield ('CorrectedMomentumSGD.nesterov', dict(lr=0.05, momentum=0.8),
           lambda p: [optim.SGD(p, lr=0.05, momentum=0.8, nesterov=True)], None)
    yield 'AdamW', {}, lambda p: [optim.AdamW(p)], None
    yield ('AdamW', dict(alpha=0.01, beta1=0.8, beta2=0.95, eps=1e-3, weight_decay_rate=0.1),
           lambda p: [optim.AdamW(p, lr=0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1)], None)
    yield 'AdamW.chainer', dict(weight_decay_rate=0.02, eta=0.5), None, chainer_adam('v', 0.5, 0.02)
    yield 'AMSGrad', {}, lambda p: [optim.AdamW(p, amsgrad=True, weight_decay=0)], None
    yield ('AMSGrad', dict(beta2=0.5, weight_decay_rate=0.1),
           lambda p: [optim.AdamW(p, betas=(0.9, 0.5), amsgrad=True, weight_decay=0.1)], None)
    yield 'AMSGrad.chainer', dict(beta2=0.5, weight_decay_rate=0.01), None, chainer_adam('greatest', 1, 0.01, beta2=0.5)
    yield 'AdaBound', {}, None, bound('v')
    yield ('AdaBound', dict(final_lr=0.01, gamma=0.1, weight_decay_rate=0.003), None,
           bound('v', final_lr=0.01, gamma=0.1, decay=0.003))
    yield 'AMSBound', dict(beta2=0.5, gamma=0.05), None, bound('greatest', beta2=0.5, gamma=0.05)
    yield 'RAdam', {}, lambda p: [optim.RAdam(p)], None
    yield ('RAdam', dict(alpha=0.02, beta2=0.9, weight_decay_rate=0.1),
           lambda p: [optim.RAdam(p, lr=0.02, betas=(0.9, 0.9), weight_decay=0.1, decoupled_weight_decay=True)], None)
    yield 'Adamax', {}, lambda p: [optim.Adamax(p)], None
    yield ('Adamax', dict(alpha=0.01, beta2=0.8),
           lambda p: [optim.Adamax(p, lr=0.01, betas=(0.9, 0.8))], None)
    yield 'Lion', {}, None, lion()
    yield 'Lion', dict(lr=0.003, beta1=0.8, weight_decay_rate=0.1), None, lion(0.003, 0.8, 0.99, 0.1)
    yield 'LAMB', {}, None, lamb()
    yield 'LAMB', dict(alpha=0.02, weight_decay_rate=0.1), None, lamb(alpha=0.02, decay=0.1)
    yield 'Adafactor', {}, lambda p: [optim.Adafactor(p)], None
    yield ('Adafactor', dict(lr=0.05, d=1.5, eps1=0.1, eps2=0.01, weight_decay_rate=0.1),
           lambda p: [optim.Adafactor(p, lr=0.05, d=1.5, eps=(0.1, 0.01), weight_decay=0.1)], None)
    yield 'Muon', {}, muon, None
    yield 'Muon.plain', dict(lr=0.1, momentum=0.5), lambda p: muon(p, lr=0.1, momentum=0.5, nesterov=False), None
    yield 'NAdam', {}, lambda p: [optim.NAdam(p)], None
    yield ('NAdam', dict(alpha=0.01, beta1=0.8, beta2=0.95, eps=1e-3, weight_decay=0.1, momentum_decay=0.1),
           lambda p: [optim.NAdam(p, lr=0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1, momentum_decay=0.1)], None)
    yield ('NAdam', dict(alpha=0.01, weight_decay_rate=0.1),
           lambda p: [optim.NAdam(p, lr=0.01, weight_decay=0.1, decoupled_weight_decay=True)], None)
    yield ('RMSprop.momentum', dict(alpha=0.9, momentum=0.8),
           lambda p: [optim.RMSprop(p, alpha=0.9, momentum=0.8)], None)
    yield ('RMSprop.centered_momentum', dict(lr=0.02, eps=1e-3, momentum=0.9),
           lambda p: [optim.RMSprop(p, lr=0.02, eps=1e-3, momentum=0.9, centered=True)], None)
    yield 'Adagrad', dict(lr=0.05, lr_decay=0.1), lambda p: [optim.Adagrad(p, lr=0.05, lr_decay=0.1)], None
    yield ('Adagrad.decayed', dict(lr=0.05),
           lambda p: [optim.Adagrad(p, lr=0.05, weight_decay=0.1, initial_accumulator_value=0.5, maximize=True)], None)
    yield 'Adadelta', {}, lambda p: [optim.Adadelta(p, lr=1.0)], None
    yield ('Adadelta', dict(lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1),
           lambda p: [optim.Adadelta(p, lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1)], None)
    yield 'Adadelta.maximize', {}, lambda p: [optim.Adadelta(p, lr=1.0, maximize=True)], None
    yield 'Rprop', {}, lambda p: [optim.Rprop(p)], None
    yield ('Rprop', dict(lr=0.02, eta_minus=0.4, eta_plus=1.5, step_min=0.005, step_max=0.1),
           lambda p: [optim.Rprop(p, lr=0.02, etas=(0.4, 1.5), step_sizes=(0.005, 0.1))], None)
    yield 'Rprop.maximize', {}, lambda p: [optim.Rprop(p, maximize=True)], None
    yield 'ASGD', {}, lambda p: [optim.ASGD(p)], None
    yield ('ASGD', dict(lr=0.05, lambd=0.01, alpha=0.5, t0=10, weight_decay=0.1),
           lambda p: [optim.ASGD(p, lr=0.05, lambd=0.01, alpha=0.5, t0=10, weight_decay=0.1)], None)
    yield 'ASGD.maximize', {}, lambda p: [optim.ASGD(p, maximize=True)], None
    yield ('SGD.dampening', dict(lr=0.05, weight_decay=0.1),
           lambda p: [optim.SGD(p, lr=0.05, momentum=0.8, dampening=0.3, weight_decay=0.1)], None)
    yield ('SGD.maximize', dict(lr=0.05, weight_decay=0.1),
           lambda p: [optim.SGD(p, lr=0.05, momentum=0.8, weight_decay=0.1, nesterov=True, maximize=True)], None)
    yield ('Adam.amsgrad', dict(alpha=0.01, beta2=0.5),
           lambda p: [optim.Adam(p, lr=0.01, betas=(0.9, 0.5), weight_decay=0.1, amsgrad=True)], None)
    yield ('Adam.maximize', dict(alpha=0.01),
           lambda p: [optim.Adam(p, lr=0.01, weight_decay=0.1, maximize=True)], None)
    yield ('AdamW.maximize', dict(alpha=0.01, weight_decay_rate=0.1),
           lambda p: [optim.AdamW(p, lr=0.01, weight_decay=0.1, maximize=True)], None)
    yield ('RMSprop.decayed', dict(lr=0.02),
           lambda p: [optim.RMSprop(p, lr=0.02, weight_decay=0.1, momentum=0.5, maximize=True)], None)
    yield 'RAdam.decayed', dict(alpha=0.02), lambda p: [optim.RAdam(p, lr=0.02, weight_decay=0.1, maximize=True)], None
    yield 'Adamax.decayed', dict(alpha=0.01), lambda p: [optim.Adamax(p, lr=0.01, weight_decay=0.1, maximize=True)], None
    yield ('NAdam.maximize', dict(alpha=0.01),
           lambda p: [optim.NAdam(p, lr=0.01, weight_decay=0.1, maximize=True)], None)


def group_cases():
    """Optimizer, its hyperparameters, the groups that are added to it ([pattern, hyperparameters], later ones win), the
    schedule, and what computes the steps: a function of {name: tensor} that makes PyTorch's optimizers, or {name: formula}."""
    optim = torch.optim

    def groups_of(optimizer, **options):
        return lambda p: [optimizer([dict(o, params=[p[k]]) for k, o in options.items()])]

    yield ('CorrectedMomentumSGD', dict(lr=0.05, momentum=0.8), [['/b', dict(lr=0.01)], ['/s', dict(lr=0.1, momentum=0.5)]], None,
           groups_of(optim.SGD, W=dict(lr=0.05, momentum=0.8), b=dict(lr=0.01, momentum=0.8), s=dict(lr=0.1, momentum=0.5)))
    yield ('AdamW', dict(alpha=0.01, weight_decay_rate=0.1),
           [['*/b', dict(weight_decay_rate=0)], ['s', dict(alpha=0.05, beta1=0.8)]], None,
           groups_of(optim.AdamW, W=dict(lr=0.01, weight_decay=0.1), b=dict(lr=0.01, weight_decay=0),
                     s=dict(lr=0.05, betas=(0.8, 0.999), weight_decay=0.1)))
    yield ('AdamW', dict(alpha=0.01), [['*', dict(weight_decay_rate=0.05)], ['/[bs]', dict(alpha=0.02)], ['/s', dict(alpha=0.001)]],
           None, groups_of(optim.AdamW, W=dict(lr=0.01, weight_decay=0.05), b=dict(lr=0.02, weight_decay=0.05),
                           s=dict(lr=0.001, weight_decay=0.05)))
    yield ('AdamW', dict(alpha=0.02, weight_decay_rate=0.1), [['/b', dict(alpha=0.005)], ['/s', dict(weight_decay_rate=0)]], 'cosine',
           groups_of(optim.AdamW, W=dict(lr=0.02, weight_decay=0.1), b=dict(lr=0.005, weight_decay=0.1),
                     s=dict(lr=0.02, weight_decay=0)))
    yield ('RMSprop.centered', dict(lr=0.01, alpha=0.9), [['/b', dict(lr=0.002)], ['/s', dict(alpha=0.5, eps=1e-3)]], None,
           groups_of(optim.RMSprop, W=dict(lr=0.01, alpha=0.9, centered=True), b=dict(lr=0.002, alpha=0.9, centered=True),
                     s=dict(lr=0.01, alpha=0.5, eps=1e-3, centered=True)))
    yield ('RAdam', dict(alpha=0.02), [['/b', dict(beta2=0.9, weight_decay_rate=0.1)]], None,
           groups_of(optim.RAdam, W=dict(lr=0.02), s=dict(lr=0.02),
                     b=dict(lr=0.02, betas=(0.9, 0.9), weight_decay=0.1, decoupled_weight_decay=True)))
    yield ('Adafactor', dict(lr=0.05), [['/W', dict(lr=0.01, weight_decay_rate=0.1)], ['/b', dict(d=1.5)]], None,
           groups_of(optim.Adafactor, W=dict(lr=0.01, weight_decay=0.1), b=dict(lr=0.05, d=1.5), s=dict(lr=0.05)))
    yield ('Muon', {}, [['/W', dict(lr=0.1, momentum=0.5)], ['/s', dict(adam_alpha=0.01, weight_decay_rate=0)]], None,
           lambda p: [optim.Muon([p['W']], lr=0.1, momentum=0.5, weight_decay=0.1),
                      optim.AdamW([dict(params=[p['b']]), dict(params=[p['s']], lr=0.01, weight_decay=0)], lr=3e-4,
                                  betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)])
    yield ('Lion', dict(lr=0.003), [['/W', dict(weight_decay_rate=0.1)], ['/b', dict(lr=0.01, beta1=0.5)]], None,
           dict(W=lion(0.003, decay=0.1), b=lion(0.01, 0.5), s=lion(0.003)))
    yield ('LAMB', dict(alpha=0.02), [['/[bs]', dict(weight_decay_rate=0)], ['/s', dict(alpha=0.001, beta2=0.9)]], None,
           dict(W=lamb(0.02), b=lamb(0.02, decay=0), s=lamb(0.001, beta2=0.9, decay=0)))
    yield ('MSVAG', {}, [['/b', dict(lr=0.02, beta=0.8)], ['/s', dict(eta=0.5, weight_decay_rate=0.1)]], None,
           dict(W=msvag(), b=msvag(0.02, 0.8), s=msvag(eta=0.5, decay=0.1)))
    yield ('AdaBound', dict(alpha=0.001), [['/b', dict(alpha=0.01)]], None,
           dict(W=bound('v'), b=bound('v', alpha=0.01), s=bound('v')))


def group_trajectory(params, grads, schedule, make):
    if isinstance(make, dict):
        return {k: formula_trajectory({k: params[k]}, grads, make[k])[k] for k in params}
    tensors = {k: torch.nn.Parameter(torch.tensor(v)) for k, v in params.items()}
    optimizers = make(tensors)
    schedulers = [torch.optim.lr_scheduler.CosineAnnealingLR(o, STEPS) for o in optimizers if schedule]
    steps = {k: [] for k in params}
    for t in range(STEPS):
        for k, v in tensors.items():
            v.grad = torch.tensor(grads[k][t])
        for o in optimizers + schedulers:
            o.step()
        for k, v in tensors.items():
            steps[k].append(v.detach().numpy().copy())
    return {k: np.array(v) for k, v in steps.items()}


def param_groups():
    arrays, listed = {}, []
    random = np.random.RandomState(11)
    params = {k: random.uniform(-1, 1, s) for k, s in SHAPES.items()}
    grads = {k: np.array(random.normal(0, 1, (STEPS,) + s)) for k, s in SHAPES.items()}
    for dtype in ('f8', 'f4'):
        start = {k: v.astype(dtype) for k, v in params.items()}
        slopes = {k: v.astype(dtype) for k, v in grads.items()}
        for k in SHAPES:
            arrays['%s:%s' % (dtype, k)], arrays['%s:g%s' % (dtype, k)] = start[k], slopes[k]
        for number, (optimizer, args, groups, schedule, make) in enumerate(group_cases()):
            steps = group_trajectory({k: v.astype('f8') for k, v in start.items()},
                                     {k: v.astype('f8') for k, v in slopes.items()}, schedule, make)
            name = '%s.%d.%s' % (optimizer, number, dtype)
            for k, v in steps.items():
                arrays['%s:%s' % (name, k)] = v.astype(dtype)
            # The first step of MSVAG divides the difference of two equal numbers by 1e-4, in float32 a rounding error.
            narrow = [2e-4, 1e-4] if optimizer == 'MSVAG' else [2e-5, 1e-4]
            listed.append(dict(
                name=name, function=optimizer, optimizer=optimizer, args=args, groups=groups, schedule=schedule, hooks=[],
                params={k: '%s:%s' % (dtype, k) for k in SHAPES}, grads={k: '%s:g%s' % (dtype, k) for k in SHAPES},
                trajectory={k: '%s:%s' % (name, k) for k in SHAPES}, t=STEPS, lr_after=None,
                dtype='float64' if dtype == 'f8' else 'float32', tolerance=[1e-12, 1e-9] if dtype == 'f8' else narrow,
                notes='formula of the paper' if isinstance(make, dict) else 'PyTorch'))
    save('torch_param_groups', arrays, listed)


def clipping():
    """Gradients of three parameters before and after torch.nn.utils.clip_grad_norm_ and clip_grad_value_."""
    utils, listed = torch.nn.utils, []
    random = np.random.RandomState(5)
    grads = {k: random.normal(0, 1, s) for k, s in SHAPES.items()}
    cases = [('clip_grad_norm', limit, kind) for kind in (2.0, 1.0, 3.0, math.inf) for limit in (0.5, 100.0, 0.0)]
    for function, limit, kind in cases + [('clip_grad_value', 0.3, None)]:
        tensors = {k: torch.nn.Parameter(torch.zeros(v.shape, dtype=torch.float64)) for k, v in grads.items()}
        for k, v in tensors.items():
            v.grad = torch.tensor(grads[k])
        norm = None
        if function == 'clip_grad_norm':
            norm = float(utils.clip_grad_norm_(list(tensors.values()), limit, kind))
        else:
            utils.clip_grad_value_(list(tensors.values()), limit)
        listed.append(dict(name='%s.%g.%s' % (function, limit, kind), function=function, limit=limit,
                           norm_type='inf' if kind == math.inf else kind, norm=norm,
                           grads={k: v.ravel().tolist() for k, v in grads.items()},
                           clipped={k: v.grad.numpy().ravel().tolist() for k, v in tensors.items()}))
    save('torch_clipping', {}, listed)


def lbfgs():
    random = np.random.RandomState(3)
    arrays = dict(x=random.normal(0, 1, (8, 3)), t=random.normal(0, 1, (8, 1)), W=random.normal(0, 0.5, (3, 4)),
                  b=random.normal(0, 0.5, (4,)), V=random.normal(0, 0.5, (4, 1)))
    x, t = torch.tensor(arrays['x']), torch.tensor(arrays['t'])
    listed = []
    for name, options in (('fixed', dict(lr=0.5, max_iter=4, history_size=3)), ('wolfe', dict(line_search_fn='strong_wolfe')),
                          ('short', dict(line_search_fn='strong_wolfe', max_iter=5, max_eval=6, lr=20.))):
        params = {k: torch.nn.Parameter(torch.tensor(arrays[k])) for k in 'WbV'}
        optimizer = torch.optim.LBFGS(list(params.values()), **options)

        def closure():
            optimizer.zero_grad()
            loss = ((torch.tanh(x @ params['W'] + params['b']) @ params['V'] - t) ** 2).mean()
            loss.backward()
            return loss

        losses = []
        for k in range(4):
            losses.append(float(optimizer.step(closure)))
            for key, v in params.items():
                arrays['%s:%s%d' % (name, key, k)] = v.detach().numpy().copy()
        listed.append(dict(name=name, losses=losses, evaluations=optimizer.state[params['W']]['func_evals']))
    save('torch_lbfgs', arrays, listed)


def save(name, arrays, listed):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', name)
    if arrays:
        np.savez_compressed(path + '.npz', **arrays)
    with open(path + '.json', 'w') as out:
        out.write('[\n' + ',\n'.join(json.dumps(c) for c in listed) + '\n]\n')
    print('%s: %d cases' % (name, len(listed)))


def main():
    torch.set_default_dtype(torch.float64)  # the dtype in which NAdam keeps the product of its factors
    lbfgs()
    torch.bfloat16 = torch.float64  # Muon's iterations, which PyTorch runs in 16 bits
    param_groups()
    clipping()
    arrays, listed = {}, []
    random = np.random.RandomState(7)
    params = {k: random.uniform(-1, 1, s) for k, s in SHAPES.items()}
    grads = {k: np.array(random.normal(0, 1, (STEPS,) + s)) for k, s in SHAPES.items()}
    for k in SHAPES:
        for dtype in ('f4', 'f8'):
            arrays['%s:%s' % (dtype, k)], arrays['%s:g%s' % (dtype, k)] = params[k].astype(dtype), grads[k].astype(dtype)
    for number, (optimizer, args, make, step) in enumerate(cases()):
        for dtype in ('f8', 'f4'):
            start = {k: v.astype(dtype).astype('f8') for k, v in params.items()}
            slopes = {k: v.astype(dtype).astype('f8') for k, v in grads.items()}
            steps = torch_trajectory(start, slopes, make) if make else formula_trajectory(start, slopes, step)
            name = '%s.%d.%s' % (optimizer, number, dtype)
            for k, v in steps.items():
                arrays['%s:%s' % (name, k)] = v.astype(dtype)
            listed.append(dict(
                name=name, function=optimizer, optimizer=optimizer, args=args, hooks=[],
                params={k: '%s:%s' % (dtype, k) for k in SHAPES}, grads={k: '%s:g%s' % (dtype, k) for k in SHAPES},
                trajectory={k: '%s:%s' % (name, k) for k in SHAPES}, t=STEPS, lr_after=None,
                dtype='float64' if dtype == 'f8' else 'float32', tolerance=[1e-12, 1e-9] if dtype == 'f8' else [2e-5, 1e-4],
                notes='PyTorch' if make else 'formula of the paper'))
    save('torch_optimizers', arrays, listed)


if __name__ == '__main__':
    main()
