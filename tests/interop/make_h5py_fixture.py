"""Writes tests/golden/serializers/h5py.h5: what HDF5 files of other programs may hold. python make_h5py_fixture.py FILE

tests/nn/hdf5_test.cpp has the values. Needs h5py and NumPy.
"""
import os
import sys

import h5py
import numpy as np

path = sys.argv[1]
if os.path.exists(path):
    os.remove(path)
ramp = np.arange(24, dtype='f4').reshape(4, 6) / 8
with h5py.File(path, 'w') as f:
    g = f.create_group('layouts')
    g.create_dataset('contiguous', data=ramp)
    g.create_dataset('gzip', data=ramp, chunks=(3, 4), compression='gzip')
    g.create_dataset('shuffle', data=ramp, chunks=(3, 4), compression='gzip', shuffle=True, fletcher32=True)
    g.create_dataset('growing', data=ramp, chunks=(2, 6), maxshape=(None, 6))
    g.create_dataset('big_endian', data=ramp.astype('>f4'))
    g.create_dataset('empty', data=np.zeros((0, 3), 'f4'))
    g.create_dataset('unwritten', shape=(4, 6), dtype='f4', fillvalue=2.5)
    g.create_dataset('lzf', data=ramp, compression='lzf')  # a filter of h5py, which the library lacks

    g = f.create_group('types')
    for name in ('i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16'):
        g.create_dataset(name, data=np.array([1, 2, 100], name))
    g.create_dataset('bool', data=np.array([True, False, True]))
    g.create_dataset('enum', data=np.array([2, 1], 'i4'), dtype=h5py.enum_dtype({'ONE': 1, 'TWO': 2}, basetype='i4'))
    g.create_dataset('long_double', data=np.array([0.5, 0.25], np.longdouble))
    g.create_dataset('none', data=h5py.Empty('f4'))
    g.create_dataset('compound', data=np.array([(1, 2.0)], [('a', 'i4'), ('b', 'f4')]))
    g.create_dataset('opaque', data=np.array([b'12'], 'V2'))

    g = f.create_group('texts')
    utf8 = 'gr\u00fc\u00df dich'
    g.create_dataset('variable', data=utf8)
    g.create_dataset('variable_ascii', data='plain', dtype=h5py.string_dtype('ascii'))
    g.create_dataset('fixed_ascii', data=np.array(b'plain', 'S9'))
    g.create_dataset('fixed_utf8', data=utf8.encode(), dtype=h5py.string_dtype('utf-8', 16))
    g.create_dataset('nothing', data='')
    g.create_dataset('several', data=['a', 'b'], dtype=h5py.string_dtype())

    g = f.create_group('links')
    g['hard'] = f['layouts/contiguous']
    g['soft'] = h5py.SoftLink('/layouts/contiguous')
    g['dangling'] = h5py.SoftLink('/nowhere')
    g['external'] = h5py.ExternalLink('mlp.h5', '/l1/W')
    g['loop'] = f['links']
    layout = h5py.VirtualLayout((6, 4), 'f4')
    layout[:] = h5py.VirtualSource('mlp.h5', 'l1/W', (6, 4))
    g.create_virtual_dataset('virtual', layout)
    g.create_dataset('raw', shape=(6,), dtype='f4', external=[('mlp.h5', 0, 24)])

    # Claims without anything stored.
    g = f.create_group('huge')
    g.create_dataset('contiguous', shape=(1 << 40,), dtype='f4')
    g.create_dataset('chunked', shape=(1 << 40,), dtype='f4', chunks=(1024,))
    g.create_dataset('overflow', shape=(1 << 40, 1 << 40), dtype='f4', chunks=(1, 1024))
    g.create_dataset('chunk', shape=(4,), dtype='f4', chunks=(1 << 28,), maxshape=(None,))
    g.create_dataset('text', shape=(), dtype=h5py.string_dtype('ascii', 1 << 30))
