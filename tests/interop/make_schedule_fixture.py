"""Writes tests/golden/torch_schedules.json and torch_lr_schedulers.json: the learning rates of PyTorch's schedulers, from the
start on, and of some of them the momenta.

    python make_schedule_fixture.py

tests/training/schedules_test.cpp reads it. A case: name, the value at the start, the values after 0, 1, ... steps; for
ReduceLROnPlateau also the measures.
"""
import json
import os

import torch
from torch.optim import lr_scheduler as s

STEPS = 40
BASE = 0.5
MEASURES = [10, 9, 9.5, 9.4, 9.3, 9.2, 8.9, 8.9995, 8.95, float('nan'), 9, 9, 9, 9, 9, 8, 8, 8, 8, 8, 7.999, 7.9995, 8, 8, 8, 8, 8, 8, 8, 8]


def optimizer():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=BASE)


def rates(make, measures=None):
    sgd = optimizer()
    scheduler = make(sgd)
    values = [sgd.param_groups[0]['lr']]
    for k in range(len(measures) if measures else STEPS):
        sgd.step()
        scheduler.step(measures[k]) if measures else scheduler.step()
        values.append(sgd.param_groups[0]['lr'])
    return values


def main():
    cases = [
        ('step', lambda o: s.StepLR(o, 7, gamma=0.3)),
        ('multi_step', lambda o: s.MultiStepLR(o, [5, 5, 20], gamma=0.3)),
        ('exponential', lambda o: s.ExponentialLR(o, 0.9)),
        ('polynomial', lambda o: s.PolynomialLR(o, 30, power=2)),
        ('linear', lambda o: s.LinearLR(o, 0.1, 0.7, 25)),
        ('cosine', lambda o: s.CosineAnnealingLR(o, STEPS, eta_min=0.05)),
        ('cosine_restarts', lambda o: s.CosineAnnealingWarmRestarts(o, 5, T_mult=2, eta_min=0.05)),
        ('cosine_restarts_equal', lambda o: s.CosineAnnealingWarmRestarts(o, 6)),
        ('one_cycle', lambda o: s.OneCycleLR(o, BASE, total_steps=STEPS + 1)),
        ('one_cycle_lines', lambda o: s.OneCycleLR(o, BASE, total_steps=STEPS + 1, pct_start=0.25, div_factor=10,
                                                   final_div_factor=50, anneal_strategy='linear')),
        ('warmup', lambda o: s.SequentialLR(o, [s.LinearLR(o, 0.01, 1, 10), s.CosineAnnealingLR(o, 30)], [10])),
    ]
    plateau = [
        ('plateau', lambda o: s.ReduceLROnPlateau(o, patience=2)),
        ('plateau_cooldown', lambda o: s.ReduceLROnPlateau(o, factor=0.5, patience=1, threshold=0.5, threshold_mode='abs',
                                                           cooldown=3, min_lr=0.1)),
        ('plateau_max', lambda o: s.ReduceLROnPlateau(o, mode='max', factor=0.7, patience=3)),
    ]
    cyclic = [
        ('cyclic', lambda o: s.CyclicLR(o, 0.1, 0.4, step_size_up=5)),
        ('cyclic_2', lambda o: s.CyclicLR(o, 0.1, 0.4, step_size_up=3, step_size_down=7, mode='triangular2')),
        ('cyclic_exp', lambda o: s.CyclicLR(o, 0.1, 0.4, step_size_up=5, mode='exp_range', gamma=0.95, base_momentum=0.6,
                                            max_momentum=0.95)),
        ('cyclic_scale', lambda o: s.CyclicLR(o, 0.1, 0.4, step_size_up=5, scale_fn=lambda x: 1 / x, scale_mode='cycle')),
        ('cyclic_constant', lambda o: s.CyclicLR(o, 0.1, 0.4, step_size_up=5, cycle_momentum=False)),
        ('one_cycle', lambda o: s.OneCycleLR(o, 0.4, epochs=STEPS // 8 + 1, steps_per_epoch=8)),
        ('one_cycle_phases', lambda o: s.OneCycleLR(o, 0.4, total_steps=STEPS + 1, pct_start=0.25, anneal_strategy='linear',
                                                    three_phase=True, base_momentum=0.7, max_momentum=0.9, div_factor=10,
                                                    final_div_factor=50)),
    ]
    others = [
        ('multiplicative', lambda o: s.MultiplicativeLR(o, lambda k: 0.9 if k % 2 else 0.8)),
        ('chained', lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 5), s.ExponentialLR(o, 0.9)])),
        ('cosine_waves', lambda o: s.CosineAnnealingLR(o, 12, eta_min=0.05)),
        ('swa', lambda o: torch.optim.swa_utils.SWALR(o, 0.05, 8)),
        ('swa_linear', lambda o: torch.optim.swa_utils.SWALR(o, 0.05, 8, 'linear')),
    ]
    write('torch_lr_schedulers', [dict(name=name, base=BASE, **with_momentum(make)) for name, make in cyclic] +
          [dict(name=name, base=BASE, values=rates(make)) for name, make in others])
    listed = [dict(name=name, base=BASE, values=rates(make)) for name, make in cases]
    listed += [dict(name=name, base=BASE, measures=[None if m != m else m for m in MEASURES], values=rates(make, MEASURES))
               for name, make in plateau]
    write('torch_schedules', listed)


def with_momentum(make):
    """Rates and momenta of SGD with a momentum of 0.5."""
    sgd = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=BASE, momentum=0.5)
    scheduler = make(sgd)
    seen = [dict(sgd.param_groups[0])]
    for _ in range(STEPS):
        sgd.step()
        scheduler.step()
        seen.append(dict(sgd.param_groups[0]))
    return dict(values=[g['lr'] for g in seen], momenta=[g['momentum'] for g in seen])


def write(name, listed):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', name + '.json')
    with open(path, 'w') as out:
        out.write('[\n' + ',\n'.join(json.dumps(c) for c in listed) + '\n]\n')


if __name__ == '__main__':
    main()
