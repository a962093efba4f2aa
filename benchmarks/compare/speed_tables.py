#!/usr/bin/env python3
"""python3 benchmarks/compare/speed_tables.py SWEEP.md

Writes the speed tables of docs/performance.md (all cases) and README.md (some) from the table that a sweep has recorded.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CASES = {
    "overhead/add": "`c = a + b`, few elements, the result allocated",
    "autograd/square_sum_backward": "`(x * x).sum().backward()`, few elements",
    "elementwise/add": "add, ten dtypes",
    "elementwise/add_broadcast": "add a row or a column",
    "elementwise/exp": "exp",
    "elementwise/chain_fused": "six operations through `nd::fuse` (torch.compile)",
    "elementwise/transpose_copy": "transposed copy",
    "reduction/sum": "sum",
    "reduction/sum_axis0": "sum over axis 0",
    "reduction/sum_axis1": "sum over axis 1",
    "reduction/argmax_axis1": "argmax over axis 1",
    "rows/softmax": "softmax",
    "rows/layer_norm": "layer normalization",
    "rows/layer_norm_backward": "layer normalization with gradients",
    "scan/cumsum_axis0": "cumsum over axis 0",
    "sorting/sort": "sort rows",
    "indexing/take": "take by an integer array",
    "indexing/mask_select": "select by a mask",
    "matmul/skinny": "products of thin matrices",
    "matmul/transposed": "products of transposed matrices",
    "linalg/solve_512": "solve",
    "convolution/forward_backward": "convolution with gradients",
    "recurrent/lstm": "LSTM over sequences, with gradients",
    "loss/ctc": "CTC with gradients",
    "optimizer/adam_25600000": "Adam over many parameters",
    "training/mlp": "training step, perceptron",
    "training/cnn": "training step, small convolutional network",
    "training/resnet18": "training step, ResNet-18 on 32 x 32",
    "inference/mlp": "inference, perceptron",
    "inference/cnn": "inference, small convolutional network",
    "inference/resnet18": "inference, ResNet-18 on 32 x 32",
}
COLUMNS = {"numpy": "NumPy", "torch": "PyTorch", "onnxruntime": "ONNX Runtime", "best peer": "fastest peer", "worst tenth": "worst tenth"}
IN_README = ("overhead/add", "elementwise/add", "elementwise/chain_fused", "reduction/sum_axis1", "sorting/sort", "matmul/skinny",
             "convolution/forward_backward", "training/cnn")
NOT_IN_README = "onnxruntime"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def times(text):
    return text and (f"{float(text):.1f}x" if float(text) >= 2 else f"{float(text):.2f}x")


def head_of(columns):
    return "| case | " + " | ".join(COLUMNS[column] for column in columns) + " |"


def table(sweep, cases, columns):
    lines = [cells(line) for line in Path(sweep).read_text().splitlines() if line.startswith("|")]
    head, rows = lines[0], {row[0]: row for row in lines[1:]}
    places = [head.index(name) for name in columns]
    return [head_of(columns), "|---" * (len(columns) + 1) + "|"] + [
        f"| {CASES[case]} | " + " | ".join(times(rows[case][at]) for at in places) + " |" for case in cases]


def replace(document, new):
    lines = document.read_text().split("\n")
    begin = lines.index(new[0])
    end = next(i for i in range(begin, len(lines)) if not lines[i].startswith("|"))
    document.write_text("\n".join(lines[:begin] + new + lines[end:]))


def main():
    sweep = sys.argv[1]
    replace(ROOT / "docs/performance.md", table(sweep, CASES, COLUMNS))
    replace(ROOT / "README.md", table(sweep, IN_README, [column for column in COLUMNS if column != NOT_IN_README]))


if __name__ == "__main__":
    main()
