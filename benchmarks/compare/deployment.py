"""Latency of one image, and the size of what is shipped, of networks in ONNX files: Catena, onnxruntime, PyTorch.

    python deployment.py --infer build/static/examples/deployment/infer network.onnx ...

Needs onnxruntime, onnx and NumPy; PyTorch (with onnx2torch) where it is installed. Each runs with the given number of threads. The
latency of Catena is that of the program `infer`: the time of `--calls` more calls, divided by their number. The size is that of the
stripped program; of the others, that of the shared libraries of their packages.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def example_input(path):
    import numpy as np
    import onnx
    dims = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
    shape = [d.dim_value if d.dim_value > 0 else 1 for d in dims]
    return np.random.RandomState(0).uniform(-1, 1, shape).astype(np.float32)


def timed(run, calls, rounds=5):
    for _ in range(max(calls // 10, 1)):
        run()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        times.append((time.perf_counter() - begin) / calls)
    return statistics.median(times)


def catena(args, network, folder):
    import numpy as np
    image = os.path.join(folder, 'x.npy')
    np.save(image, example_input(network))
    environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads))

    def seconds(calls):
        begin = time.perf_counter()
        subprocess.run([args.infer, network, image, str(calls)], check=True, env=environment, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    few = statistics.median(seconds(args.calls // 10) for _ in range(5))
    many = statistics.median(seconds(args.calls + args.calls // 10) for _ in range(5))
    return (many - few) / args.calls


def onnxruntime(args, network, _):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = ort.InferenceSession(network, options, providers=['CPUExecutionProvider'])
    x, name = example_input(network), session.get_inputs()[0].name
    return timed(lambda: session.run(None, {name: x}), args.calls)


def pytorch(args, network, _):
    import onnx2torch
    import torch
    torch.set_num_threads(args.threads)
    model, x = onnx2torch.convert(network).eval(), torch.from_numpy(example_input(network))
    with torch.inference_mode():
        return timed(lambda: model(x), args.calls)


def libraries_of(package):
    import importlib.util
    spec = importlib.util.find_spec(package)
    if spec is None:
        return None
    total = 0
    for root, _, files in os.walk(os.path.dirname(spec.origin)):
        total += sum(os.path.getsize(os.path.join(root, f)) for f in files if '.so' in f)
    return total


def stripped_size(program):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, 'program')
        shutil.copy(program, copy)
        subprocess.run(['strip', copy], check=True)
        return os.path.getsize(copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--infer', required=True, help='the program examples/deployment/infer')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--calls', type=int, default=200)
    parser.add_argument('networks', nargs='+', metavar='network.onnx')
    args = parser.parse_args()
    for name, size in (('catena', stripped_size(args.infer)), ('onnxruntime', libraries_of('onnxruntime')),
                       ('torch', libraries_of('torch'))):
        print('size of %s: %s' % (name, 'not installed' if size is None else '%.1f MB' % (size / 1e6)))
    with tempfile.TemporaryDirectory() as folder:
        for network in args.networks:
            for name, run in (('catena', catena), ('onnxruntime', onnxruntime), ('torch', pytorch)):
                try:
                    print('%s, batch 1, %s: %.3f ms' % (os.path.basename(network), name, 1e3 * run(args, network, folder)))
                except ImportError as error:
                    print('%s: %s is left out: %s' % (os.path.basename(network), name, error))
    return 0


if __name__ == '__main__':
    sys.exit(main())
