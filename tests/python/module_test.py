"""The Python module against NumPy: the same expressions with xp = catena and xp = numpy.

    PYTHONPATH=build/release/python python3 tests/python/module_test.py

Where NumPy is not installed a line says that the test is skipped.
"""
import copy
import gc
import sys

try:
    import numpy
except ImportError as error:
    print('skipped: NumPy: %s' % error)
    sys.exit(0)

import catena

# Variables of the expressions.
VARIABLES = {
    'a': numpy.arange(24.0).reshape(2, 3, 4) / 7 - 1,
    'b': numpy.array([[3, 1, 2], [-4, 0, 7]]),
    'f': numpy.array([[3, 1, 2], [-4, 0, 7]], dtype='float32'),
    'u': numpy.array([0, 200, 17, 3], dtype='uint8'),
    'm': numpy.array([[True, False, True], [False, False, True]]),
    'z': numpy.array([1 + 2j, -3j, 4]),
    'v': numpy.array([5.0, -1.0, 2.5, 2.5, 0.0]),
    'i': numpy.array([2, 0, -1]),
    's': numpy.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),
    'e': numpy.zeros((0, 3)),
}

EXPRESSIONS = '''
a + 1; 1 - a; b * 2.5; b / 2; b // 2; b % 3; b ** 2; 2 ** v; f * 2; f + 2.5; f + b; u + 1; u * 2; ~b; ~m; -a; abs(b); +f
b & 3; b | 4; b ^ 5; b << 2; b >> 1; m & True; s @ s; s @ v[:3]; v < 2; b == f; b != 3; v >= 0; z * 2j; z + 1; abs(z)
[1, 2, 3] + i; i - (1, 2, 3); divmod(b, 3)[0]; divmod(b, 3)[1]; b == [[3, 1, 2], [0, 0, 0]]; 1.5 < v; e + 1
a[0]; a[-1, 1]; a[:, 1:, ::2]; a[..., 0]; a[None, 0, :, None]; a[::-1, ::-1, 3:0:-1]; b[m]; b[b > 1]; v[i]; a[:, i]; a[1, [0, 2]]
a[[0, 1], [1, 2], [3, 0]]; b[:, [True, False, True]]; a[0, ..., i]; v[[]]; v[numpy_int]; a[1][2][3]; e[:, 1]; b[i[1:2], 0]; a[()]
xp.sin(a); xp.exp(f); xp.sqrt(abs(b)); xp.maximum(b, 1); xp.hypot(v, 2); xp.arctan2(v, 1.0); xp.isnan(v / 1.0); xp.floor(a)
xp.logical_and(b, m); xp.add(b, 1, dtype='float32'); xp.power(v, 2); xp.conj(z); xp.sign(b); xp.rint(v); xp.log1p(abs(v)); xp.gcd(b, 6)
xp.sum(a); xp.sum(a, axis=1); xp.sum(a, axis=(0, 2), keepdims=True); a.sum(0); a.mean(axis=-1); a.std(); a.var(ddof=1); b.max(); b.min(1)
b.argmax(); b.argmin(axis=1); m.any(); m.all(axis=0); b.prod(); xp.sum(b, dtype='float32'); xp.sum(b, initial=10); xp.max(b, where=m, initial=-9)
a.cumsum(); xp.cumsum(b, axis=1); xp.cumprod(v); xp.sum(e, axis=0); xp.mean(f, axis=0)
xp.sort(v); xp.argsort(-a[0, 0]); xp.sort(b, axis=0); xp.unique(b); xp.unique(v, return_counts=True)[1]; xp.searchsorted(xp.sort(v), [0.0, 3.0])
xp.nonzero(b)[0]; xp.where(b > 0, b, 0); xp.where(m)[1]; xp.clip(b, 0, 2); xp.clip(v, None, 1); xp.median(v); xp.percentile(v, 30); xp.diff(v)
xp.quantile(a, [0.1, 0.5], axis=1); xp.isin(b, [1, 7]); xp.round(a, 1); xp.isclose(v, 2.5)
xp.zeros(3); xp.ones((2, 3), dtype='int32'); xp.full((2, 2), 7); xp.full(2, 1.5, dtype='float32'); xp.arange(5); xp.arange(1, 2, 0.25)
xp.linspace(0, 1, 5); xp.eye(3, k=1); xp.zeros_like(b); xp.ones_like(f); xp.full_like(b, 3); xp.tril(s); xp.triu(s, 1); xp.meshgrid(v, i)[0]
xp.array([[1, 2], [3, 4]]); xp.array([1, 2.5, True]); xp.array([True, False]); xp.array([1j, 2]); xp.array([]); xp.array(3); xp.array([[], []])
xp.array([2 ** 63]); xp.asarray(b, dtype=float); xp.array([v, v * 2]); xp.array((1, (2)))
a.reshape(6, 4); a.reshape((4, -1)); a.T; xp.transpose(a, (1, 0, 2)); xp.squeeze(a[:1]); xp.expand_dims(v, 0); xp.moveaxis(a, 0, -1)
xp.broadcast_to(v, (2, 5)); xp.concatenate([b, b]); xp.concatenate([b, f], axis=1); xp.stack([v, v]); xp.vstack([v, v]); xp.hstack([b, b])
xp.tile(v, 2); xp.repeat(b, 2, axis=1); xp.flip(a, 1); xp.roll(v, 2); xp.take(v, i); xp.take_along_axis(v, i, 0); b.astype('uint8'); b.astype(float)
xp.dot(v, v); xp.matmul(s, s); xp.tensordot(s, s); xp.einsum('ij,jk->ik', s, s); xp.outer(v, v); xp.trace(s); xp.inner(v, v); xp.vdot(z, z)
xp.linalg.inv(s); xp.linalg.det(s); xp.linalg.solve(s, v[:3]); xp.linalg.cholesky(s); xp.linalg.eigvalsh(s); xp.linalg.norm(v)
xp.fft.fft(v); xp.fft.rfft(v, n=8); xp.fft.ifft(z); xp.fft.fftfreq(5, 0.5); xp.fft.fftshift(v); xp.fft.fft2(s); xp.linalg.matrix_power(s, 3)
'''


