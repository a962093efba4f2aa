"""Runs cases on the software device with the interpreter of PTX."""
import json
import os
import subprocess
import tempfile

# Case by case: the parameter that is divided where the case is larger than what the interpreter executes in reasonable time. The counters
# are multiplied by the quotient: they are sums over the blocks of a grid, and a block does the same in a grid of any size.
SHRINKS = ("rows", "outer", "n", "batch")
NO_SIZES = ("sets", "dtype", "offset", "step", "count", "classes", "bins", "kth")
MOST = 1 << 24  # elements that run


def environment(build):
    device = os.path.join(build, "tests", "software_cuda_ptx_cudnn")
    env = {k: v for k, v in os.environ.items() if not k.startswith("CATENA_")}
    env.update(CATENA_DEVICE="cuda", CATENA_CUDA_LIBRARIES=device, CATENA_SOFTWARE_CUDA_PTX="1", CATENA_SOFTWARE_CUDA_PTX_ARCH="90",
               CATENA_SOFTWARE_CUDA_MULTIPROCESSORS="132", CATENA_CACHE_DIR=os.path.join(device, "model_cache"))
    return env


def cases(build):
    """The parameters of all cases."""
    done = subprocess.run([worker(build)], capture_output=True, text=True, check=True, env=environment(build))
    return dict(json.loads(done.stdout))


def worker(build):
    return os.path.join(build, "benchmarks", "gpu_model_worker")


def reduced(parameters, most=MOST):
    """Parameters with at most `most` elements, and how much smaller they are."""
    sizes = [n for name, n in parameters.items() if name not in NO_SIZES]
    elements = 1
    for n in sizes:
        elements *= max(n, 1)
    smaller, factor = {**parameters, "sets": 1} if "sets" in parameters else dict(parameters), 1
    for name in SHRINKS:
        while name in smaller and elements > most and smaller[name] % 2 == 0 and smaller[name] > 512:
            smaller[name] //= 2
            elements //= 2
            factor *= 2
    return smaller, factor


class Failed(Exception):
    """The case did not run on the software device."""


def profile(build, case, parameters, limit=300, kept=None):
    """The output of gpu_model_worker; from a file of the folder `kept` if it has been run before."""
    if kept is None:
        return profile_now(build, case, parameters, limit)
    words = [case.replace("/", "."), *(f"{name}={n}" for name, n in sorted(parameters.items()))]
    path = os.path.join(kept, "_".join(words) + ".json")
    if not os.path.exists(path):
        result = profile_now(build, case, parameters, limit)
        os.makedirs(kept, exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(result, f)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def profile_now(build, case, parameters, limit):
    with tempfile.TemporaryDirectory() as folder:
        env = {**environment(build), "CATENA_DUMP_KERNELS": folder}
        words = [f"{name}={n}" for name, n in parameters.items()]
        try:
            done = subprocess.run([worker(build), case, *words], capture_output=True, text=True, env=env, timeout=limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"it runs longer than {limit} s on the interpreter") from None
        if done.returncode != 0:
            lines = (done.stderr.strip() or f"status {done.returncode}").splitlines()
            raise Failed(lines[-1][:300])
        return json.loads(done.stdout)
