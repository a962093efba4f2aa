"""Layers of torch.nn with their options and defaults, and cross_entropy."""
import numpy as np
import torch
import torch.nn.functional as F

from make_torch_fixture import spread


def given(layer, weight, bias):
    layer = layer.double()
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
    return layer


def convolutions(writer):
    for name, kind, in_out, kernel, size, options in [
            ('conv1d', torch.nn.Conv1d, (2, 4), (3,), (9,), {}),
            ('conv1d', torch.nn.Conv1d, (2, 4), (3,), (9,), dict(stride=2, padding=1, dilation=2, groups=2, bias=False)),
            ('conv2d', torch.nn.Conv2d, (2, 4), (3, 3), (7, 6), {}),
            ('conv2d', torch.nn.Conv2d, (2, 4), (3, 3), (7, 6), dict(stride=2, padding=1, dilation=2, groups=2, bias=False)),
            ('conv3d', torch.nn.Conv3d, (1, 2), (2, 2, 2), (3, 4, 3), dict(padding=1)),
            ('conv_transpose2d', torch.nn.ConvTranspose2d, (4, 2), (3, 3), (4, 3), {}),
            ('conv_transpose2d', torch.nn.ConvTranspose2d, (4, 2), (3, 3), (4, 3), dict(stride=2, padding=1, groups=2, bias=False))]:
        layer = kind(*in_out, kernel, **options)
        inputs = {'x': spread((2, in_out[0]) + size), 'W': spread(tuple(layer.weight.shape), seed=1)}
        if layer.bias is not None:
            inputs['b'] = spread(tuple(layer.bias.shape), seed=2)

        def run(x, W, b=None, kind=kind, in_out=in_out, kernel=kernel, **options):
            return given(kind(*in_out, kernel, **options), W, b)(x)
        writer.add(name, run, inputs, options, constants=('W', 'b'))


def normalizations(writer):
    for size, options in [((4, 3), {}), ((4, 3, 5), {}), ((4, 3, 2, 3), {}), ((4, 3, 2, 3), dict(eps=0.01, momentum=0.3)),
                          ((4, 3, 2, 3), dict(affine=False))]:
        kind = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d}[len(size)]

        def run(x, moved, kind=kind, **options):
            layer = kind(3, **options).double()
            y = layer(x)
            layer.eval()
            with torch.no_grad():
                tested = layer(moved)
            return y, tested, layer.running_mean, layer.running_var
        writer.add('batch_norm', run, {'x': spread(size), 'moved': spread(size, 0, 3, 1)}, options, constants=('moved',))
    writer.add('layer_norm', lambda x: torch.nn.LayerNorm(5).double()(x), {'x': spread((3, 4, 5))})
    def without_bias(x, W):
        layer = torch.nn.LayerNorm(5, bias=False)
        return torch.func.functional_call(layer, {'weight': W}, (x,))
    writer.add('layer_norm_without_bias', without_bias, {'x': spread((3, 4, 5)), 'W': spread((5,), seed=1)}, constants=('W',))
    writer.add('layer_norm_without_affine', lambda x: torch.nn.LayerNorm((4, 5), 0.01, elementwise_affine=False)(x),
               {'x': spread((3, 4, 5))})
    writer.add('group_norm', lambda x: torch.nn.GroupNorm(2, 4).double()(x), {'x': spread((3, 4, 5))})
    writer.add('instance_norm', lambda x: torch.nn.InstanceNorm2d(4)(x), {'x': spread((3, 4, 5, 2))})


def without_parameters(writer):
    image = spread((2, 3, 7, 6))
    for options in (dict(), dict(stride=1, padding=1), dict(ceil_mode=True), dict(stride=3, ceil_mode=True)):
        writer.add('max_pool2d', lambda x, **o: torch.nn.MaxPool2d(2, **o)(x), {'x': image}, options)
    for options in (dict(), dict(stride=1, padding=1)):
        writer.add('avg_pool2d', lambda x, **o: torch.nn.AvgPool2d(2, **o)(x), {'x': image}, options)
    writer.add('adaptive_avg_pool2d', lambda x: torch.nn.AdaptiveAvgPool2d((3, 2))(x), {'x': image})
    writer.add('flatten', lambda x: torch.nn.Flatten()(x), {'x': image})
    writer.add('flatten', lambda x, start: torch.nn.Flatten(start, -2)(x), {'x': image}, dict(start=1))
    points = spread((3, 4))
    for name, layer in [('leaky_relu', torch.nn.LeakyReLU()), ('gelu', torch.nn.GELU()), ('silu', torch.nn.SiLU()),
                        ('gelu_tanh', torch.nn.GELU(approximate='tanh')), ('softmax', torch.nn.Softmax(0)),
                        ('log_softmax', torch.nn.LogSoftmax(0)), ('relu', torch.nn.ReLU()), ('elu', torch.nn.ELU()),
                        ('sigmoid', torch.nn.Sigmoid()), ('tanh', torch.nn.Tanh())]:
        writer.add(name, layer, {'x': points})