def expressions():
    return [e.strip() for line in EXPRESSIONS.strip().splitlines() for e in line.split(';')]


failures = []
checks = 0


def check(name, condition, detail=''):
    global checks
    checks += 1
    if not condition:
        failures.append('%s %s' % (name, detail))


def equal(ours, theirs):
    """The same shape, dtype and values to rounding."""
    if not isinstance(ours, catena.Array):
        return ours == theirs
    ours, theirs = numpy.asarray(ours), numpy.asarray(theirs)
    tolerance = 2e-6 if theirs.dtype in ('float32', 'complex64') else 1e-12
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and \
        numpy.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


def test_expressions():
    newest = numpy.lib.NumpyVersion(numpy.__version__) >= '2.0.0'
    for expression in expressions():
        theirs = dict({k: x.copy() for k, x in VARIABLES.items()}, xp=numpy, numpy_int=numpy.int64(2))
        ours = dict({k: catena.array(x) for k, x in VARIABLES.items()}, xp=catena, numpy_int=numpy.int64(2))
        try:
            expected = eval(expression, theirs)
            result = eval(expression, ours)
        except Exception as error:
            check(expression, False, 'raised %r' % error)
            continue
        if newest or numpy.asarray(expected).dtype == getattr(result, 'dtype', None):  # NumPy 1 promotes by values
            check(expression, equal(result, expected), '%r, not %r' % (result, expected))


