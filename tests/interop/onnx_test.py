"""Networks that this library exports run in onnxruntime, with the results that it computes itself.

    python onnx_test.py --program build/release/tests/test_onnx

Every file passes onnx.checker, declares the shapes that its outputs have, and gives in onnxruntime what this library
gives, within rounding, also for other lengths of dynamic axes than the one that was exported. Without onnxruntime the
test is skipped, which a line says; with --need it is an error.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

TOLERANCE = {'float32': 2e-5, 'float64': 1e-13, 'float16': 1e-2}  # of the greatest element; integers and bools are equal


def shape_of(value):
    return [d.dim_value if d.HasField('dim_value') else None for d in value.type.tensor_type.shape.dim]


def check_network(np, onnx, ort, path):
    """Returns the errors of one file."""
    name = os.path.basename(path)[:-len('.onnx')]
    model = onnx.load(path)
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as e:  # the checker has several kinds
        return ['%s: the checker says: %s' % (name, e)]
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    outputs = [o.name for o in model.graph.output]
    declared = [shape_of(o) for o in model.graph.output]
    errors = []
    calls = sorted(glob.glob(path[:-len('.onnx')] + '.[0-9].npz'))
    if not calls:
        return ['%s: there are no calls' % name]
    for call in calls:
        stored = np.load(call)
        results = session.run(outputs, {i.name: stored[i.name] for i in model.graph.input})
        for output, shape, y in zip(outputs, declared, results):
            expected = stored[output]
            where = '%s, output %s' % (os.path.basename(call), output)
            if y.shape != expected.shape or y.dtype != expected.dtype:
                errors.append('%s: %s %s instead of %s %s' % (where, y.dtype, y.shape, expected.dtype, expected.shape))
            elif len(shape) != y.ndim or any(d not in (None, n) for d, n in zip(shape, y.shape)):
                errors.append('%s: the file declares %s, the result has %s' % (where, shape, y.shape))
            else:
                greatest = max(1, np.abs(expected).max(initial=0, where=np.isfinite(expected)))
                if not np.allclose(y, expected, equal_nan=True, rtol=0, atol=greatest * TOLERANCE.get(str(y.dtype), 0)):
                    difference = np.abs(y.astype(np.float64) - expected).max()
                    errors.append('%s: differs by %g, the greatest is %g' % (where, difference, greatest))
    return errors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--need', action='store_true')
    arguments = parser.parse_args()
    try:
        import numpy as np
        import onnx
        import onnxruntime as ort
    except ImportError as e:
        if arguments.need:
            sys.exit('onnxruntime is needed: %s' % e)
        print('skipped: onnxruntime: %s' % e)
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.program, folder], check=True)
        files = sorted(glob.glob(os.path.join(folder, '*.onnx')))
        failed = 0
        for path in files:
            errors = check_network(np, onnx, ort, path)
            print('\n'.join('FAILED: ' + e for e in errors) or 'ok: ' + os.path.basename(path))
            failed += bool(errors)
    print('%d networks, %d failed' % (len(files), failed))
    if failed or len(files) < 30:
        sys.exit(1)


if __name__ == '__main__':
    main()
