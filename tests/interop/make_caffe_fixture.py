"""Writes tests/golden/caffe/cases.json and cases.npz: models of Caffe, and what Chainer 1.24 computes with them.

    PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python python make_caffe_fixture.py tests/golden/caffe/cases

Needs Chainer 1.24, NumPy 1.23 and protobuf 3.20, whose encoder makes the models by the schema that Chainer has
(chainer/links/caffe/protobuf3). tests/nn/caffe_test.cpp runs the cases.

Numbers are multiples of 1/64 and the like, so that the file is small. The networks of the model zoo have a sixteenth of
the channels of the originals (those of 3 channels excepted); `input_of` of the test makes their input.
"""
import json
import sys
import tempfile

from interop_test import import_chainer

np, chainer = import_chainer()
from chainer.links.caffe import caffe_function

pb = caffe_function.caffe_pb
V1_TYPES = dict(Concat='CONCAT', Convolution='CONVOLUTION', Data='DATA', Dropout='DROPOUT', LRN='LRN', ReLU='RELU',
                InnerProduct='INNER_PRODUCT', Pooling='POOLING', Softmax='SOFTMAX', SoftmaxWithLoss='SOFTMAX_LOSS',
                Split='SPLIT', Eltwise='ELTWISE', Slice='SLICE')
random = np.random.RandomState(24)
arrays = {}
cases = []


def key_of(prefix, array):
    key = '%s%d' % (prefix, len(arrays))
    arrays[key] = np.asarray(array)
    return key


def draw(*shape):
    return (random.randint(-16, 17, shape) / 16.).astype('f')


class Net(object):
    """A model that is built layer by layer: net.add('ReLU', 'relu1', 'conv1', 'conv1', relu_param=dict(...))."""

    def __init__(self, v1):
        self.v1 = v1
        self.proto = pb.NetParameter(name='net')

    def add(self, kind, name, bottom, top, blobs=(), **params):
        layer = (self.proto.layers if self.v1 else self.proto.layer).add()
        layer.name = name
        layer.type = getattr(pb.V1LayerParameter, V1_TYPES[kind]) if self.v1 else kind
        layer.bottom.extend([bottom] if isinstance(bottom, str) else bottom)
        layer.top.extend([top] if isinstance(top, str) else top)
        for array in blobs:
            blob = layer.blobs.add()
            if self.v1:
                sizes = (1,) * (4 - array.ndim) + array.shape
                blob.num, blob.channels, blob.height, blob.width = sizes
            else:
                blob.shape.dim.extend(array.shape)
            blob.data.extend(array.ravel().tolist())
        for param, fields in params.items():
            message = getattr(layer, param)
            for field, value in fields.items():
                if isinstance(value, (list, tuple)):
                    getattr(message, field).extend(value)
                else:
                    setattr(message, field, value)

    def function(self):
        with tempfile.NamedTemporaryFile() as f:
            f.write(self.proto.SerializeToString())
            f.flush()
            return caffe_function.CaffeFunction(f.name)


def case(name, net, inputs, outputs, disable=(), train=False, tolerance=(1e-5, 1e-4)):
    """A call with its gradients: those of random output gradients with respect to inputs and parameters."""
    function = net.function()
    variables = {k: chainer.Variable(v) for k, v in inputs.items()}
    c = dict(name='%s.%s' % (name, 'v1' if net.v1 else 'v2'), train=train, disable=list(disable), tolerance=tolerance)
    c['model'] = key_of('m', np.frombuffer(net.proto.SerializeToString(), 'u1'))
    c['layers'] = [[n, list(b), list(t)] for n, b, t in function.layers]
    c['split_map'] = dict(function.split_map)
    c['params'] = {k: key_of('p', p.data.copy()) for k, p in function.namedparams()}
    function.cleargrads()
    ys = function(variables, outputs, disable, train)
    c['inputs'] = {k: key_of('x', v) for k, v in inputs.items()}
    c['outputs'] = list(outputs)
    c['blobs'] = sorted(function.variables)
    c['expected'] = [key_of('y', y.data) for y in ys]
    gys = [draw(*y.shape) if y.shape else np.array(0.5, 'f') for y in ys]
    c['grad_outputs'] = [key_of('g', g) for g in gys]
    together = chainer.functions.identity(*ys)  # one backward over all outputs
    together = together if isinstance(together, tuple) else (together,)
    for t, g in zip(together, gys):
        t.grad = g
    together[0].backward()
    c['grad_inputs'] = {k: None if v.grad is None else key_of('gx', v.grad) for k, v in variables.items()}
    c['grad_params'] = {k: None if p.grad is None else key_of('gp', p.grad) for k, p in function.namedparams()}
    c['persistents'] = {l.name + '/' + n: key_of('s', getattr(l, n)) for l in function.children()
                        for n in getattr(l, '_persistent', ()) if n.startswith('avg')}
    cases.append(c)


