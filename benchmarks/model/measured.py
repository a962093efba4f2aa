"""Times that were measured on cards, for the comparison with predictions. H200: 2026-11-26, tree 1868d78, driver 580, CUDA 13.0, rows and
reductions with 4 sets. H100: 2026-11-26, trees 39d2e04 and c80d425 (results/2026-11-26-cuda.md)."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Measured:
    case: str
    us: float
    card: str = "h200"
    parameters: dict = field(default_factory=dict)
    memory_bound: bool = True
    older: bool = False  # the kernels have changed since, so that the model's are others
    most: int = 0        # elements that are executed; 0: as many as usual

    @property
    def label(self):
        return " ".join([self.case, *(f"{k}={v}" for k, v in self.parameters.items() if k != "sets")])


F16, U8, F32 = ord("e"), ord("B"), ord("f")
FOUR = {"sets": 4}


def matrix(rows, columns, **others):
    return {"rows": rows, "columns": columns, "sets": 4, **others}


ROWS = [
    Measured("elementwise/transpose_copy", 43.7),
    Measured("elementwise/permuted_copy", 43.7),
    Measured("elementwise/add", 61.9, parameters={"offset": 1}),
    Measured("creation/arange", 76.3),
    Measured("creation/arange", 17.8, parameters={"dtype": F32}),
    Measured("reduction/sum", 28.7, parameters=FOUR),
    Measured("reduction/sum_axis0", 26.0, parameters=FOUR),
    Measured("reduction/sum_axis1", 20.7, parameters=FOUR),
    Measured("reduction/sum_middle", 23.4, parameters=FOUR),
    Measured("reduction/sum_outer", 35.0, parameters=FOUR),
    Measured("reduction/max_axis0", 27.2, parameters=FOUR),
    Measured("reduction/argmax", 33.0, parameters=FOUR),
    Measured("reduction/argmax_axis0", 30.2, parameters=FOUR),
    Measured("reduction/argmax_axis1", 29.6, parameters=FOUR),
    Measured("reduction/var", 38.8, parameters=FOUR, older=True),
    Measured("reduction/max_bools", 12.7, parameters=FOUR),
    Measured("reduction/sum_axis1", 147.6, parameters=matrix(1 << 20, 16)),
    Measured("reduction/sum_axis0", 115.3, parameters=matrix(1 << 20, 16)),
    Measured("reduction/sum_axis0", 36.7, parameters=matrix(16, 1 << 20)),
    Measured("reduction/sum_axis1", 27.2, parameters=matrix(16, 1 << 20)),
    Measured("reduction/sum_axis1", 27.1, parameters=matrix(100000, 200)),
    Measured("reduction/sum_axis1", 10.3, parameters=matrix(4096, 4096, dtype=F16)),
    Measured("reduction/sum_axis0", 12.4, parameters=matrix(4096, 4096, dtype=F16)),
    Measured("reduction/sum", 9.8, parameters=matrix(4096, 4096, dtype=U8)),
    Measured("reduction/argmax_axis1", 8.4, parameters=matrix(64, 32000)),
    Measured("reduction/sum_outer", 61.6, parameters={"outer": 32, "axis": 256, "inner": 3136, "sets": 4}),
    Measured("rows/softmax", 20.0, parameters=FOUR, older=True),
    Measured("rows/log_softmax", 17.5, parameters=FOUR, older=True),
    Measured("rows/layer_norm", 25.2, parameters=FOUR, older=True),
    Measured("rows/layer_norm_backward", 91.0, parameters=FOUR, older=True),
    Measured("rows/layer_norm_images", 69.7, parameters=FOUR, older=True),
    Measured("rows/softmax", 522.7, parameters=matrix(4096, 32000), older=True),
    Measured("rows/layer_norm", 102.4, parameters=matrix(16384, 1024), older=True),
    Measured("scan/cumsum", 13.5),
    Measured("scan/cumsum_axis0", 20.0),
    Measured("scan/cumsum_axis1", 6.6),
    Measured("scan/cumsum", 105.8, parameters=matrix(4096, 4096)),
    Measured("scan/cumsum_axis1", 77.5, parameters=matrix(4096, 4096)),
    Measured("scan/cumsum_axis0", 153.1, parameters=matrix(4096, 4096)),
    Measured("scan/cumsum_axis1", 201.0, parameters=matrix(1 << 20, 16)),
    Measured("sorting/sort", 62.9, memory_bound=False),
    Measured("sorting/argsort", 61.5, memory_bound=False),
    Measured("sorting/sort", 404.7, parameters=matrix(262144, 64), memory_bound=False, most=1 << 22),
    Measured("sorting/partition", 1129, memory_bound=False),
    Measured("indexing/bincount", 271.8, memory_bound=False),
    Measured("indexing/mask_assign", 13.9),
    Measured("indexing/mask_select", 66.3, memory_bound=False),
    Measured("indexing/take_rows", 7.5, parameters={"rows": 1 << 14, "columns": 256}),
    Measured("elementwise/add", 71.1, "h100"),
    Measured("elementwise/add_broadcast", 60.8, "h100", older=True),
    Measured("elementwise/add_float16", 37.2, "h100"),
    Measured("elementwise/add_strided", 59.3, "h100"),
    Measured("elementwise/cast_float16", 37.7, "h100"),
    Measured("elementwise/cast_float64", 76.0, "h100"),
    Measured("elementwise/chain", 88.1, "h100"),
    Measured("elementwise/chain_fused", 18.6, "h100"),
    Measured("elementwise/exp", 50.2, "h100"),
    Measured("elementwise/less", 53.5, "h100"),
    Measured("elementwise/maximum", 71.2, "h100"),
    Measured("elementwise/multiply_integers", 71.2, "h100"),
    Measured("elementwise/tanh", 50.4, "h100"),
    Measured("elementwise/where", 76.7, "h100"),
    Measured("indexing/take", 46.5, "h100"),
    Measured("indexing/take_rows", 11.2, "h100"),
    Measured("joining/concatenate", 16.1, "h100"),
    Measured("linalg/norm_axis1", 12.1, "h100"),
    Measured("optimizer/adam_25600000", 257.5, "h100"),
    Measured("overhead/add", 3.792, "h100", memory_bound=False),
    Measured("overhead/fused", 5.597, "h100", memory_bound=False),
    Measured("reduction/all", 13.8, "h100"),
]
