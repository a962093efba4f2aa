"""PyTorch's layers with weights of 8 bits."""
import itertools

import torch

from protocol import Case
from torch_base import device, uniform
from torch_training import initialize


def int8_layers(p, dynamic):
    """Layers that rotate: torch.ao's dynamic ones, with weights of 8 bits and inputs that are rounded to 8 bits in the call, or layers
    in float32 with the rounded weights. The compared result is that of the latter for both: only the weights are rounded here."""
    from torch.ao.nn.quantized.dynamic import Linear  # an old package: without it, this case alone is missing
    from torch.ao.quantization import PerChannelMinMaxObserver, per_channel_dynamic_qconfig
    sets = []
    for seed in range(p["sets"]):
        layer = initialize(torch.nn.Linear(p["inputs"], p["outputs"]).to(device), 2 * seed + 1)
        observer = PerChannelMinMaxObserver(dtype=torch.qint8, qscheme=torch.per_channel_symmetric)
        observer(layer.weight.detach())
        scale, zero_point = observer.calculate_qparams()
        rounded = torch.nn.Linear(p["inputs"], p["outputs"]).to(device)
        with torch.no_grad():
            rounded.weight.copy_(torch.quantize_per_channel(layer.weight, scale, zero_point, 0, torch.qint8).dequantize())
            rounded.bias.zero_()
        layer.qconfig = per_channel_dynamic_qconfig
        sets.append((Linear.from_float(layer) if dynamic else rounded, rounded, uniform((p["batch"], p["inputs"]), 2 * seed, -1)))
    turns = itertools.cycle(sets)

    def call():
        layer, _, x = next(turns)
        return layer(x)
    return Case(call, result=lambda: sets[0][1](sets[0][2]), around=torch.inference_mode)


table = {"inference/float32_linear": {"default": lambda p: int8_layers(p, dynamic=False)}}
if device == "cpu":
    table["inference/int8_linear"] = {"dynamic": lambda p: int8_layers(p, dynamic=True), "float32": lambda p: int8_layers(p, dynamic=False)}