def test_writing():
    statements = ['x[0] = 1', 'x[:, 1] = [5, 6]', 'x[m] = -1', 'x[x > 2] *= 2', 'x += 1', 'x *= 2', 'x[[0, 1], [2, 0]] = 9',
                  'x[..., None][:, 0] = 3', 'x //= 2', 'x.fill(4)', 'x.shape = (3, 2)', 'x[1:, ::2] -= 1', 'x @= s']
    for statement in statements:
        results = []
        for xp, make in ((numpy, numpy.array), (catena, catena.array)):
            x = make(VARIABLES['b'].astype(float))
            y = x
            scope = dict(x=x, m=make(VARIABLES['m']), s=make(VARIABLES['s']))
            exec(statement, scope)
            results.append(scope['x'])
            check(statement + ' in place', scope['x'] is y)
        check(statement, equal(results[1], results[0]), '%r, not %r' % (results[1], results[0]))


def raises(kind, text, scope):
    try:
        eval(text, scope)
    except kind:
        return True
    except Exception as error:
        return '%r' % error
    return 'nothing was raised'


def test_errors():
    scope = dict(catena=catena, b=catena.array(VARIABLES['b']), v=catena.array(VARIABLES['v']))
    for kind, text in [(ValueError, 'b + v'), (IndexError, 'b[2]'), (IndexError, 'b[0, 0, 0]'), (TypeError, 'b + "x"'),
                       (ValueError, 'catena.array([[1, 2], [3]])'), (TypeError, 'catena.array(object())'), (TypeError, 'v & 1'),
                       (ValueError, 'b.reshape(5, 5)'), (ValueError, 'bool(b)'), (TypeError, 'catena.zeros(3, dtype="nothing")'),
                       (ValueError, 'catena.linalg.inv(catena.zeros((2, 2)))'), (TypeError, 'hash(b)'), (TypeError, 'len(b[0, 0])'),
                       (OverflowError, 'catena.array([2 ** 64])'), (MemoryError, 'catena.zeros(2 ** 60)'), (TypeError, 'b["x"]'),
                       (TypeError, 'catena.from_dlpack(3)'), (ValueError, 'catena.sum(b, axis=5)'), (IndexError, 'catena.sum(b, axis=5)'), (catena.AxisError, 'catena.sum(b, axis=5)'), (TypeError, 'catena.sin(b, colour=1)')]:
        found = raises(kind, text, scope)
        check(text, found is True, found)
    check('NotImplemented', catena.zeros(2).__add__(object()) is NotImplemented)


def test_numpy_shares_memory():
    x = numpy.arange(6.0).reshape(2, 3)
    before = sys.getrefcount(x)
    for take in (catena.asarray, catena.from_dlpack):
        y = take(x)
        y[0, 0] = 50
        check('written', x[0, 0] == 50)
        x[0, 0] = 0
        check('read', y[0, 0].item() == 0)
        check('kept', sys.getrefcount(x) > before)
        del y
        gc.collect()
        check('released', sys.getrefcount(x) == before)
    y = catena.arange(6.0).reshape(2, 3)
    for take in (numpy.asarray, numpy.from_dlpack, memoryview):
        z = take(y[:, ::2]) if take is not memoryview else numpy.asarray(memoryview(y[:, ::2]))
        z[1, 1] = 9
        check('of ours', y[1, 2].item() == 9 and z.strides == (24, 16))
        y[1, 2] = 5
        check('of ours, written', z[1, 1] == 5)
    kept = numpy.asarray(catena.full(1000, 3.0))
    gc.collect()
    check('kept by numpy', (kept == 3).all())
    x.flags.writeable = False
    z = catena.asarray(x)
    z[0, 0] = 7
    check('read-only is copied', x[0, 0] == 0)
    check('read-only', raises(ValueError, 'catena.asarray(x, copy=False)', dict(catena=catena, x=x)) is True)
    check('array copies', catena.array(y) is not y and not catena.array(x)[0, 0].item())
    check('numpy operators', isinstance(numpy.ones(3) + catena.ones(3), catena.Array))
    for name in ('bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64',
                 'complex64', 'complex128'):
        x = numpy.arange(4).astype(name)
        check(name, catena.asarray(x).dtype == x.dtype and equal(catena.asarray(x), x) and
              catena.asarray(x).dtype == getattr(catena, name) and str(catena.asarray(x).dtype) == name)
    big = numpy.arange(3, dtype='>i4')
    check('byte order', raises(TypeError, 'catena.asarray(x)', dict(catena=catena, x=big)) is True)


