"""What the counters of cases must be, whatever the machine: a kernel that loses its vector loads, reads its input twice or is launched per
row leaves these bounds (gpu_model.py --check; the ctest entry benchmarks/gpu_model)."""
from dataclasses import dataclass, field

N = 1 << 22  # elements: few enough that the entry is quick, and too many for a grid without loops
LINE = {"n": N, "sets": 1}
SQUARE = {"rows": 2048, "columns": 2048, "sets": 1}
BLOCK = {"batch": 8, "channels": 64, "size": 28, "dtype": ord("e"), "sets": 1}


def block_bytes(images, filters):
    """Bytes per element (batch * channels * size) that the kernels beside cuDNN need: `images` reads and writes of 16-bit images, and
    `filters` conversions of the filter between 32 and 16 bits."""
    return images * 2 * BLOCK["size"] + filters * 6 * 9 * BLOCK["channels"] / (BLOCK["batch"] * BLOCK["size"])


@dataclass(frozen=True)
class Bound:
    case: str
    bytes_per_access: float         # of a lane, at least: 16 where all accesses are vectors
    instructions: float             # PTX instructions per element, at most
    parameters: dict = field(default_factory=lambda: LINE)
    launches: tuple = (1,)          # how many there may be
    over_minimum: float = 1.05      # bytes of device memory over those that the call needs, at most
    asked: float = 1.05             # bytes that instructions ask for, from caches as well, over those that the call needs, at most
    sector_efficiency: float = 0.95
    bytes_per_element: float = 0.0  # that the call needs; 0: the inputs that it has read, and its result
    waits: int = 0
    library: tuple = ()             # works of libraries, in their order


BOUNDS = [
    Bound("elementwise/add", 16, 8),
    Bound("elementwise/multiply_add", 16, 9),
    # 16 bytes on one side, 8 on the other
    Bound("elementwise/cast_float16", 12, 28),
    Bound("elementwise/cast_float64", 12, 10),
    # Half of the sectors are read in two parts, which the level-1 cache puts together.
    Bound("elementwise/transpose_copy", 6, 8, SQUARE, sector_efficiency=0.6),
    Bound("reduction/sum", 15, 14, SQUARE),
    Bound("reduction/sum_axis1", 14, 26, SQUARE),
    # Sums of distances and of their squares, in float64
    Bound("reduction/var", 15, 32, SQUARE),
    # The number goes to the kernel as a parameter.
    Bound("indexing/mask_assign", 11, 16),
    # A kernel counts the bytes of the mask, and another one reads them again, one per lane, with the number of true ones before it, and
    # writes 8 bytes per true one, or reads and writes a number of 4. The host waits for the number of all.
    Bound("indexing/nonzero", 3, 60, launches=(2,), waits=1, asked=1.45),
    Bound("indexing/mask_select", 2, 58, launches=(2,), waits=1, asked=1.2, sector_efficiency=0.75),
    Bound("activation/relu", 16, 8.5),
    # The forward pass reads x and writes y; the gradient reads y and gy, and writes gx. What of it level 2 still has is not moved.
    Bound("activation/relu_backward", 16, 18, launches=(2,), bytes_per_element=16, asked=1.3),
    # The parameter, both moments and the gradient are read, and all but the gradient are written. Weight decay in the same launch is a
    # product, a sum and a selection per element.
    Bound("optimizer/adam_25600000", 15, 21, {"rows": 1024, "columns": 1024}, bytes_per_element=28),
    # Every block of 128 queries reads all keys and values. The keys and values that a warp loads are multiplied for 32 queries. Results are
    # scaled only where the largest score grows by much.
    Bound("attention/f16_1024", 15, 112, {"batch": 1, "heads": 2, "tokens": 512, "d": 64, "dtype": ord("e"), "sets": 1}, asked=2.6),
    # Convolution, batch normalization, relu: the kernels beside cuDNN convert the filter, and read and write the images for relu. Images and
    # filters stay channels-last, so that no operand is copied.
    Bound("convolution/block_autocast", 14, 700, BLOCK, launches=(4,), bytes_per_element=block_bytes(2, 1),
          library=("cudnnBackendExecute(convolution_forward)", "cudnnBatchNormalizationForwardTrainingEx")),
    # The gradient of relu reads its result and gy. The gradient of the filter is C-ordered, and is converted back.
    Bound("convolution/block_autocast_backward", 14, 1700, BLOCK, launches=(9,), bytes_per_element=block_bytes(5, 2),
          library=("cudnnBackendExecute(convolution_forward)", "cudnnBatchNormalizationForwardTrainingEx",
                   "cudnnBatchNormalizationBackwardEx", "cudnnBackendExecute(convolution_data)",
                   "cudnnBackendExecute(convolution_filter; copies w)")),
]


def problems_of(bound, call, elements):
    """Sentences about the counters of a predict.Call that are out of bounds."""
    problems = []

    def hold(what, value, good, limit):
        if not good:
            problems.append(f"{what} is {value:.4g}, expected {limit}")

    launches = len(call.kernels) + len(call.library)
    hold("the number of launches", launches, launches in bound.launches, " or ".join(map(str, bound.launches)))
    if tuple(call.library) != bound.library:
        problems.append(f"the works of libraries are {', '.join(call.library) or 'none'}, expected {', '.join(bound.library) or 'none'}")
    hold("the number of waits", call.waits, call.waits == bound.waits, f"{bound.waits}")
    hold("bytes moved / bytes needed", call.over_minimum, call.over_minimum <= bound.over_minimum, f"at most {bound.over_minimum}")
    hold("bytes asked for / bytes needed", call.asked_over_minimum, call.asked_over_minimum <= bound.asked, f"at most {bound.asked}")
    hold("the used part of sectors", call.sector_efficiency, call.sector_efficiency >= bound.sector_efficiency,
         f"at least {bound.sector_efficiency}")
    hold("bytes per access", call.bytes_per_access, call.bytes_per_access >= bound.bytes_per_access, f"at least {bound.bytes_per_access}")
    per_element = call.instructions / elements
    hold("instructions per element", per_element, per_element <= bound.instructions, f"at most {bound.instructions}")
    hold("the number of spilled bytes", call.spills, call.spills == 0, 0)
    unknown = [k.launch["kernel"] for k in call.kernels if k.resources is None]
    if unknown:
        problems.append(f"the assembler's report of {unknown[0]} is missing")
    return problems
