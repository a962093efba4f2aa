"""Writes tests/golden/onnx: networks that PyTorch exports, and the tests of operators of the onnx package.

    python make_onnx_import_fixture.py

Needs PyTorch, torchvision, onnx and onnxscript. networks.npz has the inputs ("<network>/x<i>") and the outputs that
PyTorch computes ("<network>/y<i>") of each <network>.onnx. nodes.npz has the models, inputs and outputs of those backend
tests of the onnx package whose operators Catena imports: `bytes`, and `index`, a JSON text that says where each is.
"""
import json
import os
import sys
import warnings

import numpy as np
import onnx
import torch
import torchvision

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'onnx')
LARGEST_CASE = 6000  # bytes of the model, inputs and outputs of one test of an operator
OPERATORS = set('''
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization Cast Ceil Celu Clip Concat
    Constant ConstantOfShape Conv ConvTranspose Cos Cosh CumSum DepthToSpace Div Dropout Einsum Elu Equal Erf Exp Expand
    Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual
    GroupNormalization HardSigmoid HardSwish Identity InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Less
    LessOrEqual Log LogSoftmax MatMul Max MaxPool Mean Min Mish Mod Mul Neg NonZero Not OneHot Or PRelu Pad Pow RNN
    RMSNormalization Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
    ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize Round ScatterElements ScatterND Selu Shape Sigmoid Sign Sin
    Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK
    Transpose Trilu Unsqueeze Where Xor'''.split())
# Cases whose operators or options the importer refuses (see docs/guide/networks/files.md).
LEFT_OUT = ('training_mode', 'bfloat16', 'float8', 'FLOAT8', 'FLOAT4', 'FLOAT6', 'INT4', 'INT2', 'UINT4', 'float4', 'uint4',
            'int4', 'e8m0', 'E8M0', 'STRING', 'string', 'sequence', 'optional', 'peepholes', 'training', 'expanded', '_crop',
            'antialias', 'not_larger', 'not_smaller', 'with_argmax', 'maxunpool', 'constant_lstm', 'BFLOAT16')


def node_cases():
    from onnx.backend.test.case.node import collect_testcases
    index, pieces, size = [], [], 0

    def stored(data):
        nonlocal size
        pieces.append(data)
        size += len(data)
        return size - len(data)

    for case in collect_testcases(None):
        model, (inputs, outputs) = case.model, case.data_sets[0]
        plain = all(isinstance(a, (np.ndarray, np.generic, float, int)) for a in [*inputs, *outputs])
        if not plain or any(part in case.name for part in LEFT_OUT):
            continue
        if {n.op_type for n in model.graph.node} - OPERATORS or {n.domain for n in model.graph.node} - {''}:
            continue
        inputs, outputs = [np.ascontiguousarray(a) for a in inputs], [np.ascontiguousarray(a) for a in outputs]
        text = model.SerializeToString()
        known = all(a.dtype.kind in 'biuf' and a.dtype.itemsize <= 8 for a in [*inputs, *outputs])
        if not known or len(text) + sum(a.nbytes for a in [*inputs, *outputs]) > LARGEST_CASE:
            continue
        described = [[dict(dtype=str(a.dtype), shape=list(np.shape(b)), at=stored(a.tobytes())) for a, b in pairs]
                     for pairs in (list(zip(inputs, case.data_sets[0][0])), list(zip(outputs, case.data_sets[0][1])))]
        index.append(dict(name=case.name[len('test_'):], model=[stored(text), len(text)], inputs=described[0],
                          outputs=described[1]))
    np.savez_compressed(os.path.join(FOLDER, 'nodes.npz'),
                        index=np.frombuffer(json.dumps(index, separators=(',', ':')).encode(), np.uint8),
                        bytes=np.frombuffer(b''.join(pieces), np.uint8))
    print(len(index), 'cases of operators')


class UNet(torch.nn.Module):
    """Downwards by pooling, upwards by a transposed convolution and by interpolation, with skip connections."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.Conv2d(4, 6, 3, padding=1)
        self.middle = torch.nn.Conv2d(6, 6, 3, padding=1)
        self.up = torch.nn.ConvTranspose2d(6, 6, 2, stride=2)
        self.join, self.last = torch.nn.Conv2d(12, 4, 3, padding=1), torch.nn.Conv2d(8, 2, 1)

    def forward(self, x):
        F = torch.nn.functional
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(F.max_pool2d(a, 2)))
        c = F.relu(self.middle(F.avg_pool2d(b, 2)))
        d = F.relu(self.join(torch.cat([self.up(c), b], 1)))
        up = F.interpolate(d, scale_factor=2, mode='bilinear', align_corners=False)
        return self.last(torch.cat([up, a], 1)), F.interpolate(c, size=x.shape[-2:], mode='nearest')


class Recurrent(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.embed, self.cells = torch.nn.Embedding(11, 5), kind(5, 4, **options)
        self.last = torch.nn.Linear(4 * (1 + options.get('bidirectional', False)), 3)

    def forward(self, tokens):
        y, state = self.cells(self.embed(tokens))
        return self.last(y), (state[0] if isinstance(state, tuple) else state)


class Shapes(torch.nn.Module):
    """Arithmetic of shapes, masks and positions, as exporters write it for lengths that vary."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 12).reshape(3, 4))
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        n, length = x.shape[0], x.shape[1]
        y = self.norm(x @ self.weight).reshape(n, length * 2, -1)
        positions = torch.arange(length * 2, dtype=x.dtype).unsqueeze(0).expand(n, -1)
        mask = torch.ones(length * 2, length * 2, dtype=torch.bool).tril()
        scores = torch.matmul(y, y.transpose(1, 2)).masked_fill(~mask, -1e4)
        z = torch.softmax(scores, -1) @ y + positions.unsqueeze(-1)
        return torch.where(z > 0, z, z * 0.5)[:, 1:, ::2], z.mean((0, 1)), z.flatten(1).argmax(1)