def test_objects():
    x = catena.array([[1.5, 2.0], [3.0, 4.0]])
    check('repr', repr(x) == repr(numpy.array([[1.5, 2.0], [3.0, 4.0]])))
    check('str', str(x) == '[[1.5 2. ]\n [3.  4. ]]')
    check('attributes', (x.shape, x.ndim, x.size, x.itemsize, x.nbytes, x.strides) == ((2, 2), 2, 4, 8, 32, (16, 8)))
    check('numbers', float(x[0, 0]) == 1.5 and int(x[1, 1]) == 4 and bool(x[0, 0]) and [10, 20, 30][catena.array(1)] == 20)
    check('tolist', x.tolist() == [[1.5, 2.0], [3.0, 4.0]] and x.item(0, 1) == 2 and x.item(3) == 4)
    check('iteration', [r.tolist() for r in x] == x.tolist() and len(x) == 2 and 2.0 in x and 7 not in x)
    check('bytes', x.tobytes() == numpy.asarray(x).tobytes() and bytes(memoryview(x)) == x.tobytes())
    check('copies', equal(copy.copy(x), x) and equal(copy.deepcopy(x), x))
    check('bfloat16', numpy.asarray(x.astype('bfloat16')).dtype == 'float32')
    check('dtypes', catena.float32 == 'float32' and catena.float32 == numpy.float32 and catena.float32 != 'float64' and
          catena.dtype(float) == catena.float64 and len({catena.int8, catena.dtype('int8')}) == 1)
    check('result_type', catena.result_type(catena.int8, catena.float32) == catena.float32)
    check('device', x.device == 'cpu:0' and x.__dlpack_device__() == (1, 0) and catena.current_device() == 'cpu:0')
    with catena.device('cpu'):
        check('in a device', catena.zeros(2).device == 'cpu:0')
    g, h = catena.random.default_rng(5), catena.random.default_rng(5)
    check('random', catena.array_equal(g.standard_normal((3, 4)), h.standard_normal((3, 4))) and g.integers(10, size=5).shape == (5,))


