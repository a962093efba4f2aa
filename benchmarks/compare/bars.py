"""Speed targets on a CPU with two threads: the maximum in microseconds, and the minimum ratio to each peer.

"*" is every peer. Where the limit is the same vendor library on both sides, 0.97 counts as equal. "memory" and "loop" are this library
itself, by another case (see --instead in README.md).
"""

EQUAL = 0.97
# If a bar is below the time of plain loops over the same memory, this share of their speed meets it.
OF_FLOOR = 0.85

BARS = {
    "overhead/add": {"us": 0.15, "numpy": 2, "torch": 4, "libtorch": 4},
    "autograd/square_sum_backward": {"torch": 4, "libtorch": 4},
    "autograd/gradient_penalty": {"torch": 2},
    "embedding/dense_gradient": {"torch": 1.5},
    "loss/ctc": {"torch": 1},
    "loss/softmax_cross_entropy": {"torch": 1},
    "elementwise/add": {"numpy": 1.8, "torch": 4},
    "elementwise/transpose_copy": {"numpy": 8, "torch": 8},
    "elementwise/exp": {"numpy": 3, "torch": 1.2},
    "elementwise/tanh": {"numpy": 3, "torch": 1.2},
    "elementwise/chain_fused": {"numpy": 3, "torch": 2},
    "reduction/sum": {"numpy": 1.5, "torch": 1},
    "reduction/sum_axis0": {"numpy": 1.5, "torch": 1},
    "reduction/sum_axis1": {"numpy": 1.5, "torch": 1},
    "rows/softmax": {"torch": 1.2},
    "rows/layer_norm": {"torch": 1.2},
    "rows/layer_norm_backward": {"torch": 1},
    "matmul/1024_cubed": {"*": EQUAL},
    "matmul/100x784x1000": {"*": EQUAL},
    "matmul/32_cubed": {"numpy": 1.5},
    "convolution/forward_backward": {"torch": 1.2},
    "convolution/resnet18": {"torch": 1.2},
    "convolution/depthwise": {"torch": 1.0},
    "convolution/deconvolution": {"torch": 1.0},
    "training/mlp": {"torch": 1.5, "chainer": 3},
    "training/cnn": {"torch": 1.5, "chainer": 3},
    "training/dcgan": {"torch": 1},
    "training/png_feed": {"torch": 1, "memory": 0.9},
    "training/trainer_cost": {"torch": 1, "loop": 0.97},
    "per_example/mlp": {"torch": 1},
    "per_example/mlp_vmap": {"torch": 1},
    "per_example/cnn": {"torch": 1},
    "per_example/cnn_vmap": {"torch": 1},
    "recurrent/lstm": {"torch": 1.5},
    "recurrent/gru": {"torch": 1.5},
    "recurrent/lstm_cells": {"torch": 2},
    "recurrent/language_model": {"torch": 1},
    "optimizer/adam_200x64x64": {"torch": 5},
    "pool/temporary": {"us": 1},
    "cold_start/first_result": {"us": 20000},
}
# The chain's bar refers to eager PyTorch; the table also shows its compiled form.
VARIANT_OF_BAR = {"elementwise/chain_fused": {"torch": "default"}}


def asked(case, peer, variant):
    """The minimum ratio of a case to a variant of a peer; None without a bar."""
    bar = BARS.get(case, {})
    if not peer or VARIANT_OF_BAR.get(case, {}).get(peer, variant) != variant:
        return None
    return bar.get(peer, bar.get("*"))


def limit_us(case):
    return BARS.get(case, {}).get("us")