def networks():
    vision = torchvision.models
    small = torchvision.models.resnet.ResNet(vision.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5, width_per_group=64)
    small.inplanes = 8
    small.conv1, small.bn1 = torch.nn.Conv2d(3, 8, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(8)
    small.layer1, small.layer2 = small._make_layer(vision.resnet.BasicBlock, 8, 2), small._make_layer(
        vision.resnet.BasicBlock, 16, 2, stride=2)
    small.layer3, small.layer4 = small._make_layer(vision.resnet.BasicBlock, 16, 1, stride=2), small._make_layer(
        vision.resnet.BasicBlock, 16, 1, stride=2)
    small.fc = torch.nn.Linear(16, 5)
    vgg = vision.vgg.VGG(vision.vgg.make_layers([4, 'M', 8, 'M', 8, 8, 'M'], batch_norm=True), num_classes=5)
    vgg.avgpool, vgg.classifier = torch.nn.AdaptiveAvgPool2d((2, 2)), torch.nn.Sequential(
        torch.nn.Linear(32, 16), torch.nn.ReLU(True), torch.nn.Dropout(), torch.nn.Linear(16, 5))
    settings = [[1, 8, 1, 1], [6, 8, 2, 2], [6, 16, 1, 2]]
    mobile = vision.mobilenetv2.MobileNetV2(num_classes=5, width_mult=0.25, inverted_residual_setting=settings)
    mobile.features[-1] = vision.mobilenetv2.Conv2dNormActivation(mobile.features[-2].out_channels, 32, kernel_size=1,
                                                                  activation_layer=torch.nn.ReLU6)
    mobile.classifier[1] = torch.nn.Linear(32, 5)
    Fire = vision.squeezenet.Fire
    squeeze = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, ceil_mode=True),
                                  Fire(8, 4, 6, 6), Fire(12, 4, 6, 6), torch.nn.Dropout(), torch.nn.Conv2d(12, 5, 1),
                                  torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    image, tokens = torch.randn(2, 3, 32, 32), torch.randint(0, 11, (3, 6))
    encoder = torch.nn.TransformerEncoderLayer(8, 2, 12, activation='gelu', batch_first=True)
    encoder_first = torch.nn.TransformerEncoderLayer(8, 2, 12, norm_first=True)
    torch.backends.mha.set_fastpath_enabled(False)
    varying = torch.randn(2, 3, 3)
    yield 'resnet', small, [image], {}
    yield 'vgg', vgg, [image], {}
    yield 'mobilenet_v2', mobile, [image], {}
    yield 'squeezenet', squeeze, [image], {}
    yield 'transformer', encoder, [torch.randn(2, 5, 8)], {}
    yield 'transformer_norm_first', encoder_first, [torch.randn(5, 2, 8)], {}
    yield 'lstm', Recurrent(torch.nn.LSTM, bidirectional=True, batch_first=True), [tokens], dict(
        dynamo=False, opset_version=14)
    yield 'gru', Recurrent(torch.nn.GRU, num_layers=2), [tokens], dict(dynamo=False, opset_version=14)
    yield 'unet', UNet(), [torch.randn(1, 3, 16, 16)], {}
    yield 'shapes', Shapes(), [varying], dict(dynamo=False, opset_version=14,
                                              dynamic_axes={'x0': {0: 'batch', 1: 'length'}}, input_names=['x0'])
    yield 'mobilenet_v2_old_exporter', mobile, [image], dict(dynamo=False, opset_version=11)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    node_cases()
    arrays = {}
    torch.manual_seed(0)
    for name, network, inputs, options in networks():
        for module in network.modules():  # statistics and weights that are not the initial ones
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.uniform_(-0.2, 0.2), module.running_var.uniform_(0.5, 1.5)
                torch.nn.init.uniform_(module.weight, 0.5, 1.5), torch.nn.init.uniform_(module.bias, -0.2, 0.2)
        network.eval()
        path = os.path.join(FOLDER, name + '.onnx')
        torch.onnx.export(network, tuple(inputs), path, **dict(dict(dynamo=True, external_data=False), **options)
                          if options.get('dynamo', True) else dict(options))
        model = onnx.load(path)
        del model.metadata_props[:]
        for node in model.graph.node:
            del node.metadata_props[:]
            node.doc_string = ''
        for value in list(model.graph.value_info) + list(model.graph.input) + list(model.graph.output):
            del value.metadata_props[:]
        del model.graph.value_info[:]
        onnx.save(model, path)
        with torch.no_grad():
            outputs = network(*inputs)
        outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
        arrays.update({'%s/x%d' % (name, i): x.numpy() for i, x in enumerate(inputs)})
        arrays.update({'%s/y%d' % (name, i): y.numpy() for i, y in enumerate(outputs)})
        print(name, os.path.getsize(path), sorted({n.op_type for n in model.graph.node}))
    np.savez_compressed(os.path.join(FOLDER, 'networks.npz'), **arrays)


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    sys.exit(main())
