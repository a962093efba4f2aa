"""Constants of the cards, each with its source. Times are in seconds, rates per second.

Sources: [1] NVIDIA H100 Tensor Core GPU Architecture (white paper), H200 data sheet. [2] CUDA C++ Programming Guide, "Arithmetic
Instructions", "Compute Capabilities" 9.0. [3] measured on the card with this library: copies and additions of 64 MiB and more, loops of
launches, reading one number. [4] orders of magnitude from published microbenchmarks of Hopper; the value is the one, of a few, with the smallest
median error over the measured rows of the H200 (measured.py): both latencies, PARTIAL_SECTOR and DEPENDENT. [5] Luo et al. 2024, "Benchmarking
and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking" (arXiv 2402.13499): mma.sync beside the peak, which needs wgmma."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    name: str
    memory: float                 # bytes/s that copies of large arrays reach, reads and writes together [3]
    multiprocessors: int = 132    # [1]
    clock: float = 1.755e9        # of the multiprocessors under load [3]; the highest is 1.98e9 [1]
    level2: float = 5.5e12        # bytes/s [4]
    level2_bytes: float = 32e6    # of 50 MB: what a loop of calls finds again [3]
    memory_latency: float = 500e-9   # s [4]
    level2_latency: float = 150e-9   # s [4]
    atomic_rate: float = 1.98e9   # lanes per second that change one sector: one per clock of level 2 [3]


CARDS = {"h100": Card("H100 80GB SXM", memory=2.85e12), "h200": Card("H200", memory=4.0e12)}

# A kernel's start and end on the device, during which little memory moves [3].
KERNEL_START = 1.6e-6
# Host time per kernel or work of a library that is launched [3].
LAUNCH = 3.6e-6
# Host time of a copy to or from the device, and of a wait for the device with what follows it until the device has work again [3].
COPY, WAIT = 3.0e-6, 5.0e-6

# How much longer level 2 takes for a sector of which an instruction uses only a part [4]
PARTIAL_SECTOR = 1.4

# Limits of a multiprocessor, compute capability 9.0 [2]
WARPS, THREADS, BLOCKS, REGISTERS, SHARED = 64, 2048, 32, 65536, 227 * 1024
SCHEDULERS = 4
# The assembler gives registers to warps in units of 256 [2]; a block takes 1 KiB of shared memory for the system [2].
REGISTER_UNIT, SHARED_OF_SYSTEM = 256, 1024
# Cycles from an arithmetic instruction to the next of a warp, of which some depend on each other (4 to 5 cycles [4]); of a barrier [4]
DEPENDENT, BARRIER = 3.5, 30.0

# Per class of PTX instructions (kernel_profile.h): the instructions of the machine that one makes, and the cycles for which they occupy
# their unit, per scheduler [2]: 32 lanes over (results per cycle and multiprocessor / 4). Additions of 64 bits are two instructions,
# quotients are routines: their lengths are those of sm_90 code of single kernels (cuobjdump).
UNITS = {
    #                instructions, unit, cycles of the unit
    "move":          (0.1, "alu", 0.1),
    "integer":       (0.8, "alu", 1.6),
    "integer64":     (1.3, "alu", 2.6),
    "multiply":      (1.0, "fma", 2.0),
    "multiply64":    (4.0, "fma", 8.0),
    "divide":        (22.0, "alu", 40.0),
    "divide64":      (75.0, "alu", 130.0),
    "float32":       (1.0, "fma", 1.0),
    "float32_slow":  (9.0, "fma", 12.0),
    "special":       (1.0, "special", 8.0),
    "float64":       (1.0, "float64", 2.0),
    "float64_slow":  (20.0, "float64", 36.0),
    "half":          (1.0, "fma", 1.0),
    # 2048 products; a tensor core makes 512 of them per cycle [1], by mma.sync on average 62.9% of that [5]
    "tensor":        (1.0, "tensor", 2048 / 512 / 0.629),
    "convert":       (1.0, "alu", 2.0),
    "compare":       (1.0, "alu", 2.0),
    "control":       (1.0, "control", 1.0),
    "lanes":         (1.0, "memory", 4.0),
    "barrier":       (1.0, "control", 1.0),
    "global":        (1.0, "memory", 4.0),
    "shared":        (1.0, "memory", 4.0),
    "local":         (1.0, "memory", 4.0),
    "atomic":        (1.0, "memory", 4.0),
    "other":         (1.0, "alu", 1.0),
}
