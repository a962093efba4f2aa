"""The time of a call from the counters of its kernels: for each kernel the largest of several lower bounds, and for the call what the device
and the host need (benchmarks/README.md, "A model of the GPU")."""
from dataclasses import dataclass, field

import cards

SECTOR = 32
SCALED = ("warps", "lanes", "branches", "divergent_branches", "barriers", "load_requests", "load_bytes", "load_sectors", "load_fetches",
          "load_waits", "load_lines", "store_lines", "partial_sectors", "store_requests", "store_bytes", "store_sectors", "input_sectors",
          "changed_inputs", "memory_reads", "memory_writes", "shared_requests", "shared_passes", "shared_least_passes", "atomic_requests",
          "atomic_lanes", "atomic_sectors", "atomic_meetings")


def product(sizes):
    result = 1
    for n in sizes:
        result *= n
    return result


def occupancy(launch, resources):
    """Blocks and warps that a multiprocessor has room for."""
    threads = product(launch["block"])
    warps = -(-threads // 32)
    registers = max(resources["registers"] if resources else 32, 16)
    per_warp = -(-registers * 32 // cards.REGISTER_UNIT) * cards.REGISTER_UNIT
    # A scheduler has a quarter of the registers and of the warps.
    by_registers = cards.REGISTERS // cards.SCHEDULERS // per_warp * cards.SCHEDULERS // warps
    by_shared = cards.SHARED // (launch["shared_bytes"] + cards.SHARED_OF_SYSTEM)
    blocks = max(min(cards.BLOCKS, cards.THREADS // threads, by_registers, by_shared), 1)
    return blocks, blocks * warps


def scaled(launch, factor):
    """The counters of a grid that is `factor` times as large."""
    if factor == 1:
        return launch
    grown = {**launch, **{name: launch[name] * factor for name in SCALED}}
    grown["instructions"] = {name: n * factor for name, n in launch["instructions"].items()}
    grown["blocks"] = product(launch["grid"]) * factor
    grown["atomic_busiest"] = launch["atomic_busiest"] * factor
    return grown


@dataclass
class Kernel:
    """A launch with its bounds, in seconds."""
    launch: dict
    resources: dict
    warps: float = 0   # that run at a time on a multiprocessor
    blocks: float = 1  # the same
    bounds: dict = field(default_factory=dict)

    @property
    def time(self):
        """The largest bound. The warps of a block wait for memory and compute at about the same time; only other blocks of the multiprocessor
        fill the gaps, so with one block the times of waiting and of moving bytes add up."""
        waiting, others = self.bounds["latency"], max(t for name, t in self.bounds.items() if name != "latency")
        return cards.KERNEL_START + max(waiting, others) + min(waiting, others) / self.blocks

    @property
    def limit(self):
        return max(self.bounds, key=self.bounds.get)


def units_of(launch):
    """Cycles of all schedulers: for issuing, and of each unit."""
    issued, units = 0.0, {}
    for name, n in launch["instructions"].items():
        count, unit, cycles = cards.UNITS[name]
        issued += n * count
        units[unit] = units.get(unit, 0.0) + n * cycles
    # An access of shared memory occupies the unit once per pass, and one of global memory once per 128 bytes.
    passes = launch["shared_passes"] - launch["shared_requests"]
    lines = launch["load_lines"] + launch["store_lines"] - launch["load_requests"] - launch["store_requests"]
    units["memory"] = units.get("memory", 0.0) + 4.0 * (max(passes, 0) + max(lines, 0))
    return issued, units


def bounds_of(launch, resources, card, in_cache):
    """The lower bounds of a kernel's time, and the warps and blocks that run at a time on a multiprocessor."""
    room, _ = occupancy(launch, resources)
    blocks = launch.get("blocks", product(launch["grid"]))
    per_block = -(-product(launch["block"]) // 32)
    running = min(blocks, room * card.multiprocessors)  # blocks at a time
    warps = running * per_block
    used = min(running, card.multiprocessors)  # multiprocessors with work
    memory = 0 if in_cache else launch["memory_reads"] + launch["memory_writes"]
    traffic = launch["load_fetches"] + launch["store_sectors"] + 2 * launch["atomic_sectors"]
    traffic += (cards.PARTIAL_SECTOR - 1) * launch["partial_sectors"]
    issued, units = units_of(launch)
    cycles = card.clock * cards.SCHEDULERS * used
    rounds = -(-blocks // running) * running / blocks  # the last round of blocks may be a small one
    # Waits for memory, one after the other in each warp; the share of them that level 2 answers is that of its sectors.
    fetched = max(launch["load_fetches"], 1)
    missed = 0.0 if in_cache else min(launch["memory_reads"] / fetched, 1.0)
    latency = missed * card.memory_latency + (1 - missed) * card.level2_latency
    waiting = launch["load_waits"] * latency
    waiting += (issued * cards.DEPENDENT + launch["barriers"] * cards.BARRIER) / card.clock
    return {
        "memory": memory * SECTOR / card.memory,
        "level 2": traffic * SECTOR / card.level2,
        "issue": issued / cycles,
        **{f"unit: {unit}": busy / cycles for unit, busy in units.items()},
        "latency": waiting / warps * rounds,
        "atomics": launch["atomic_busiest"] / card.atomic_rate,
    }, warps / used, running / used


@dataclass
class Call:
    """What a call needs, and its predicted time."""
    kernels: list
    library: list  # names of works of libraries
    unknown: list  # those without a time
    waits: int
    copies: int
    least_bytes: float
    moved_bytes: float
    asked_bytes: float
    sector_efficiency: float
    bytes_per_access: float
    instructions: float
    device: float
    host: float

    @property
    def time(self):
        return self.device + self.host if self.waits else max(self.device, self.host)

    @property
    def over_minimum(self):
        return self.moved_bytes / self.least_bytes if self.least_bytes else float("nan")

    @property
    def asked_over_minimum(self):
        return self.asked_bytes / self.least_bytes if self.least_bytes else float("nan")

    @property
    def spills(self):
        return sum(max(k.resources["spill_stores"], k.resources["spill_loads"]) for k in self.kernels if k.resources)


def predict(profile, card, sets=1, factor=1, least_bytes=None, library=lambda work: None):
    """A call from the output of gpu_model_worker. `sets`: inputs in rotation; `factor`: how much larger the case is than what ran;
    `least_bytes`: the bytes that the case must move, if they are not its inputs and its result; `library`: the time of a library's work by
    its name, or None."""
    launches = [scaled(l, factor) for l in profile["launches"]]
    total = {name: sum(l[name] for l in launches) for name in SCALED}
    inputs, result = total["input_sectors"] * SECTOR, profile["result_bytes"] * factor
    # Inputs come round after all sets. What a call writes is memory that the previous call has written.
    footprint = inputs * sets + total["memory_writes"] * SECTOR
    in_cache = footprint <= card.level2_bytes
    kernels = []
    for launch in launches:
        kernel = Kernel(launch, profile["resources"].get(launch["kernel"]))
        kernel.bounds, kernel.warps, kernel.blocks = bounds_of(launch, kernel.resources, card, in_cache)
        kernels.append(kernel)
    times = {work: library(work) for work in profile["library"]}
    copies = sum(n for name, n in profile["copies"].items() if name != "cuMemAlloc_v2")
    # The bytes of copies are not recorded: those on the device are taken for copies of the result.
    on_device = profile["copies"]["cuMemcpyDtoDAsync_v2"] * (cards.KERNEL_START + 2 * result / card.memory)
    asked, sectors = total["load_bytes"] + total["store_bytes"], total["load_sectors"] + total["store_sectors"]
    requests = total["load_requests"] + total["store_requests"]
    return Call(
        kernels=kernels, library=profile["library"], unknown=[work for work, time in times.items() if time is None], waits=len(profile["waits"]), copies=copies,
        least_bytes=least_bytes or inputs + result,
        moved_bytes=(total["memory_reads"] + total["memory_writes"]) * SECTOR,
        asked_bytes=asked,
        sector_efficiency=asked / (sectors * SECTOR) if sectors else float("nan"),
        bytes_per_access=asked / requests / 32 if requests else float("nan"),
        instructions=sum(sum(l["instructions"].values()) for l in launches) * 32,
        device=sum(k.time for k in kernels) + sum(times[work] or 0.0 for work in profile["library"]) + on_device + (copies - profile["copies"]["cuMemcpyDtoDAsync_v2"]) * cards.COPY,
        host=(len(kernels) + len(profile["library"]) + copies) * cards.LAUNCH + len(profile["waits"]) * cards.WAIT)
