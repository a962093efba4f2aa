"""Times of routines of libraries, which the model does not execute: as measured where the same call was measured on the card, else the larger
one of its bounds by memory and by arithmetic. They depend on the call alone, so that they are the same for every program that makes it. And
the works of a peer for a case, each by the same figures."""
from dataclasses import dataclass

import cards

PREFIX = "cudnnBackendExecute(convolution_"
HALF = 989e12  # operations per second of tensor cores on 16 bits, dense (data sheets of H100 and H200)
# The part of it that convolutions reach: forward pass of the measured shape below
REACHED = 0.70

# 16-bit convolutions 3 x 3 of 256 channels-last channels of 28 x 28, batch 64; batch normalization of its result: PyTorch 2.11 with cuDNN on an
# H200, 2026-11-26. The two gradients of the convolution were measured together (308.4 us with the forward pass).
SHAPE = {"batch": 64, "channels": 256, "size": 28, "dtype": ord("e")}
MEASURED = {"convolution_forward": 85.3e-6, "convolution_data": 111.55e-6, "convolution_filter": 111.55e-6, "batch_norm_forward": 23.5e-6}
# The whole block by PyTorch in the same call
PEER_MEASURED = {"convolution/block_autocast": 140.9e-6, "convolution/block_autocast_backward": 407.5e-6}


@dataclass(frozen=True)
class Block:
    """A convolution 3 x 3 with its normalization, in bytes of 16-bit elements."""
    batch: int
    channels: int
    size: int
    dtype: int

    @property
    def images(self):
        return 2 * self.batch * self.channels * self.size ** 2

    @property
    def filter(self):
        return 2 * 9 * self.channels ** 2

    @property
    def operations(self):
        return self.images * 9 * self.channels

    @property
    def measured(self):
        return all(getattr(self, name) == value for name, value in SHAPE.items())


def moved(bytes_moved, card):
    """The time of a kernel that moves so many bytes."""
    return cards.KERNEL_START + bytes_moved / card.memory


def routine(block, name, card):
    """The time of a routine, and where it is from."""
    if block.measured and card.name == "H200" and name in MEASURED:
        return MEASURED[name], "measured"
    if name.startswith("convolution"):
        arithmetic = cards.KERNEL_START + block.operations / (REACHED * HALF)
        return max(arithmetic, moved(2 * block.images + block.filter, card)), "bound"
    # The forward pass reads the images twice; the kernels of the gradient keep what they have read.
    return moved(3 * block.images, card), "bound"


ROUTINES = {"cudnnBatchNormalizationForwardTrainingEx": "batch_norm_forward", "cudnnBatchNormalizationBackwardEx": "batch_norm_backward"}


def time_of(case, parameters, work, card):
    """Seconds of a work by its name in the records of the software device; None if there is no figure for it."""
    if not case.startswith("convolution/block_autocast"):
        return None
    block = Block(**{name: parameters[name] for name in SHAPE})
    if work in ROUTINES:
        return routine(block, ROUTINES[work], card)[0]
    if not work.startswith(PREFIX):
        return None
    pass_name, _, copied = work[len(PREFIX):].rstrip(")").partition("; copies ")
    seconds = routine(block, "convolution_" + pass_name, card)[0]
    # Operands that are not channels-last are copied by the routine.
    return seconds + sum(moved(2 * (block.filter if operand == "w" else block.images), card) for operand in copied)


def peer(case, parameters, card):
    """PyTorch's works for a case, [(what, seconds, where from)]: the kernels that its functions launch."""
    block = Block(**{name: parameters[name] for name in SHAPE})

    def kernel(what, bytes_moved):
        return what, moved(bytes_moved, card), "bytes"

    def call(name):
        return name, *routine(block, name, card)
    works = [kernel("filter to 16 bits", 3 * block.filter), call("convolution_forward"), call("batch_norm_forward"),
             kernel("relu", 2 * block.images)]
    if case.endswith("_backward"):
        works += [kernel("gradient of relu", 3 * block.images), call("batch_norm_backward"), call("convolution_data"),
                  call("convolution_filter"), kernel("gradient of the filter to 32 bits", 3 * block.filter)]
    return works
