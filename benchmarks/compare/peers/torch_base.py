"""What the cases of PyTorch have in common: the device, and inputs and results as contender.h has them."""
import argparse

import torch

import data

parser = argparse.ArgumentParser()
parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
device = parser.parse_args().device
# float32 is float32 for all contenders: PyTorch would round the operands of convolutions to TF32.
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
synchronize = torch.cuda.synchronize if device == "cuda" else (lambda: None)


def uniform(*arguments):
    return torch.from_numpy(data.uniform(*arguments)).to(device)


def fingerprint(y):
    y = y.detach() if isinstance(y, torch.Tensor) else torch.as_tensor(y)
    return data.fingerprint(y.double().cpu().numpy(), y.element_size())


def input(p, *arguments):
    """From memory that is not aligned where p has an offset."""
    x = torch.from_numpy(data.input(p, *arguments)).to(device)
    return x.bfloat16() if data.dtype(p) == "E" else x


def dtype(p):
    return {"e": torch.float16, "E": torch.bfloat16, "f": torch.float32, "d": torch.float64, "l": torch.int64}[data.dtype(p)]


def labels(*arguments):
    return torch.from_numpy(data.labels(*arguments)).long().to(device)
