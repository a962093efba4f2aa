"""Writes tests/golden/vision: names, shapes and results of Chainer 1.24's networks for images, and images of Pillow.

    python make_vision_fixture.py tests/golden/vision

Needs Chainer 1.24, NumPy, Pillow and, for the networks of torchvision, whose modules are written out here, PyTorch in
the Python of $TORCH_PYTHON. tests/nn/vision_test.cpp and tests/integration/vision_test.cpp read the files.

Weights and inputs follow the rule of `filled`, which tests/support/vision_fixture.h has, too.
"""
import json
import os
import subprocess
import sys

PERIOD = 1000003


def filled(np, path, shape):
    """The weights of a key: a pattern that begins where the letters of the key say, around a centre."""
    k = (np.arange(min(PERIOD, int(np.prod(shape))), dtype='i8') + sum(map(ord, path))) % PERIOD
    u = k * k % PERIOD * k % PERIOD / float(PERIOD) - 0.5
    name = path.split('/')[-1]
    fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
    center, width = dict(W=(0, (24. / fan_in) ** 0.5 * (0.01 if shape[0] == 1000 else 1)), b=(0, 0.2), gamma=(0.2 if '/bn3/' in path else 1, 0.2),
                         beta=(0, 0.2), avg_mean=(0, 0.2), avg_var=(1, 0.5), x=(0, 200.))[name]
    return np.resize((center + width * u).astype('f'), shape)