def both(f):
    f(True)
    f(False)


# ---- one layer each ----------------------------------------------------------------------------------
def convolutions(v1):
    def conv(name, blobs, shape, **param):
        net = Net(v1)
        net.add('Convolution', 'conv', 'data', 'y', blobs, convolution_param=param)
        case(name, net, {'data': draw(*shape)}, ['y'])
    conv('convolution', [draw(4, 3, 3, 3), draw(4)], (2, 3, 7, 6), num_output=4, kernel_size=[3], stride=[2], pad=[1])
    conv('convolution_plain', [draw(2, 3, 2, 2), draw(2)], (2, 3, 5, 4), num_output=2, kernel_size=[2])
    conv('convolution_pairs', [draw(2, 3, 2, 3)], (2, 3, 7, 6), num_output=2, kernel_size=[2, 3], stride=[1, 2],
         pad=[2, 1], bias_term=False)
    conv('convolution_h_w', [draw(2, 3, 3, 1), draw(2)], (2, 3, 7, 6), num_output=2, kernel_h=3, kernel_w=1,
         stride_h=2, stride_w=3, pad_h=1, pad_w=0)
    conv('convolution_groups', [draw(6, 2, 3, 3), draw(6)], (2, 4, 5, 5), num_output=6, kernel_size=[3], pad=[1],
         group=2)
    conv('convolution_depthwise', [draw(3, 1, 2, 2)], (2, 3, 5, 4), num_output=3, kernel_size=[2], group=3,
         bias_term=False)


def inner_products(v1):
    def inner(name, blobs, shape, **param):
        net = Net(v1)
        net.add('InnerProduct', 'fc/1', 'data', 'y', blobs, inner_product_param=param)
        case(name, net, {'data': draw(*shape)}, ['y'])
    inner('inner_product', [draw(3, 24), draw(3)], (2, 4, 3, 2), num_output=3)
    inner('inner_product_no_bias', [draw(3, 5)], (4, 5), num_output=3, bias_term=False)
    inner('inner_product_4d', [draw(1, 1, 3, 5), draw(1, 1, 1, 3)], (4, 5), num_output=3)


def poolings(v1):
    def pool(name, shape, **param):
        net = Net(v1)
        net.add('Pooling', 'pool', 'data', 'y', pooling_param=param)
        case(name, net, {'data': draw(*shape) + np.arange(np.prod(shape)).reshape(shape).astype('f') / 4096}, ['y'])
    pool('max_pooling', (2, 3, 7, 6), kernel_size=3, stride=2)
    pool('max_pooling_pad', (2, 3, 6, 6), pool=pb.PoolingParameter.MAX, kernel_size=3, stride=2, pad=1)
    pool('max_pooling_h_w', (2, 3, 7, 6), kernel_h=3, kernel_w=2, stride_h=2, stride_w=1, pad_h=1, pad_w=1)
    pool('average_pooling', (2, 3, 8, 6), pool=pb.PoolingParameter.AVE, kernel_size=3, stride=2)
    pool('average_pooling_pad', (2, 3, 7, 6), pool=pb.PoolingParameter.AVE, kernel_h=3, kernel_w=2, stride=1, pad=1)


