"""torch.nn.LSTM and GRU, with the matrices and biases of n_step_lstm and n_step_gru as inputs beside x and the states."""
import torch

from make_torch_fixture import spread


def weights_of(gates, layers, directions, in_size, size, bias=True):
    """{"layer.name": array} with w0, b0, w1, b1, ... as in nn/functions/recurrent.h: first those of the input."""
    weights = {}
    for child in range(layers * directions):
        for j in range(2 * gates):
            width = size if j >= gates else in_size if child < directions else size * directions
            weights['%d.w%d' % (child, j)] = spread((size, width), -0.6, 0.6, 20 * child + j)
            if bias:
                weights['%d.b%d' % (child, j)] = spread((size,), -0.6, 0.6, 20 * child + j + 10)
    return weights


def parameters_of(tensors, gates, layers, directions):
    """The same arrays as parameters of PyTorch's class, in which the matrices of the gates are stacked in this order."""
    result = {}
    for child in range(layers * directions):
        suffix = '_l%d%s' % (child // directions, '_reverse' if child % directions else '')
        for name, first in (('ih', 0), ('hh', gates)):
            for kind, letter in (('weight', 'w'), ('bias', 'b')):
                parts = [tensors['%d.%s%d' % (child, letter, first + j)] for j in range(gates)
                         if '%d.%s%d' % (child, letter, first + j) in tensors]
                if parts:
                    result['%s_%s%s' % (kind, name, suffix)] = torch.cat(parts)
    return result


def cases(writer):
    for function, kind, gates in (('lstm', torch.nn.LSTM, 4), ('gru', torch.nn.GRU, 3)):
        for options in (dict(), dict(num_layers=2, batch_first=True, bidirectional=True), dict(bidirectional=True), dict(num_layers=2),
                        dict(num_layers=2, bias=False)):
            layers, directions = options.get('num_layers', 1), 2 if options.get('bidirectional') else 1
            module = kind(3, 4, dtype=torch.float64, **options)
            weights = weights_of(gates, layers, directions, 3, 4, options.get('bias', True))
            inputs = {'x': spread((2, 5, 3) if options.get('batch_first') else (5, 2, 3))}
            for with_states in (False, True):
                if with_states:
                    inputs['h'] = spread((layers * directions, 2, 4), seed=1)
                    if function == 'lstm':
                        inputs['c'] = spread((layers * directions, 2, 4), seed=2)
                names = list(inputs)

                def run(*tensors, module=module, names=names, weights=weights, gates=gates, layers=layers,
                        directions=directions, function=function, **_):
                    given = dict(zip(names, tensors))
                    parameters = parameters_of(dict(zip(weights, tensors[len(names):])), gates, layers, directions)
                    states = tuple(given[k] for k in ('h', 'c') if k in given)
                    args = (given['x'],) + ((states if function == 'lstm' else states[0],) if states else ())
                    y, last = torch.func.functional_call(module, parameters, args)
                    return (y,) + (last if function == 'lstm' else (last,))
                writer.add(function, run, dict(inputs, **weights), options, dtypes=('float64',), constants=tuple(weights))
