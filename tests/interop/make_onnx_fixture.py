"""Writes tests/golden/onnx/messages.onnx, a model with every kind of field that nn/onnx/model.h has.

    python make_onnx_fixture.py tests/golden/onnx

Needs the package onnx, whose encoder makes the file. tests/nn/onnx_export_test.cpp reads it.
"""
import os
import sys

import onnx
from onnx import TensorProto, helper

typed = helper.make_tensor('typed', TensorProto.FLOAT, [2, 2], [1, 2, 3, 4.5])
raw = helper.make_tensor('raw', TensorProto.INT64, [2], (7).to_bytes(8, 'little') + (-2).to_bytes(8, 'little', signed=True),
                         raw=True)
halves = helper.make_tensor('halves', TensorProto.FLOAT16, [2], [0.5, -2])
bools = helper.make_tensor('bools', TensorProto.BOOL, [3], [True, False, True])
doubles = helper.make_tensor('doubles', TensorProto.DOUBLE, [], [0.125])
longs = helper.make_tensor('longs', TensorProto.UINT64, [1], [2**63])
texts = helper.make_tensor('texts', TensorProto.STRING, [2], [b'a', b'bc'])
inner = helper.make_graph([helper.make_node('Identity', ['x'], ['z'])], 'inner', [], [])
node = helper.make_node('Anything', ['x', '', 'raw'], ['y'], name='node', domain='own', doc_string='text', i=-3, f=0.0,
                        s='', t=doubles, g=inner, ints=[1, -1], floats=[0.5], strings=['u', 'v'])
graph = helper.make_graph(
    [node], 'main',
    [helper.make_tensor_value_info('x', TensorProto.FLOAT, ['batch', 3, None]),
     helper.make_tensor_value_info('number', TensorProto.INT32, [])],
    [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
    [typed, raw, halves, bools, longs, texts], 'of the graph')
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17), helper.make_opsetid('own', 2)],
                          producer_name='onnx', producer_version='1', doc_string='of the model', ir_version=8)
model.model_version = 5
helper.set_model_props(model, {'key': 'value'})
os.makedirs(sys.argv[1], exist_ok=True)
with open(os.path.join(sys.argv[1], 'messages.onnx'), 'wb') as f:
    f.write(model.SerializeToString(deterministic=True))