def others(v1):
    def one(name, kind, inputs, outputs=('y',), train=False, blobs=(), bottoms=None, **params):
        net = Net(v1)
        net.add(kind, kind, bottoms or list(inputs), list(outputs), blobs, **params)
        case(name, net, inputs, outputs, train=train)
    x = {'data': draw(2, 6, 3, 4)}
    two, three = {'a': draw(2, 6, 3), 'b': draw(2, 6, 3)}, {'a': draw(2, 3), 'b': draw(2, 3), 'c': draw(2, 3)}
    one('lrn', 'LRN', x)
    one('lrn_parameters', 'LRN', x, lrn_param=dict(local_size=3, alpha=0.5, beta=0.5, k=2))
    one('relu', 'ReLU', x)
    one('leaky_relu', 'ReLU', x, relu_param=dict(negative_slope=0.25))
    one('dropout_test', 'Dropout', x, dropout_param=dict(dropout_ratio=0.5))
    one('dropout_0', 'Dropout', x, train=True, dropout_param=dict(dropout_ratio=0))
    one('softmax', 'Softmax', x)
    one('softmax_caffe', 'Softmax', x, softmax_param=dict(engine=1))
    labels = {'x': draw(4, 5), 't': np.array([0, 4, 2, 1], 'i')}
    one('softmax_loss', 'SoftmaxWithLoss', labels)
    one('concat', 'Concat', two)
    one('concat_axis', 'Concat', two, concat_param=dict(axis=2))
    one('concat_last', 'Concat', two, concat_param=dict(axis=-1))
    one('concat_dim', 'Concat', two, concat_param=dict(concat_dim=0))
    one('eltwise', 'Eltwise', three)
    one('eltwise_coeff', 'Eltwise', three, eltwise_param=dict(coeff=[0.5, -1, 2]))
    one('eltwise_prod', 'Eltwise', three, eltwise_param=dict(operation=pb.EltwiseParameter.PROD))
    one('eltwise_max', 'Eltwise', three, eltwise_param=dict(operation=pb.EltwiseParameter.MAX))
    one('slice', 'Slice', x, ('a', 'b', 'c'))
    one('slice_points', 'Slice', x, ('a', 'b', 'c'), slice_param=dict(slice_point=[1, 3]))
    one('slice_axis', 'Slice', x, ('a', 'b'), slice_param=dict(axis=-1))
    one('slice_dim', 'Slice', x, ('a', 'b', 'c'), slice_param=dict(slice_dim=2))


def statistics():
    def norm(name, train, **param):
        net = Net(False)
        net.add('BatchNorm', 'bn', 'data', 'y', [draw(3), draw(3) + 2, np.ones(1, 'f')], batch_norm_param=param)
        case(name, net, {'data': draw(4, 3, 2, 2)}, ['y'], train=train)
        if param['use_global_stats']:  # the gradient of the reference lacks eps
            c, var = cases[-1], np.array(net.proto.layer[0].blobs[1].data)
            gx = arrays[c['grad_outputs'][0]] / np.sqrt(var + param.get('eps', 1e-5)).reshape(1, 3, 1, 1)
            arrays[c['grad_inputs']['data']] = gx.astype('f')
    norm('batch_norm_test', False, use_global_stats=True)
    norm('batch_norm_fixed', True, use_global_stats=True, eps=0.0625)
    norm('batch_norm_train', True, use_global_stats=False, moving_average_fraction=0.75)

    def scale(name, inputs, blobs, **param):
        net = Net(False)
        net.add('Scale', 'scale', list(inputs), 'y', blobs, scale_param=param)
        case(name, net, inputs, ['y'])
    x = draw(2, 3, 4)
    scale('scale', {'data': x}, [draw(3)])
    scale('scale_bias', {'data': x}, [draw(3, 4), draw(3, 4)], bias_term=True)
    scale('scale_axis', {'data': x}, [draw(4), draw(4)], axis=2, bias_term=True)
    scale('scale_two', {'data': x, 'w': draw(3)}, [])
    scale('scale_two_bias', {'data': x, 'w': draw(3, 4)}, [draw(3, 4)], bias_term=True)


