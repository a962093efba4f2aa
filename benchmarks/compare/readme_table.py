#!/usr/bin/env python3
"""python3 benchmarks/compare/readme_table.py SWEEP.md [README.md]

The speed table of the README from the table that a sweep has recorded: printed, or written in place of the one in README.md.
"""
import sys

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
HEAD = "| case | " + " | ".join(COLUMNS.values()) + " |"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def times(text):
    return text and (f"{float(text):.1f}x" if float(text) >= 2 else f"{float(text):.2f}x")


def table(sweep):
    with open(sweep) as f:
        lines = [cells(line) for line in f if line.startswith("|")]
    head, rows = lines[0], {row[0]: row for row in lines[1:]}
    places = [head.index(name) for name in COLUMNS]
    return [HEAD, "|---" * (len(COLUMNS) + 1) + "|"] + [
        f"| {words} | " + " | ".join(times(rows[case][at]) for at in places) + " |" for case, words in CASES.items()]


def main():
    new = table(sys.argv[1])
    if len(sys.argv) == 2:
        return print("\n".join(new))
    with open(sys.argv[2]) as f:
        lines = f.read().split("\n")
    begin = lines.index(HEAD)
    end = next(i for i in range(begin, len(lines)) if not lines[i].startswith("|"))
    with open(sys.argv[2], "w") as f:
        f.write("\n".join(lines[:begin] + new + lines[end:]))


if __name__ == "__main__":
    main()
