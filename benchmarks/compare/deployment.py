"""Latency of one image, and the size of what is shipped: Catena, onnxruntime, PyTorch, and TorchScript, which libtorch runs.

    cmake -S . -B build/static -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF && ninja -C build/static infer
    python benchmarks/compare/deployment.py --infer build/static/examples/deployment/infer

Needs PyTorch, torchvision, onnx, onnxruntime and NumPy. The networks are PyTorch's, with random weights, exported to ONNX: by default
a small one for 28 x 28 images, ResNet-18 and MobileNetV2. A network may also be an ONNX file, which PyTorch cannot run. All run with
the given number of threads, and what they compute is compared before it is timed. A latency is the median of --rounds means of
--calls calls. Catena's is measured by the program `infer` itself, without the start of the process, and the rounds of all contenders
take turns. The size of `infer` is that of the stripped program and the libraries that are not part of any system; of
the others, that of the shared libraries in their packages.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

SYSTEM_LIBRARIES = re.compile(r'(linux-vdso|ld-linux|lib(c|m|mvec|dl|rt|pthread|stdc\+\+|gcc_s|gomp|z|gfortran|quadmath)\.so)')


def small_network(torch):
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 10), nn.Softmax(1))


def torch_network(name):
    """The network and the shape of an image."""
    import torch
    torch.manual_seed(0)
    if name == 'small':
        return small_network(torch).eval(), (1, 1, 28, 28)
    import torchvision
    return getattr(torchvision.models, name)(weights=None).eval(), (1, 3, 224, 224)


def exported(name, folder):
    """The path of the network's ONNX file, its image, and PyTorch's network (None for a file)."""
    import numpy as np
    if name.endswith('.onnx'):
        import onnx
        dims = onnx.load(name).graph.input[0].type.tensor_type.shape.dim
        path, network, shape = name, None, [d.dim_value if d.dim_value > 0 else 1 for d in dims]
    else:
        import torch
        network, shape = torch_network(name)
        path = os.path.join(folder, name + '.onnx')
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            torch.onnx.export(network, (torch.zeros(shape),), path, input_names=['x'], dynamo=False)
    return path, np.random.RandomState(0).uniform(-1, 1, shape).astype(np.float32), network


def timed(run):
    """A contender whose rounds are measured here: (seconds per call, for a number of calls), and its result."""
    def round_of(calls):
        for _ in range(max(calls // 10, 10)):  # TorchScript compiles in the first calls
            run()
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - begin) / calls
    return round_of, run()


def catena(args, path, x, _, folder):
    import numpy as np
    image = os.path.join(folder, 'x.npy')
    np.save(image, x)
    environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads))

    def output(*calls):
        return subprocess.run([args.infer, path, image, *calls], check=True, env=environment, capture_output=True, text=True).stdout

    def round_of(calls):
        return float(re.search(r'([0-9.]+) ms per call', output(str(calls))).group(1)) / 1e3

    classes = [(int(i), float(y)) for i, y in re.findall(r'class (\d+) +(-?[0-9.]+)', output())]
    return round_of, classes


def onnxruntime(args, path, x, *_):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = ort.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    name = session.get_inputs()[0].name
    return timed(lambda: session.run(None, {name: x})[0])


def with_torch(args, x, network, make):
    import torch
    if network is None:
        raise ImportError('it is an ONNX file')
    torch.set_num_threads(args.threads)
    image = torch.from_numpy(x)
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        made = make(torch, network, image)

    def run():
        with torch.inference_mode():
            return made(image)
    return timed(run)


def pytorch(args, path, x, network, _):
    return with_torch(args, x, network, lambda torch, network, image: network)


def torchscript(args, path, x, network, _):
    return with_torch(args, x, network, lambda torch, network, image: torch.jit.optimize_for_inference(
        torch.jit.freeze(torch.jit.trace(network, image))))


def check(name, classes, results):
    """Ends the program unless infer prints the same values of its classes as the other results have."""
    import numpy as np
    for other, y in results.items():
        y = np.asarray(y)[0]
        for index, value in classes:
            if abs(y[index] - value) > 1e-3 * max(1, np.abs(y).max()):
                sys.exit('%s: class %d is %g in Catena and %g in %s' % (name, index, value, y[index], other))


def libraries_of(package):
    import importlib.util
    spec = importlib.util.find_spec(package)
    if spec is None:
        return None
    return sum(os.path.getsize(os.path.join(root, f))
               for root, _, files in os.walk(os.path.dirname(spec.origin)) for f in files if '.so' in f)


def shipped(program):
    """The bytes of the stripped program, and of each stripped library beside it that systems do not have."""
    found = {'program': program}
    for line in subprocess.run(['ldd', program], check=True, capture_output=True, text=True).stdout.splitlines():
        path = re.search(r'=> (/\S+)', line)
        if path and not SYSTEM_LIBRARIES.search(line):
            found[line.split()[0]] = path.group(1)
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, path in found.items():
            copy = os.path.join(folder, 'copy')
            shutil.copy(path, copy)
            subprocess.run(['strip', copy], check=True)
            sizes[name] = os.path.getsize(copy)
            os.remove(copy)
    return sizes


def print_sizes(program):
    sizes = shipped(program)
    print('size of Catena: %.1f MB (%s)' % (sum(sizes.values()) / 1e6, ', '.join('%s %.1f' % (n, s / 1e6) for n, s in sizes.items())))
    for name in ('onnxruntime', 'torch'):
        size = libraries_of(name)
        print('size of %s: %s' % (name, 'not installed' if size is None else '%.1f MB' % (size / 1e6)))


def measure(args, name, folder):
    path, x, network = exported(name, folder)
    rounds, results = {}, {}
    for contender, make in (('catena', catena), ('onnxruntime', onnxruntime), ('pytorch', pytorch), ('torchscript', torchscript)):
        try:
            rounds[contender], results[contender] = make(args, path, x, network, folder)
        except ImportError as error:
            print('%s: %s is left out: %s' % (os.path.basename(name), contender, error))
    check(name, results.pop('catena'), results)
    times = {contender: [] for contender in rounds}
    for _ in range(args.rounds):
        for contender, round_of in rounds.items():
            times[contender].append(round_of(args.calls))
    for contender, seconds in times.items():
        print('%s, batch 1, %s: %.3f ms (%.3f to %.3f)' % (os.path.basename(name), contender, 1e3 * statistics.median(seconds),
                                                           1e3 * min(seconds), 1e3 * max(seconds)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--infer', required=True, help='the program examples/deployment/infer')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--calls', type=int, default=100)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('networks', nargs='*', default=['small', 'resnet18', 'mobilenet_v2'], metavar='network')
    args = parser.parse_args()
    args.infer = os.path.abspath(args.infer)
    print_sizes(args.infer)
    with tempfile.TemporaryDirectory() as folder:
        for name in args.networks:
            measure(args, name, folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