def test_array_api_standard():
    """Functions and arguments of the array API standard; its own suite is run by array_api_test.py."""
    a, b = catena.asarray(VARIABLES['a']), catena.asarray(VARIABLES['b'])
    v, s = catena.asarray(VARIABLES['v']), catena.asarray(VARIABLES['s'])
    check('namespace', v.__array_namespace__() is catena and v.__array_namespace__(api_version='2023.12') is catena)
    check('version', raises(ValueError, "v.__array_namespace__(api_version='2099.12')", dict(v=v)) is True)
    info = catena.__array_namespace_info__()
    check('info', info.default_device() in info.devices() and info.default_dtypes()['indexing'] == catena.int64 and
          sorted(info.dtypes(kind='complex floating')) == ['complex128', 'complex64'] and info.capabilities()['boolean indexing'])
    check('kinds', catena.isdtype(catena.int8, 'integral') and not catena.isdtype(catena.int8, ('bool', 'real floating')) and
          catena.isdtype(catena.float32, catena.float32) and raises(ValueError, "catena.isdtype(catena.int8, 'x')", dict(catena=catena)) is True)
    check('limits', catena.finfo(catena.float32).eps == 2.0 ** -23 and catena.finfo(catena.complex128).max == sys.float_info.max and
          catena.iinfo(catena.uint64).max == 2 ** 64 - 1 and catena.finfo(v).dtype == catena.float64)
    check('casts', catena.can_cast(catena.int8, catena.int16) and not catena.can_cast(v, catena.float32) and
          catena.result_type(catena.uint8, 1) == catena.uint8 and catena.result_type(b, 2.5) == catena.float64 and
          catena.astype(v, catena.int8).dtype == catena.int8)
    every = catena.unique_all(v)
    check('sets', every.values.tolist() == [-1, 0, 2.5, 5] and every.counts.tolist() == [1, 1, 2, 1] and
          equal(catena.take(every.values, every.inverse_indices), VARIABLES['v']) and catena.unique_values(b).shape == (6,))
    check('cumulative', catena.cumulative_sum(v, include_initial=True).tolist() == [0, 5, 4, 6.5, 9, 9] and
          catena.cumulative_prod(b, axis=1).tolist() == [[3, 3, 6], [-4, 0, 0]])
    check('order', catena.argsort(v, descending=True).tolist() == [0, 2, 3, 4, 1] and
          catena.sort(b, axis=0, descending=True).tolist() == [[3, 1, 7], [-4, 0, 2]])
    check('shapes', catena.permute_dims(a, (2, 0, 1)).shape == (4, 2, 3) and [x.tolist() for x in catena.unstack(b, axis=1)][1] == [1, 0] and
          catena.expand_dims(b, axis=(0, -1)).shape == (1, 2, 3, 1) and catena.broadcast_shapes((3, 1), (4,)) == (3, 4) and
          catena.concat([b, b], axis=None).shape == (12,) and catena.roll(b, (1, -1), axis=(0, 1)).tolist() == [[0, 7, -4], [1, 2, 3]])
    check('copies', raises(ValueError, 'catena.reshape(a.T, 24, copy=False)', dict(catena=catena, a=a)) is True and
          catena.reshape(a, 24, copy=False)[3].item() == a[0, 0, 3].item())
    check('variances', abs(catena.var(v, correction=0.5).item() - VARIABLES['v'].var() * 5 / 4.5) < 1e-14 and
          abs(catena.std(v, correction=1).item() - VARIABLES['v'].std(ddof=1)) < 1e-14)
    check('linalg', equal(catena.linalg.svdvals(s), numpy.linalg.svd(VARIABLES['s'])[1]) and
          equal(catena.linalg.matrix_norm(s, ord='nuc'), numpy.asarray(numpy.linalg.norm(VARIABLES['s'], 'nuc'))) and
          catena.linalg.vector_norm(v, ord=1).item() == 11 and catena.linalg.eigh(s).eigenvalues.shape == (3,) and
          catena.linalg.eigvals(s).dtype == catena.complex128 and catena.linalg.qr(s).R.shape == (3, 3) and
          catena.vecdot(v, v).item() == 38.5 and catena.linalg.slogdet(s).sign.item() == 1)
    check('arguments', raises(TypeError, 'catena.repeat(v, 2.5)', dict(catena=catena, v=v)) is True and
          catena.repeat(v, 2).shape == catena.repeat(v, [2]).shape == (10,) and
          raises(ValueError, 'catena.zeros((2, 2)).__imatmul__(catena.zeros(2))', dict(catena=catena)) is True and
          catena.positive(v, out=catena.zeros(5)).tolist() == v.tolist())
    check('axis errors', raises(IndexError, 'catena.expand_dims(v, axis=5)', dict(catena=catena, v=v)) is True and
          raises(ValueError, 'catena.nonzero(v[0])', dict(catena=catena, v=v)) is True)
    check('devices', catena.zeros(2, device='cpu').device == 'cpu:0' and catena.asarray([1], device=v.device).device == v.device and
          raises(TypeError, 'catena.zeros(2, device=3)', dict(catena=catena)) is True)


def test_threads():
    """Another thread runs during a long call."""
    import threading
    import time
    x = catena.zeros(3 * 10 ** 7)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)
    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    for _ in range(3):
        catena.sin(x)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    check('other threads run', len(during) > 10, '%d ticks in %.3f s' % (len(during), end - start))


for function in (test_array_api_standard, test_threads, test_expressions, test_writing, test_errors, test_numpy_shares_memory, test_objects):
    function()
for failure in failures:
    print('FAILED: ' + failure)
print('numpy %s: %d checks, %d failed' % (numpy.__version__, checks, len(failures)))
sys.exit(1 if failures else 0)
