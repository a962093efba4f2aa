"""Files written here load in Chainer 1.24 and PyTorch, and theirs load here, with equal predictions.

    python interop_test.py --program build/release/tests/interop --only chainer
    python interop_test.py --program build/release/tests/interop --only pytorch

Chainer 1.24 runs under Python 3.11 with NumPy 1.23 and the aliases of this file; HDF5 needs h5py, PyTorch the package
safetensors. What is not installed is skipped, which a line says; with --need it is an error.
"""
import argparse
import builtins
import collections
import collections.abc
import inspect
import os
import subprocess
import sys
import tempfile
import warnings

TOLERANCE = dict(rtol=1e-5, atol=1e-5)
done = []


def skip(what, why, need):
    if need:
        sys.exit('%s is needed: %s' % (what, why))
    print('skipped: %s: %s' % (what, why))


def run(program, *arguments):
    subprocess.run([program, *arguments], check=True)


def check(name, condition):
    if not condition:
        sys.exit('FAILED: ' + name)
    done.append(name)
    print('ok: ' + name)


def check_prediction(np, program, folder, name, file, io, expected):
    """This library predicts with `file` what the other one does."""
    out = os.path.join(folder, 'y.npz')
    run(program, 'predict', file, io, out)
    check(name, np.allclose(np.load(out)['y'], expected, **TOLERANCE))


def import_chainer():
    warnings.simplefilter('ignore')
    for name in ('Iterable', 'Mapping', 'Sequence', 'MutableMapping', 'Callable', 'Hashable'):
        setattr(collections, name, getattr(collections.abc, name))
    if not hasattr(inspect, 'getargspec'):
        inspect.getargspec = lambda f: inspect.getfullargspec(f)[:4]
    import numpy as np
    for name in ('bool', 'int', 'float', 'object', 'complex'):
        if name not in np.__dict__:
            setattr(np, name, getattr(builtins, name))
    import chainer
    return np, chainer


def with_chainer(program, folder, need):
    try:
        np, chainer = import_chainer()
        import chainer.functions as F
        import chainer.links as L
        from chainer import training
        from chainer.training import extensions
    except ImportError as e:
        return skip('Chainer', e, need)
    try:
        import h5py  # noqa: F401
        endings = ['npz', 'h5'] if os.path.exists(os.path.join(folder, 'model.h5')) else ['npz']
    except ImportError as e:
        skip('HDF5 in Chainer', e, need)
        endings = ['npz']
    save = {'npz': chainer.serializers.save_npz, 'h5': chainer.serializers.save_hdf5}
    load = {'npz': chainer.serializers.load_npz, 'h5': chainer.serializers.load_hdf5}

    def new_model():
        return chainer.Chain(conv=L.Convolution2D(2, 3, 3, pad=1), bn=L.BatchNormalization(3), fc=L.Linear(48, 5),
                             embed=L.EmbedID(7, 4), lstm=L.LSTM(4, 5))

    def predict(m, x, ids):
        image = m.fc(F.relu(m.bn(m.conv(chainer.Variable(x)), test=True)))
        m.lstm.reset_state()
        for k in range(ids.shape[1]):
            state = m.lstm(m.embed(chainer.Variable(ids[:, k].copy())))
        return (image + state).data

    io = os.path.join(folder, 'io.npz')
    stored = np.load(io)
    for ending in endings:
        model = new_model()
        load[ending](os.path.join(folder, 'model.' + ending), model)
        y = predict(model, stored['x'], stored['ids'])
        check('Chainer predicts with our model.' + ending, np.allclose(y, stored['y'], **TOLERANCE))

        theirs = new_model()
        theirs.bn.avg_mean[...] = [0.5, -1, 2]
        theirs.bn.avg_var[...] = [1, 2, 0.5]
        theirs.bn.gamma.data[...] = [1, 2, 3]
        path = os.path.join(folder, 'theirs.' + ending)
        save[ending](path, theirs)
        check_prediction(np, program, folder, 'we predict with Chainer\'s model.' + ending, path, io,
                         predict(theirs, stored['x'], stored['ids']))

        # The optimizer of the trainer below, which has made 6 updates.
        mlp = L.Classifier(chainer.Chain(l1=L.Linear(4, 6), l2=L.Linear(6, 3)))
        adam = chainer.optimizers.Adam()
        adam.setup(mlp)
        load[ending](os.path.join(folder, 'optimizer.' + ending), adam)
        check('Chainer loads our optimizer.' + ending, adam.t == 6 and np.abs(adam._states['/predictor/l1/W']['m']).max() > 0)

    class MLP(chainer.Chain):
        def __init__(self):
            super(MLP, self).__init__(l1=L.Linear(4, 6), l2=L.Linear(6, 3))

        def __call__(self, x):
            return self.l2(F.relu(self.l1(x)))

    model = L.Classifier(MLP())
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    x, t = np.zeros((12, 4), 'f'), np.zeros(12, 'i')
    iterator = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x, t), 4)
    trainer = training.Trainer(training.StandardUpdater(iterator, optimizer), (3, 'epoch'), os.path.join(folder, 'out'))
    trainer.extend(extensions.LogReport())
    try:
        trainer.extend(extensions.PlotReport(['main/loss'], file_name='loss.png'))
    except Exception as e:
        print('without PlotReport in Chainer: %s' % e)
    trainer.extend(extensions.ExponentialShift('alpha', 0.5), trigger=(1, 'epoch'))
    chainer.serializers.load_npz(os.path.join(folder, 'trainer.npz'), trainer)
    ours = np.load(os.path.join(folder, 'trainer.npz'))
    check('Chainer loads our trainer', trainer.updater.iteration == 6 and iterator.epoch == 2 and
          len(trainer.get_extension('LogReport').log) == 2 and
          (model.predictor.l1.W.data == ours['updater/model:main/predictor/l1/W']).all() and
          (optimizer._states['/predictor/l2/b']['v'] == ours['updater/optimizer:main/predictor/l2/b/v']).all())
    trainer.run()
    # Triggers of 1.24 have no state, so that they fire once too often after a resume.
    log = trainer.get_extension('LogReport').log
    check('Chainer trains on', trainer.updater.iteration == 9 and log[-1]['iteration'] == 9 and
          np.isfinite(log[-1]['main/loss']))


