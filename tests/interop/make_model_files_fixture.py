"""Writes tests/golden/model_files: models as PyTorch, safetensors and llama.cpp's gguf package write them.

    python make_model_files_fixture.py

Needs PyTorch, safetensors and gguf. expected.npz has, as float64, what each file must give: "<file>/<name>".
"""
import collections
import json
import os

import gguf
import numpy as np
import safetensors.torch
import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'model_files')
EXPECTED = {}


def expect(file, values):
    for name, value in values.items():
        value = value.detach() if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)
        EXPECTED['%s/%s' % (file, name)] = (torch.view_as_real(value) if value.is_complex() else value).double().numpy()


def network():
    torch.manual_seed(0)
    body = torch.nn.Sequential(collections.OrderedDict(
        conv=torch.nn.Conv2d(2, 3, 3, padding=1), bn=torch.nn.BatchNorm2d(3), fc=torch.nn.Linear(12, 4)))
    body.bn.running_mean.uniform_(-1, 1), body.bn.running_var.uniform_(0.5, 2)
    return body


def kinds():
    base = torch.arange(24.).reshape(4, 6)
    values = {'strided': base.t(), 'part': base[1:3, 2:5], 'every_second': base.flatten()[1::2], 'number': torch.tensor(2.5),
              'none': torch.zeros(0, 3), 'repeated': torch.tensor([[1.], [2.]]).expand(2, 3),
              'parameter': torch.nn.Parameter(torch.ones(2)), 'complex': torch.tensor([1 + 2j, -3j])}
    for dtype in ('bfloat16', 'float16', 'float64', 'int64', 'int32', 'int16', 'int8', 'uint8', 'bool', 'uint16', 'uint32'):
        values[dtype] = torch.tensor([0, 1, 3, 100]).to(getattr(torch, dtype))
    return values


def torch_files():
    state = network().state_dict()
    for name, options in (('state.pt', {}), ('state_old.pt', dict(_use_new_zipfile_serialization=False)),
                          ('state_protocol_4.pt', dict(pickle_protocol=4))):
        torch.save(state, os.path.join(FOLDER, name), **options)
    expect('state.pt', state)
    for name, options in (('kinds.pt', {}), ('kinds_old.pt', dict(_use_new_zipfile_serialization=False))):
        torch.save(kinds(), os.path.join(FOLDER, name), **options)
    expect('kinds.pt', kinds())
    model = network()
    optimizer = torch.optim.Adam(model.parameters())
    model.fc(torch.ones(1, 12)).sum().backward()
    optimizer.step()
    torch.save({'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': 3, 'best': 0.25, 'name': 'x',
                'nothing': None}, os.path.join(FOLDER, 'checkpoint.pt'))
    expect('checkpoint.pt', {'model.fc.weight': model.fc.weight, 'epoch': 3, 'best': 0.25,
                             'optimizer.state.4.exp_avg': optimizer.state_dict()['state'][4]['exp_avg'],
                             'optimizer.param_groups.0.betas.1': 0.999})
    torch.save(torch.nn.Linear(1, 1), os.path.join(FOLDER, 'whole_model.pt'))


def sharded():
    state = network().state_dict()
    names, weight_map = list(state), {}
    for part, some in enumerate((names[:3], names[3:]), 1):
        file = 'sharded-%05d-of-00002.safetensors' % part
        safetensors.torch.save_file({k: state[k] for k in some}, os.path.join(FOLDER, file), {'format': 'pt'})
        weight_map.update({k: file for k in some})
    total = sum(v.numel() * v.element_size() for v in state.values())
    with open(os.path.join(FOLDER, 'sharded.safetensors.index.json'), 'w') as f:
        json.dump({'metadata': {'total_size': total}, 'weight_map': weight_map}, f, indent=2, sort_keys=True)


def gguf_file():
    writer = gguf.GGUFWriter(os.path.join(FOLDER, 'model.gguf'), 'llama')
    writer.add_block_count(2)
    writer.add_string('text', 'one')
    writer.add_bool('yes', True)
    writer.add_int64('negative', -5)
    writer.add_float32('half', 0.5)
    writer.add_array('words', ['a', 'bc', ''])
    writer.add_array('numbers', [1, 2, 3])
    x = np.random.RandomState(0).uniform(-3, 3, (3, 64)).astype(np.float32)
    for kind in ('F32', 'F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1'):
        number = getattr(gguf.GGMLQuantizationType, kind)
        data = gguf.quants.quantize(x, number)
        writer.add_tensor('x.' + kind, data, raw_dtype=number)
        if kind != 'Q4_1':
            expect('model.gguf', {'x.' + kind: torch.tensor(gguf.quants.dequantize(data, number))})
    writer.add_tensor('ints', np.arange(6, dtype=np.int32).reshape(2, 3))
    expect('model.gguf', {'ints': torch.arange(6).reshape(2, 3)})
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    os.makedirs(FOLDER, exist_ok=True)
    torch_files()
    sharded()
    gguf_file()
    np.savez_compressed(os.path.join(FOLDER, 'expected.npz'), **EXPECTED)


if __name__ == '__main__':
    main()
