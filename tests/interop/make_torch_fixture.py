"""Writes tests/golden/torch_<family>.{json,npz}: values and gradients that PyTorch computes.

    python make_torch_fixture.py activation loss ...      (all families without arguments)

Needs PyTorch and NumPy. The cases of a family are in torch_cases/<family>.py, whose function `cases` gets a Writer.
Everything is computed in float64, also for the narrower dtypes, whose inputs are rounded before and whose results are
rounded after. The files have the format of tests/golden/README.md and are run by test::run_golden("torch_<family>", ...).
"""
import importlib
import json
import os
import sys
import zlib

import numpy as np
import torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
TOLERANCES = dict(float64=[1e-9, 1e-7], float32=[1e-5, 1e-4], float16=[5e-4, 5e-3])


def spread(shape, low=-2., high=2., seed=0):
    """Returns float64 numbers drawn evenly from an interval; seeds give different ones."""
    return np.random.RandomState(seed + 1).uniform(low, high, shape)


class Writer:
    def __init__(self, family):
        self.family, self.cases, self.arrays, self.known, self.calls = family, [], {}, {}, {}
        self.unused = 'zeros'  # the gradients of inputs that no output depends on: 'zeros', or 'none'

    def add(self, function, run, inputs, args=None, dtypes=('float64', 'float32'), constants=(), tolerance=None,
            gradient=True, notes=''):
        """Adds a case per dtype. `run` gets the inputs as tensors in their order and `args` by name, and returns a tensor
        or several. `inputs`: arrays by name; floating ones are differentiated unless `constants` names them. `args` are
        stored for the C++ side under their names."""
        args = args or {}
        number = self.calls[function] = self.calls.get(function, -1) + 1
        for dtype in dtypes:
            name = '%s.c%d.f%s' % (function, number, dtype[5:])
            arrays = {k: v.astype(dtype) if v.dtype.kind == 'f' else v for k, v in inputs.items()}
            tensors = {k: torch.tensor(v.astype('f8') if v.dtype.kind == 'f' else v) for k, v in arrays.items()}
            varied = [k for k, v in tensors.items() if v.is_floating_point() and k not in constants and gradient]
            for k in varied:
                tensors[k].requires_grad_(True)
            outputs = run(*tensors.values(), **args)
            outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
            weights = [torch.tensor(spread(tuple(y.shape), -1, 1, zlib.crc32(function.encode()) % 1000 + i))
                       if y.requires_grad else None for i, y in enumerate(outputs)]
            roots = [(y, w) for y, w in zip(outputs, weights) if w is not None]
            grads = {}
            if roots:
                found = torch.autograd.grad([y for y, _ in roots], [tensors[k] for k in varied], [w for _, w in roots],
                                            allow_unused=True)
                grads = {k: g if g is not None else torch.zeros_like(tensors[k]) for k, g in zip(varied, found)
                         if g is not None or self.unused == 'zeros'}
            self.cases.append(dict(
                name=name, function=function, args=args, input_names=list(inputs),
                inputs=[self.stored(name + ':' + k, v) for k, v in arrays.items()],
                output_names=[str(i) for i in range(len(outputs))],
                outputs=[self.stored('%s:y%d' % (name, i), self.result(y, dtype)) for i, y in enumerate(outputs)],
                grad_outputs=[None if w is None else self.stored('%s:gy%d' % (name, i), self.result(w, dtype))
                              for i, w in enumerate(weights)] if roots else [],
                grad_inputs=[self.stored('%s:g%s' % (name, k), self.result(grads[k], dtype)) if k in grads else None
                             for k in inputs] if roots else [],
                dtype=dtype, tolerance=tolerance[dtype] if tolerance else TOLERANCES[dtype], notes=notes))

    @staticmethod
    def result(tensor, dtype):
        array = tensor.numpy(force=True)
        return array.astype(dtype) if array.dtype.kind == 'f' else array

    def stored(self, key, array):
        """Stores an array once, however many cases name it."""
        content = (array.dtype.str, array.shape, array.tobytes())
        if content not in self.known:
            self.known[content] = key
            self.arrays[key] = array
        return self.known[content]

    def write(self):
        path = os.path.join(FOLDER, '..', 'golden', 'torch_' + self.family)
        np.savez_compressed(path + '.npz', **self.arrays)
        with open(path + '.json', 'w') as out:
            out.write('[\n' + ',\n'.join(json.dumps(c) for c in self.cases) + '\n]\n')
        print('%s: %d cases, %d kB' % (self.family, len(self.cases), os.path.getsize(path + '.npz') // 1000))


def main():
    sys.path.insert(0, FOLDER)
    families = sys.argv[1:] or sorted(f[:-3] for f in os.listdir(os.path.join(FOLDER, 'torch_cases')) if f.endswith('.py'))
    for family in families:
        writer = Writer(family)
        importlib.import_module('torch_cases.' + family).cases(writer)
        writer.write()


if __name__ == '__main__':
    main()