# ---- several layers ----------------------------------------------------------------------------------
def networks(v1):
    net = Net(v1)
    net.add('Data', 'data', [], ['data', 'label'])
    net.add('Convolution', 'conv1/7x7_s2', 'data', 'conv1', [draw(4, 2, 3, 3), draw(4)],
            convolution_param=dict(num_output=4, kernel_size=[3], pad=[1]))
    net.add('ReLU', 'relu1', 'conv1', 'conv1')
    net.add('Split', 'conv1_split', 'conv1', ['conv1_split_0', 'conv1_split_1'])
    net.add('Pooling', 'pool1', 'conv1_split_0', 'pool1', pooling_param=dict(kernel_size=2, stride=2))
    net.add('LRN', 'norm1', 'conv1_split_1', 'norm1')
    net.add('Pooling', 'pool2', 'norm1', 'pool2', pooling_param=dict(kernel_size=2, stride=2))
    net.add('Concat', 'concat', ['pool1', 'pool2'], 'concat')
    net.add('Dropout', 'drop', 'concat', 'concat', dropout_param=dict(dropout_ratio=0.5))
    net.add('InnerProduct', 'fc', 'concat', 'fc', [draw(3, 32), draw(3)], inner_product_param=dict(num_output=3))
    net.add('Softmax', 'prob', 'fc', 'prob')
    net.add('SoftmaxWithLoss', 'loss', ['fc', 'label'], 'loss')
    x = draw(2, 2, 4, 4)
    case('network', net, {'data': x}, ['prob', 'fc'])
    case('network_loss', net, {'data': x, 'label': np.array([2, 0], 'i')}, ['loss'], disable=['prob'])
    case('network_without_pool1', net, {'data': x, 'pool1': draw(2, 4, 2, 2)}, ['fc', 'pool2'], disable=['pool1'])
    case('network_from_the_middle', net, {'pool1': draw(2, 4, 2, 2), 'norm1': draw(2, 4, 4, 4)}, ['fc'])


