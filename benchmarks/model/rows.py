"""Operations that a peer did faster on an H200, or nearly so, with both times: gpu_model.py --rows prints the counters and the predicted time
of this tree beside them. Measured on 2026-11-26 (tree 1868d78, driver 580, CUDA 13.0; PyTorch 2.11, CuPy 14.2; no TF32)."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    case: str
    before: float | None  # microseconds of this library, of tree 1868d78
    peer: float           # and of the fastest peer in the same call
    name: str = "PyTorch"  # of that peer
    parameters: dict = field(default_factory=dict)
    # Parameters that are executed instead, where run.reduced cannot divide the case; counters are multiplied by the quotient of the sizes.
    executed: dict = field(default_factory=dict)
    most: int = 1 << 22   # elements that are executed
    unknown: str = ""     # why there is no prediction, where it is not a routine of a library

    @property
    def label(self):
        words = (f"{k}={chr(v) if k == 'dtype' else v}" for k, v in self.parameters.items() if k != "sets")
        return " ".join([self.case, *words])


U8, F64, F16, F32, I64 = map(ord, "Bdefl")
LONG = 1 << 24
FOUR = {"sets": 4}
IMAGES = {"batch": 64, "channels": 256, "outputs": 256, "size": 28, "sets": 1}
HALF_IMAGES = {"batch": 64, "channels": 256, "size": 28, "dtype": F16, "sets": 1}
# What attention executes: an eighth of the batch
OF_BATCH = {"batch": 1}


def matrix(rows, columns, **others):
    return {"rows": rows, "columns": columns, "sets": 4, **others}


def line(n=LONG, **others):
    """A row that is sorted as a whole. Integers of the cases are below 100, while those that were measured had all digits: passes of a radix
    sort over digits that are equal do nothing."""
    return {"rows": 1, "columns": n, "sets": 1, **others}


def scattered(bins, dtype):
    return {"bins": bins, "dtype": dtype, "sets": 1}


def scores(dtype):
    return {"batch": 8, "dtype": dtype, "sets": 1}


# A part of a sorted row that the interpreter executes in a minute
PART = {"columns": 1 << 19}

ROWS = [
    Row("linalg/inverses_1000x16x16", 43276, 87.8),
    Row("linalg/svd_256", 20938, 6929, executed={"rows": 32, "columns": 32}),
    # Every addition to one of 16 sums of 16 bits waits for the one before it: a part shows the rate.
    Row("indexing/scatter_add", 11361271, 1942, parameters=scattered(16, F16), executed={"n": 1 << 18}),
    Row("indexing/scatter_add", 125.7, 63.0, parameters=scattered(1 << 20, F16)),
    Row("indexing/scatter_add", 1083, 1081, parameters=scattered(16, F32)),
    Row("indexing/bincount", 271.8, 107.3),
    Row("sorting/sort", 4876, 519.0, "CuPy", line(), PART),
    Row("sorting/sort", 8791, 1074, "CuPy", line(dtype=I64), PART),
    Row("sorting/sort", 797.2, 234.4, "CuPy", line(dtype=U8), PART),
    Row("sorting/argsort", 4637, 819.9, parameters=line(), executed=PART),
    Row("sorting/partition", 1129, 195.9, "CuPy", executed={"n": 1 << 20}),
    Row("sorting/partition", 4861, 345.4, parameters={"n": LONG, "kth": 100}, executed={"n": 1 << 20}),
    Row("sorting/argpartition", 294.4, 95.4),
    Row("sorting/sort", 62.9, 43.7),
    Row("sorting/argsort", 61.5, 43.6),
    Row("matmul/attention_scores", 1766, 170.8, parameters=scores(F16), executed=OF_BATCH),
    Row("matmul/attention_scores", 1152, 601.0, parameters=scores(F32), executed=OF_BATCH),
    Row("matmul/complex", 429.5, 166.7, parameters={"m": 1024, "k": 1024, "n": 1024}),
    Row("matmul/complex", 117.3, 22.1, parameters={"dtype": F64}),
    Row("matmul/1024_cubed", 3531, 3067, parameters={"m": 4096, "k": 4096, "n": 4096, "sets": 1}, executed={"m": 512, "k": 512, "n": 512}),
    Row("rows/softmax", 20.0, 12.0, parameters=FOUR),
    Row("rows/log_softmax", 17.5, 10.3, parameters=FOUR),
    Row("rows/layer_norm", 25.2, 17.0, parameters=FOUR),
    Row("rows/layer_norm", 102.4, 55.2, parameters=matrix(16384, 1024)),
    Row("rows/layer_norm", 92.5, 41.7, parameters=matrix(16384, 1024, dtype=F16)),
    Row("rows/layer_norm_backward", 323.5, 198.7, parameters=matrix(16384, 1024)),
    Row("rows/layer_norm_backward", 329.5, 165.1, parameters=matrix(16384, 1024, dtype=F16)),
    Row("rows/softmax", 545.7, 266.4, parameters=matrix(131072, 1024)),
    Row("reduction/sum", 28.3, 20.6, "CuPy", FOUR, most=LONG),
    Row("reduction/var", 37.9, 29.2, parameters=FOUR, most=LONG),
    Row("reduction/argmax", 33.0, 28.7, parameters=FOUR, most=LONG),
    Row("reduction/sum_axis1", 147.6, 20.1, "CuPy", matrix(1 << 20, 16)),
    Row("reduction/sum_axis0", 115.3, 38.3, parameters=matrix(1 << 20, 16)),
    Row("reduction/sum_axis0", 36.7, 22.9, parameters=matrix(16, 1 << 20)),
    # Measured as the mean over axes 0, 2, 3 of (32, 256, 56, 56)
    Row("reduction/sum_outer", 61.6, 51.6, parameters={"outer": 32, "axis": 256, "inner": 3136, "sets": 4}),
    Row("rows/batch_norm", 106.3, 23.5, parameters=HALF_IMAGES),
    Row("rows/batch_norm_backward", 285.1, 128.8, parameters=HALF_IMAGES),
    # Measured without the scope of mixed precision: with filters of 16 bits, images channels first
    Row("convolution/block_autocast", 246.5, 140.9),
    Row("activation/dropout", 48.8, 25.2, parameters={"n": 64 * 256 * 28 * 28, "dtype": F16, "sets": 1}),
    Row("convolution/max_pooling", 73.3, 55.3, parameters={"sets": 1}),
    Row("convolution/max_pooling_backward", 345.4, 234.0, parameters={"sets": 1}),
    Row("convolution/max_pooling_backward", 344.9, 230.1, parameters={"dtype": F16, "sets": 1}),
    Row("convolution/forward", 2192, 579.1, parameters=IMAGES, executed=OF_BATCH),
    Row("convolution/forward_backward", 7043, 1667, parameters=IMAGES, executed=OF_BATCH),
    Row("convolution/resnet18", 262.4, 238.8, executed=OF_BATCH),
    Row("convolution/forward_backward", 492.5, 456.9, executed=OF_BATCH),
    Row("convolution/depthwise", 411.4, 135.2),
    Row("loss/ctc", 2419, 854.3),
    Row("loss/softmax_cross_entropy", 1149, 1138),
    Row("training/resnet18", 12142, 11160, executed=OF_BATCH),
    Row("transfer/host_to_device", 12927, 4765, unknown="a copy from the host"),
    Row("overhead/item", 22.0, 18.7),
    Row("elementwise/add", 61.9, 49.4, parameters={"offset": 1}),
    Row("scan/cumsum", 105.8, 58.5, parameters=matrix(4096, 4096)),
    Row("indexing/mask_assign", 13.9, 12.3),
    Row("indexing/nonzero", 50.1, 40.2),
    Row("indexing/mask_select", 63.6, 57.5),
    Row("attention/f16_1024", None, 82.4, executed=OF_BATCH),
]