def losses(writer):
    labels = np.array([0, 2, -100, 1, 2])
    for options in (dict(), dict(reduction='sum'), dict(reduction='none'), dict(label_smoothing=0.2)):
        writer.add('cross_entropy', lambda x, t, **o: F.cross_entropy(x, t, **o), {'x': spread((5, 3)), 't': labels}, options)
    writer.add('cross_entropy', lambda x, t, weight, **o: F.cross_entropy(x, t, weight=weight, **o),
               {'x': spread((5, 3)), 't': labels, 'weight': spread((3,), 0.5, 2, 1)}, constants=('weight',))
    writer.add('cross_entropy', lambda x, t, **o: F.cross_entropy(x, t, **o),
               {'x': spread((5, 3)), 't': np.array([0, 2, 1, 1, 2])}, dict(ignore_index=1))


def embeddings(writer):
    for mode in ('mean', 'sum', 'max'):
        def run(W, ids, offsets=None, factors=None, mode=mode, **options):
            layer = torch.nn.EmbeddingBag(6, 3, mode=mode, **options)
            return torch.func.functional_call(layer, {'weight': W}, (ids, offsets, factors))
        W, ids, offsets = spread((6, 3)), np.array([0, 2, 5, 2, 1, 1]), np.array([0, 2, 2, 6])
        writer.add('embedding_bag', run, dict(W=W, ids=ids.reshape(2, 3)), dict(mode=mode, padding_idx=-4), constants=('W',))
        writer.add('embedding_bag', run, dict(W=W, ids=ids, offsets=offsets), dict(mode=mode, include_last_offset=True),
                   constants=('W',))
        if mode == 'sum':
            writer.add('embedding_bag', run, dict(W=W, ids=ids, offsets=offsets[:2], factors=spread((6,), seed=1)),
                       dict(mode=mode), constants=('W', 'factors'))


def bilinear(writer):
    for lead in ((2,), (2, 3), ()):
        for bias in (True, False):
            inputs = dict(x1=spread(lead + (4,)), x2=spread(lead + (5,), seed=1), W=spread((6, 4, 5), seed=2))
            if bias:
                inputs['b'] = spread((6,), seed=3)

            def run(x1, x2, W, b=None, bias=bias):
                return F.bilinear(x1, x2, W, b)
            writer.add('bilinear', run, inputs, dict(bias=bias), constants=('W', 'b'))


def adaptive_softmax(writer):
    for options in (dict(), dict(div_value=2., head_bias=True)):
        layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 12, [3, 7], **options).double()
        weights = {k: spread(tuple(v.shape), -1, 1, i) for i, (k, v) in enumerate(layer.state_dict().items())}
        for target in ([0, 11, 4, 2, 7, 3], [1, 0, 2, 2, 1, 0], [8, 3, 4, 5, 10, 11]):
            def run(x, t, *parameters, layer=layer, names=tuple(weights), **_):
                given = dict(zip(names, parameters))
                output, loss = torch.func.functional_call(layer, given, (x, t))

                class LogProb(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.inner = layer

                    def forward(self, x):
                        return self.inner.log_prob(x)
                log_prob = torch.func.functional_call(LogProb(), {'inner.' + k: v for k, v in given.items()}, (x,))
                return output, loss, log_prob
            writer.add('adaptive_log_softmax', run, dict(x=spread((6, 16)), t=np.array(target), **weights), options,
                       constants=tuple(weights))


def cases(writer):
    adaptive_softmax(writer)
    embeddings(writer)
    bilinear(writer)
    convolutions(writer)
    normalizations(writer)
    without_parameters(writer)
    losses(writer)