def with_pytorch(program, folder, need, fixture=None):
    try:
        import numpy as np
        import safetensors.torch
        import torch
    except ImportError as e:
        return skip('PyTorch', e, need)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(2, 3, 3, padding=1)
            self.bn = torch.nn.BatchNorm2d(3, eps=2e-5)
            self.fc = torch.nn.Linear(48, 5)
            self.embed = torch.nn.Embedding(7, 4)
            self.lstm = torch.nn.LSTM(4, 5, batch_first=True)

        def forward(self, x, ids):
            image = self.fc(torch.relu(self.bn(self.conv(x))).flatten(1))
            return image + self.lstm(self.embed(ids.long()))[0][:, -1]

    io = os.path.join(folder, 'io.npz')
    stored = {k: torch.from_numpy(v) for k, v in np.load(io).items()}

    def predict(m):
        with torch.no_grad():
            return m.eval()(stored['x'], stored['ids']).numpy()

    path = os.path.join(folder, 'model.safetensors')
    model = Model()
    model.load_state_dict(safetensors.torch.load_file(path))
    check('PyTorch predicts with our model.safetensors', np.allclose(predict(model), stored['y'], **TOLERANCE))
    with safetensors.safe_open(path, 'pt') as f:
        check('the metadata have the format', f.metadata() == {'format': 'pt'})

    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        theirs = Model()
        theirs.bn.running_mean[...] = torch.tensor([0.5, -1, 2])
        theirs.bn.running_var[...] = torch.tensor([1, 2, 0.5])
        theirs = theirs.to(dtype)
        path = os.path.join(folder, 'theirs.safetensors')
        safetensors.torch.save_file(theirs.state_dict(), path, {'format': 'pt'})
        check_prediction(np, program, folder, 'we predict with PyTorch\'s model of %s' % dtype, path, io,
                         predict(theirs.float()))
        if fixture and dtype == torch.float32:
            tensors = {'model.' + name: tensor for name, tensor in theirs.state_dict().items()}
            tensors.update(x=stored['x'], ids=stored['ids'], y=torch.from_numpy(predict(theirs)))
            safetensors.torch.save_file(tensors, fixture, {'format': 'pt'})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--only', choices=['chainer', 'pytorch'])
    parser.add_argument('--need', action='store_true')
    parser.add_argument('--fixture', help='writes tests/golden/serializers/pytorch.safetensors')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(args.program, 'write', folder)
        if args.only != 'pytorch':
            with_chainer(args.program, folder, args.need)
        if args.only != 'chainer':
            with_pytorch(args.program, folder, args.need, args.fixture)
    print('%d checks' % len(done))


if __name__ == '__main__':
    main()
