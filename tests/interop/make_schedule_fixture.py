"""Writes tests/golden/torch_schedules.json: the learning rates of PyTorch's schedulers, from the start on.

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
    listed = [dict(name=name, base=BASE, values=rates(make)) for name, make in cases]
    listed += [dict(name=name, base=BASE, measures=[None if m != m else m for m in MEASURES], values=rates(make, MEASURES))
               for name, make in plateau]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'torch_schedules.json')
    with open(path, 'w') as out:
        out.write('[\n' + ',\n'.join(json.dumps(c) for c in listed) + '\n]\n')


if __name__ == '__main__':
    main()
