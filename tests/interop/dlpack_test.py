"""Arrays of this library in NumPy and PyTorch, and theirs here, without a copy, in one process.

    python dlpack_test.py --library build/release/tests/libtest_dlpack.so --only numpy
    python dlpack_test.py --library build/release/tests/libtest_dlpack.so --only pytorch

What is not installed is skipped, which a line says.
"""
import argparse
import ctypes
import gc
import sys

DTYPES = ['bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16', 'float32',
          'float64', 'complex64', 'complex128']
LAYOUTS = range(5)
# Names of capsules, which keep a pointer to them: before and after the tensor is taken.
NAMES = {0: b'dltensor', 1: b'dltensor_versioned'}
USED = {0: b'used_dltensor', 1: b'used_dltensor_versioned'}
done = 0

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


def check(name, condition):
    global done
    if not condition:
        sys.exit('FAILED: ' + name)
    done += 1


def load(path):
    lib = ctypes.CDLL(path)
    for name, result, arguments in [
            ('last_error', ctypes.c_char_p, []),
            ('export_sample', ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
            ('take', ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
            ('describe', ctypes.c_char_p, [ctypes.c_int]),
            ('elements', None, [ctypes.c_int, ctypes.POINTER(ctypes.c_double)]),
            ('fill', None, [ctypes.c_int, ctypes.c_double]),
            ('drop', None, [ctypes.c_int])]:
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments
    return lib


class Exported:
    """An array of this library as Python's protocol wants it."""

    def __init__(self, lib, dtype, layout, newest):
        self.lib, self.dtype, self.layout, self.newest = lib, dtype, layout, newest

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, stream=None, max_version=None, dl_device=None, copy=None):
        major = 1 if self.newest and max_version is not None and max_version[0] >= 1 else 0
        tensor = self.lib.export_sample(self.dtype.encode(), self.layout, major)
        if not tensor:
            raise RuntimeError(self.lib.last_error().decode())
        return api.PyCapsule_New(tensor, NAMES[major], None)


class Taken:
    """An array of another library, taken by this one."""

    def __init__(self, lib, array, newest=True, copy=-1):
        self.lib = lib
        try:
            capsule = array.__dlpack__(max_version=(1, 0)) if newest else array.__dlpack__()
        except TypeError:  # a library of before DLPack 1
            capsule = array.__dlpack__()
        major = 1 if api.PyCapsule_IsValid(capsule, NAMES[1]) else 0
        self.number = lib.take(api.PyCapsule_GetPointer(capsule, NAMES[major]), major, copy)
        if self.number < 0:
            raise ValueError(lib.last_error().decode())  # the capsule deletes the tensor
        api.PyCapsule_SetName(capsule, USED[major])

    def describe(self):
        return self.lib.describe(self.number).decode()

    def elements(self, size, is_complex):
        values = (ctypes.c_double * ((2 if is_complex else 1) * size))()
        self.lib.elements(self.number, values)
        return [complex(values[2 * i], values[2 * i + 1]) for i in range(size)] if is_complex else list(values)


def sample(np, dtype, layout):
    a = np.arange(24).astype(dtype).reshape(2, 3, 4)
    return [a, a.T, a[1, ::-1], a[0, 2, 1, ...], a[1:1]][layout]


def test_numpy(lib):
    try:
        import numpy as np
    except ImportError as error:
        return print('skipped: NumPy: %s' % error)
    if not hasattr(np, 'from_dlpack'):
        return print('skipped: NumPy: %s has no from_dlpack' % np.__version__)
    for dtype in DTYPES:
        for layout in LAYOUTS:
            expected = sample(np, dtype, layout)
            for newest in (False, True):
                b = np.from_dlpack(Exported(lib, dtype, layout, newest))
                check('numpy reads %s %d' % (dtype, layout), b.dtype == dtype and b.shape == expected.shape and
                      (b == expected).all() and (b.size == 0 or b.strides == expected.strides))
                try:
                    t = Taken(lib, expected, newest)
                except (BufferError, RuntimeError) as error:  # NumPy exports no bool before 1.25
                    check('numpy exports %s: %s' % (dtype, error), dtype == 'bool')
                    continue
                check('numpy is read %s %d' % (dtype, layout),
                      t.elements(expected.size, expected.dtype.kind == 'c') == expected.ravel().tolist())
                check('numpy describes', t.describe().endswith(' ' + dtype))
                lib.drop(t.number)
    # The same memory, which stays as long as either side has it.
    a = np.arange(6.0)
    before = sys.getrefcount(a)
    t = Taken(lib, a)
    check('numpy kept', sys.getrefcount(a) == before + 1)
    lib.fill(t.number, 7)
    check('numpy written', a.tolist() == [7] * 6)
    a[:] = 2
    check('numpy writes', t.elements(6, False) == [2] * 6)
    lib.drop(t.number)
    check('numpy released', sys.getrefcount(a) == before)
    # Read-only arrays: a copy, or an error that leaves the tensor with the capsule.
    if np.lib.NumpyVersion(np.__version__) >= '2.1.0':
        a.flags.writeable = False
        t = Taken(lib, a)
        lib.fill(t.number, 1)
        check('numpy read-only', a.tolist() == [2] * 6)
        check('numpy copied', sys.getrefcount(a) == before)
        try:
            Taken(lib, a, copy=0)
            check('numpy refused', False)
        except ValueError as error:
            check('numpy refused', 'the tensor is read-only' in str(error))
        gc.collect()
        check('numpy released after an error', sys.getrefcount(a) == before)
    print('numpy %s: %d checks passed' % (np.__version__, done))


def test_pytorch(lib):
    try:
        import torch
    except ImportError as error:
        return print('skipped: PyTorch: %s' % error)
    for dtype in DTYPES + ['bfloat16']:
        for layout in LAYOUTS:
            if layout == 2:
                continue  # PyTorch has no negative strides
            a = torch.arange(24).to(getattr(torch, dtype)).reshape(2, 3, 4)
            expected = [a, a.permute(2, 1, 0), None, a[0, 2, 1], a[1:1]][layout]
            for newest in (False, True):
                b = torch.from_dlpack(Exported(lib, dtype, layout, newest))
                check('pytorch reads %s %d' % (dtype, layout), b.dtype == expected.dtype and b.shape == expected.shape
                      and (b == expected).all() and (b.numel() == 0 or b.stride() == expected.stride()))
                t = Taken(lib, expected, newest)
                check('pytorch is read %s %d' % (dtype, layout), t.elements(expected.numel(), expected.is_complex()) ==
                      expected.reshape(-1).to(torch.complex128 if expected.is_complex() else torch.float64).tolist())
                check('pytorch describes', t.describe().endswith(' ' + dtype))
                lib.drop(t.number)
    a = torch.zeros(6)
    t = Taken(lib, a)
    lib.fill(t.number, 7)
    check('pytorch written', a.tolist() == [7] * 6)
    b = torch.from_dlpack(Exported(lib, 'float32', 0, True))
    gc.collect()
    check('pytorch keeps', (b + 1).sum().item() == 300)
    print('pytorch %s: %d checks passed' % (torch.__version__, done))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--library', required=True)
    parser.add_argument('--only', choices=['numpy', 'pytorch'], required=True)
    options = parser.parse_args()
    {'numpy': test_numpy, 'pytorch': test_pytorch}[options.only](load(options.library))
