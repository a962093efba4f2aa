"""The training step of two processes, beside PyTorch's DistributedDataParallel over gloo.

python3 benchmarks/compare/ddp.py --python VENV/bin/python --build build/release [--steps 100] [--rounds 5] [--processes 1,2]

The networks of benchmarks/networks.h (a perceptron of 784, 1000, 1000 and 10 units; a CNN with batch normalization), float32, Adam (PyTorch's
fused one), one thread in each process, the same batch for each process. Processes of both libraries take turns, so that other load
affects both. A time is the median over the rounds of the median step of a process; the spread is the distance of the quartiles of the
rounds' ratios. A ratio above 1 means that Catena's step is the shorter one. Needs an idle machine with a core for each process.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

WARM_UP, SETS = 10, 8
CASES = [("mlp", 100), ("mlp", 20), ("cnn", 64)]


def network(name):
    from torch import nn
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10))
    return nn.Sequential(nn.Unflatten(1, (1, 28)), nn.Conv2d(1, 16, 5), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 10))


def worker(name, batch, steps, rank, size, meeting):
    """A process of PyTorch: the steps that distributed_step.cpp makes."""
    import warnings
    import torch
    import torch.distributed as dist
    warnings.simplefilter("ignore", FutureWarning)  # about an option whose successor is not in every version of PyTorch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=size)
    # Running statistics stay those of the process, as they do in Catena.
    model = torch.nn.parallel.DistributedDataParallel(network(name), broadcast_buffers=False)
    adam = torch.optim.Adam(model.parameters(), fused=True)
    batches = [((torch.rand(batch, 28, 28) if name == "cnn" else torch.rand(batch, 784)), torch.randint(0, 10, (batch,))) for _ in range(SETS)]
    times = []
    for step in range(WARM_UP + steps):
        x, t = batches[step % SETS]
        begin = time.perf_counter()
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), t)
        loss.backward()
        adam.step()
        if step >= WARM_UP:
            times.append(1e3 * (time.perf_counter() - begin))
    if rank == 0:
        print(f"median {statistics.median(times):.4f} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def median_of(outputs):
    found = re.search(r"median ([0-9.]+)", outputs)
    if not found:
        sys.exit(f"no time was printed:\n{outputs}")
    return float(found.group(1))


def ours(args, name, batch, size):
    program = os.path.join(args.build, "benchmarks", "distributed_step")
    command = [os.path.join(args.build, "training", "catena-run"), "--nproc", str(size), program, name, str(batch), str(args.steps), args.communicator]
    return median_of(subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout)


def theirs(args, name, batch, size):
    with tempfile.TemporaryDirectory() as folder:
        common = [args.python, os.path.abspath(__file__), "--worker", name, str(batch), str(args.steps)]
        processes = [subprocess.Popen(common + [str(rank), str(size), os.path.join(folder, "meeting")], env=environment(), stdout=subprocess.PIPE, text=True)
                     for rank in range(size)]
        return median_of("".join(p.communicate()[0] for p in processes))


def environment():
    """One thread for each process, and for both libraries the interface of this machine."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CATENA_DEVICE": "cpu", "GLOO_SOCKET_IFNAME": "lo"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch")
    parser.add_argument("--build", default="build/release", help="the build folder of Catena")
    parser.add_argument("--communicator", default="naive")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", default="1,2", help="numbers of processes, with commas")
    args = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {args.rounds} rounds of {args.steps} steps, communicator {args.communicator}")
    print("network  batch  processes  Catena ms  PyTorch ms  PyTorch / Catena  spread")
    for name, batch in CASES:
        for size in map(int, args.processes.split(",")):
            pairs = [(ours(args, name, batch, size), theirs(args, name, batch, size)) for _ in range(args.rounds)]
            ratios = sorted(b / a for a, b in pairs)
            spread = ratios[(3 * len(ratios)) // 4] - ratios[len(ratios) // 4]
            times = [statistics.median(p[k] for p in pairs) for k in (0, 1)]
            print(f"{name:7} {batch:6} {size:10} {times[0]:10.2f} {times[1]:11.2f} {statistics.median(ratios):17.2f} {spread:7.2f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]), sys.argv[7])
    else:
        main()