# ---- the model zoo, with a sixteenth of the channels --------------------------------------------------
class Zoo(Net):
    def __init__(self, v1, side):
        super(Zoo, self).__init__(v1)
        self.channels, self.sides = {'data': 3}, {'data': side}

    def weights(self, *shape):
        fan_in = int(np.prod(shape[1:]))
        return (random.randint(-4, 5, shape) * 2.0 ** -np.round(np.log2(3 * np.sqrt(fan_in)))).astype('f')

    def conv(self, name, bottom, out, k, stride=1, pad=0, group=1, bias=True, top=None):
        top = top or name
        n_in = self.channels[bottom] // group
        blobs = [self.weights(out, n_in, k, k)] + ([draw(out) / 8] if bias else [])
        self.add('Convolution', name, bottom, top, blobs, convolution_param=dict(
            num_output=out, kernel_size=[k], stride=[stride], pad=[pad], group=group, bias_term=bias))
        self.channels[top], self.sides[top] = out, (self.sides[bottom] + 2 * pad - k) // stride + 1
        return top

    def relu(self, name, blob):
        self.add('ReLU', name, blob, blob)
        return blob

    def pool(self, name, bottom, k, stride, pad=0, method=0):
        self.add('Pooling', name, bottom, name, pooling_param=dict(pool=method, kernel_size=k, stride=stride, pad=pad))
        n = self.sides[bottom] + 2 * pad - k
        self.channels[name] = self.channels[bottom]
        self.sides[name] = (n if method == 1 else n + stride - 1) // stride + 1
        return name

    def lrn(self, name, bottom):
        self.add('LRN', name, bottom, name, lrn_param=dict(local_size=5, alpha=1e-4, beta=0.75))
        self.channels[name], self.sides[name] = self.channels[bottom], self.sides[bottom]
        return name

    def fc(self, name, bottom, out):
        n_in = self.channels[bottom] * self.sides[bottom] ** 2
        self.add('InnerProduct', name, bottom, name, [self.weights(out, n_in), draw(out) / 8],
                 inner_product_param=dict(num_output=out))
        self.channels[name], self.sides[name] = out, 1
        return name

    def drop(self, name, blob, ratio=0.5):
        self.add('Dropout', name, blob, blob, dropout_param=dict(dropout_ratio=ratio))
        return blob

    def concat(self, name, bottoms):
        self.add('Concat', name, bottoms, name)
        self.channels[name] = sum(self.channels[b] for b in bottoms)
        self.sides[name] = self.sides[bottoms[0]]
        return name

    def split(self, blob, n):
        tops = ['%s_split_%d' % (blob, i) for i in range(n)]
        self.add('Split', blob + '_split', blob, tops)
        for t in tops:
            self.channels[t], self.sides[t] = self.channels[blob], self.sides[blob]
        return tops

    def norm(self, name, scale, blob):
        c = self.channels[blob]
        self.add('BatchNorm', name, blob, blob, [draw(c) / 4, draw(c) / 4 + 1, np.ones(1, 'f')],
                 batch_norm_param=dict(use_global_stats=True))
        self.add('Scale', scale, blob, blob, [draw(c) / 4 + 1, draw(c) / 4], scale_param=dict(bias_term=True))

    def save(self, name, outputs, disable=()):
        function = self.function()
        side = self.sides['data']
        i = np.arange(3 * side * side)
        x = (((i * 31 + i // 7) % 17 - 8) / 8.).astype('f').reshape(1, 3, side, side)
        ys = function({'data': chainer.Variable(x)}, outputs, disable, False)
        cases.append(dict(name='zoo.' + name, train=False, disable=list(disable), tolerance=[1e-4, 1e-3],
                          model=key_of('m', np.frombuffer(self.proto.SerializeToString(), 'u1')), side=side,
                          outputs=list(outputs), expected=[key_of('y', y.data) for y in ys],
                          children=sorted(c.name for c in function.children())))


def alexnet(caffenet):
    net = Zoo(True, 227)
    order = (net.pool, net.lrn) if caffenet else (net.lrn, net.pool)

    def normed(i, blob):
        for step in order:
            blob = step('pool%d' % i, blob, 3, 2) if step == net.pool else step('norm%d' % i, blob)
        return blob
    blob = normed(1, net.relu('relu1', net.conv('conv1', 'data', 6, 11, 4)))
    blob = normed(2, net.relu('relu2', net.conv('conv2', blob, 16, 5, 1, 2, 2)))
    blob = net.relu('relu3', net.conv('conv3', blob, 24, 3, 1, 1))
    blob = net.relu('relu4', net.conv('conv4', blob, 24, 3, 1, 1, 2))
    blob = net.relu('relu5', net.conv('conv5', blob, 16, 3, 1, 1, 2))
    blob = net.drop('drop6', net.relu('relu6', net.fc('fc6', net.pool('pool5', blob, 3, 2), 32)))
    blob = net.drop('drop7', net.relu('relu7', net.fc('fc7', blob, 32)))
    net.fc('fc8', blob, 10)
    net.add('Softmax', 'prob', 'fc8', 'prob')
    net.save('caffenet' if caffenet else 'alexnet', ['fc8', 'prob'])


def vgg16():
    net = Zoo(True, 64)
    blob = 'data'
    for i, (n, width) in enumerate([(2, 4), (2, 8), (3, 16), (3, 32), (3, 32)]):
        for k in range(n):
            name = 'conv%d_%d' % (i + 1, k + 1)
            blob = net.relu('relu' + name[4:], net.conv(name, blob, width, 3, 1, 1))
        blob = net.pool('pool%d' % (i + 1), blob, 2, 2)
    for i in (6, 7):
        blob = net.drop('drop%d' % i, net.relu('relu%d' % i, net.fc('fc%d' % i, blob, 32)))
    net.fc('fc8', blob, 10)
    net.add('Softmax', 'prob', 'fc8', 'prob')
    net.save('vgg16', ['prob', 'fc7'])


INCEPTIONS = [('3a', 64, 96, 128, 16, 32, 32), ('3b', 128, 128, 192, 32, 96, 64), ('4a', 192, 96, 208, 16, 48, 64),
              ('4b', 160, 112, 224, 24, 64, 64), ('4c', 128, 128, 256, 24, 64, 64), ('4d', 112, 144, 288, 32, 64, 64),
              ('4e', 256, 160, 320, 32, 128, 128), ('5a', 256, 160, 320, 32, 128, 128),
              ('5b', 384, 192, 384, 48, 128, 128)]


def googlenet():
    net = Zoo(True, 224)

    def conv(name, bottom, out, k, stride=1, pad=0):
        head, tail = name.split('/')
        return net.relu('%s/relu_%s' % (head, tail), net.conv(name, bottom, out, k, stride, pad))

    def head(name, blob):
        blob = conv(name + '/conv', net.pool(name + '/ave_pool', blob, 5, 3, 0, 1), 8, 1)
        blob = net.relu(name + '/relu_fc', net.fc(name + '/fc', blob, 16))
        net.fc(name + '/classifier', net.drop(name + '/drop_fc', blob, 0.7), 10)
    blob = net.pool('pool1/3x3_s2', conv('conv1/7x7_s2', 'data', 4, 7, 2, 3), 3, 2)
    blob = conv('conv2/3x3_reduce', net.lrn('pool1/norm1', blob), 4, 1)
    blob = net.pool('pool2/3x3_s2', net.lrn('conv2/norm2', conv('conv2/3x3', blob, 12, 3, 1, 1)), 3, 2)
    for name, c1, p3, c3, p5, c5, proj in INCEPTIONS:
        p = 'inception_%s/' % name
        a, b, c, d = net.split(blob, 4)
        towers = [conv(p + '1x1', a, c1 // 16, 1),
                  conv(p + '3x3', conv(p + '3x3_reduce', b, p3 // 16, 1), c3 // 16, 3, 1, 1),
                  conv(p + '5x5', conv(p + '5x5_reduce', c, p5 // 16, 1), c5 // 16, 5, 1, 2),
                  conv(p + 'pool_proj', net.pool(p + 'pool', d, 3, 1, 1), proj // 16, 1)]
        blob = net.concat(p + 'output', towers)
        if name in ('4a', '4d'):
            head('loss1' if name == '4a' else 'loss2', blob)
        if name in ('3b', '4e'):
            blob = net.pool('pool%s/3x3_s2' % name[0], blob, 3, 2)
    blob = net.drop('pool5/drop_7x7_s1', net.pool('pool5/7x7_s1', blob, 7, 1, 0, 1), 0.4)
    net.fc('loss3/classifier', blob, 10)
    net.add('Softmax', 'prob', 'loss3/classifier', 'prob')
    net.save('googlenet', ['loss3/classifier'], ['loss1/ave_pool', 'loss2/ave_pool'])
    net.save('googlenet_all_heads', ['loss1/classifier', 'loss2/classifier', 'prob'])


def resnet(n_layers, blocks):
    net = Zoo(False, 224)

    def unit(name, bottom, out, k, stride=1, pad=0):
        net.conv('res' + name, bottom, out, k, stride, pad, bias=False)
        net.norm('bn' + name, 'scale' + name, 'res' + name)
        return 'res' + name
    net.conv('conv1', 'data', 4, 7, 2, 3, bias=n_layers == 50)
    net.norm('bn_conv1', 'scale_conv1', 'conv1')
    blob = net.pool('pool1', net.relu('conv1_relu', 'conv1'), 3, 2)
    for i, n in enumerate(blocks):
        width = 2 << i
        for k in range(n):
            letters = n_layers == 50 or i in (0, 3)
            name = '%d%s' % (i + 2, 'abcdef'[k] if letters else 'a' if k == 0 else 'b%d' % k)
            stride = 2 if i > 0 and k == 0 else 1
            short = unit(name + '_branch1', blob, 4 * width, 1, stride) if k == 0 else blob
            branch = net.relu('res%s_branch2a_relu' % name, unit(name + '_branch2a', blob, width, 1, stride))
            branch = net.relu('res%s_branch2b_relu' % name, unit(name + '_branch2b', branch, width, 3, 1, 1))
            branch = unit(name + '_branch2c', branch, 4 * width, 1)
            blob = 'res' + name
            net.add('Eltwise', blob, [short, branch], blob)
            net.channels[blob], net.sides[blob] = net.channels[branch], net.sides[branch]
            net.relu(blob + '_relu', blob)
    net.fc('fc1000', net.pool('pool5', blob, 7, 1, 0, 1), 10)
    net.add('Softmax', 'prob', 'fc1000', 'prob')
    net.save('resnet%d' % n_layers, ['prob', 'fc1000'])


for part in (convolutions, inner_products, poolings, others, networks):
    both(part)
statistics()
alexnet(False)
alexnet(True)
vgg16()
googlenet()
resnet(50, (3, 4, 6, 3))
resnet(101, (3, 4, 23, 3))
resnet(152, (3, 8, 36, 3))
np.savez_compressed(sys.argv[1] + '.npz', **arrays)
with open(sys.argv[1] + '.json', 'w') as f:
    f.write('[\n' + ',\n'.join(json.dumps(c) for c in cases) + '\n]\n')
print('%d cases' % len(cases))