def samples(y):
    """What is compared of a result: its shape, sums in float64, elements."""
    flat = y.ravel().astype('f8')
    at = [0, len(flat) // 3, len(flat) // 2, len(flat) - 1]
    return dict(shape=list(y.shape), sum=float(flat.sum()), magnitude=float(abs(flat).sum()),
                at=at, elements=[float(flat[i]) for i in at])


def entries_of(serializers, net):
    s = serializers.DictionarySerializer()
    s.save(net)
    return s.target


def chainer_networks():
    from interop_test import import_chainer
    np, chainer = import_chainer()
    from chainer import serializers
    from chainer.links.model.vision import googlenet, resnet, vgg
    result = {}
    for name, cls, shape in (('VGG16Layers', vgg.VGG16Layers, (1, 3, 224, 224)),
                             ('GoogLeNet', googlenet.GoogLeNet, (1, 3, 224, 224)),
                             ('ResNet50Layers', resnet.ResNet50Layers, (2, 3, 40, 32)),
                             ('ResNet101Layers', resnet.ResNet101Layers, (1, 3, 40, 32)),
                             ('ResNet152Layers', resnet.ResNet152Layers, (1, 3, 40, 32))):
        net = cls(None)
        entries = entries_of(serializers, net)
        keys = sorted(entries)
        for path, param in net.namedparams():
            param.data[...] = filled(np, path[1:], param.shape)
        for path, link in net.namedlinks():
            if isinstance(link, chainer.links.BatchNormalization):
                link.avg_mean[...] = filled(np, path[1:] + '/avg_mean', link.avg_mean.shape)
                link.avg_var[...] = filled(np, path[1:] + '/avg_var', link.avg_var.shape)
        x = filled(np, 'x', shape)
        ys = net(chainer.Variable(x, volatile=True), layers=net.available_layers)
        image = np.arange(3 * 250 * 270).reshape(3, 250, 270) * 7 % 256
        result[name] = dict(
            count=int(sum(p.size for p in net.params())), layers=net.available_layers, input=list(shape),
            entries=[' '.join([k] + [str(n) for n in np.shape(entries[k])]) for k in keys],
            stages={k: samples(ys[k].data) for k in net.available_layers})
        if name in ('GoogLeNet', 'ResNet50Layers'):
            for over in (True, False):
                y = net.predict([image.astype('f')], oversample=over)
                result[name]['oversample' if over else 'center'] = samples(y.data)
        print(name, result[name]['count'])
    return result


def images():
    import numpy as np
    from PIL import Image
    from interop_test import import_chainer
    import_chainer()
    from chainer.links.model.vision import googlenet, resnet, vgg
    from chainer.utils import imgproc
    arrays, cases = {}, []
    color = (np.arange(3 * 13 * 17) * 37 % 256).reshape(3, 13, 17).astype('u1')
    noise = np.random.RandomState(0).randint(0, 256, (3, 40, 31)).astype('u1')
    arrays.update(color=color, noise=noise)
    filters = dict(nearest=Image.NEAREST, bilinear=Image.BILINEAR, bicubic=Image.BICUBIC)
    for source, image in (('color', color), ('noise', noise)):
        for width, height in ((5, 7), (17, 30), (64, 13), (31, 40), (33, 2)):
            for name in sorted(filters):
                resized = Image.fromarray(image.transpose(1, 2, 0)).resize((width, height), filters[name])
                key = '%s_%s_%dx%d' % (source, name, width, height)
                arrays[key] = np.asarray(resized).transpose(2, 0, 1)
                cases.append(dict(kind='resize', image=source, size=[width, height], filter=name, expected=key))
    nearest = Image.Image.resize  # what prepare() calls without a filter took the nearest pixel in Pillow of that time
    Image.Image.resize = lambda self, size: nearest(self, size, Image.NEAREST)
    for name, module in (('VGG16Layers', vgg), ('GoogLeNet', googlenet), ('ResNet50Layers', resnet)):
        for kind, image in (('chw', noise.astype('f')), ('hwc', noise.transpose(1, 2, 0)), ('hw', noise[0]),
                            ('1hw', noise[:1])):
            for size in ((20, 25), None):
                key = '%s_%s_%s' % (name, kind, 'x'.join(map(str, size)) if size else 'same')
                arrays[key] = module.prepare(image, size=size)
                cases.append(dict(kind='prepare', network=name, form=kind, size=size, expected=key))
    arrays['crops'] = imgproc.oversample([noise, 255 - noise], (21, 16))
    cases.append(dict(kind='oversample', image='noise', size=[21, 16], expected='crops'))
    return arrays, cases


TORCH = r'''
import json, sys
import numpy as np
import torch
from torch import nn
from make_vision_fixture import filled, samples


def conv(i, o, k, s=1, p=0, bias=False):
    return nn.Conv2d(i, o, k, s, p, bias=bias)


class Bottleneck(nn.Module):
    def __init__(self, i, planes, stride, downsample):
        super().__init__()
        self.conv1, self.bn1 = conv(i, planes, 1), nn.BatchNorm2d(planes)
        self.conv2, self.bn2 = conv(planes, planes, 3, stride, 1), nn.BatchNorm2d(planes)
        self.conv3, self.bn3 = conv(planes, planes * 4, 1), nn.BatchNorm2d(planes * 4)
        self.downsample = nn.Sequential(conv(i, planes * 4, 1, stride), nn.BatchNorm2d(planes * 4)) if downsample else None

    def forward(self, x):
        h = self.bn1(self.conv1(x)).relu()
        h = self.bn2(self.conv2(h)).relu()
        h = self.bn3(self.conv3(h))
        return (h + (x if self.downsample is None else self.downsample(x))).relu()


class ResNet(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 64, 7, 2, 3), nn.BatchNorm2d(64)
        channels = 64
        for n, planes in enumerate((64, 128, 256, 512)):
            blocks = []
            for i in range(layers[n]):
                blocks.append(Bottleneck(channels, planes, 2 if n > 0 and i == 0 else 1, i == 0))
                channels = planes * 4
            setattr(self, 'layer%d' % (n + 1), nn.Sequential(*blocks))
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        h = nn.functional.max_pool2d(self.bn1(self.conv1(x)).relu(), 3, 2, 1)
        h = self.layer4(self.layer3(self.layer2(self.layer1(h))))
        return self.fc(h.mean((2, 3)))


def vgg16():
    features, i = [], 3
    for o in (64, 64, 'M', 128, 128, 'M', 256, 256, 256, 'M', 512, 512, 512, 'M', 512, 512, 512, 'M'):
        if o == 'M':
            features.append(nn.MaxPool2d(2, 2))
        else:
            features += [conv(i, o, 3, 1, 1, True), nn.ReLU()]
            i = o
    net = nn.Module()
    net.features = nn.Sequential(*features)
    net.classifier = nn.Sequential(nn.Linear(25088, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(),
                                   nn.Dropout(), nn.Linear(4096, 1000))
    net.forward = lambda x: net.classifier(net.features(x).flatten(1))
    return net


KIND = dict(weight='W', bias='b', running_mean='avg_mean', running_var='avg_var')
result = {}
for name, make, size in (('vgg16', vgg16, (224, 224)), ('resnet50', lambda: ResNet([3, 4, 6, 3]), (40, 32)),
                         ('resnet101', lambda: ResNet([3, 4, 23, 3]), None), ('resnet152', lambda: ResNet([3, 8, 36, 3]), None)):
    net = make().eval()
    state = net.state_dict()
    result[name] = dict(entries=[' '.join([k] + [str(n) for n in v.shape]) for k, v in state.items()])
    if size is None:
        continue
    for key, value in state.items():
        if key.endswith('num_batches_tracked'):
            continue
        parent, last = key.rsplit('.', 1)
        kind = KIND[last]
        if parent + '.running_mean' in state:
            kind = dict(W='gamma', b='beta').get(kind, kind)
        value.copy_(torch.from_numpy(filled(np, key.replace('.', '/').rsplit('/', 1)[0] + '/' + kind, tuple(value.shape))))
    image = torch.from_numpy(np.resize(np.arange(3 * 256 * 256, dtype='i8') * 7 % 251, (3,) + size).astype('f'))
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    with torch.no_grad():
        y = net.forward(((image / 255 - mean) / deviation)[None])
    result[name].update(size=list(size), result=samples(y.numpy()))
json.dump(result, open(sys.argv[1], 'w'))
'''


def main(folder):
    import numpy as np
    os.makedirs(folder, exist_ok=True)
    arrays, cases = images()
    np.savez_compressed(os.path.join(folder, 'images.npz'), **arrays)
    with open(os.path.join(folder, 'images.json'), 'w') as f:
        f.write('[%s]\n' % ',\n'.join(json.dumps(c) for c in cases))
    networks = chainer_networks()
    here = os.path.dirname(os.path.abspath(__file__))
    torch_file = os.path.join(folder, 'torch.tmp')
    subprocess.check_call([os.environ['TORCH_PYTHON'], '-c', TORCH, torch_file], cwd=os.getcwd(),
                          env=dict(os.environ, PYTHONPATH=here))
    with open(torch_file) as f:
        networks.update(json.load(f))
    os.remove(torch_file)
    with open(os.path.join(folder, 'networks.json'), 'w') as f:
        f.write('{%s}\n' % ',\n'.join('"%s": %s' % (k, json.dumps(v)) for k, v in networks.items()))


if __name__ == '__main__':
    main(sys.argv[1])
