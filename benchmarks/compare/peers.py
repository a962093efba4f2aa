"""The peers and their virtual environments."""
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True)
class Peer:
    module: str
    script: str
    venv: str               # shared by peers with compatible requirements
    packages: tuple         # one pip command each
    devices: tuple
    first_result: str       # the program of first_result.cpp


PEERS = {
    "numpy": Peer("numpy", "arrays.py", "current", (("numpy", "scipy"),), ("cpu",), "import numpy as np; print((np.ones(3) + 1).sum())"),
    "torch": Peer("torch", "pytorch.py", "current", (("numpy", "torch", "pillow"),), ("cpu", "cuda"),
                  "import torch; print((torch.ones(3, device={device!r}) + 1).sum().item())"),
    "onnxruntime": Peer("onnxruntime", "onnx_runtime.py", "current", (("numpy", "torch", "onnx", "onnxruntime"),), ("cpu",), ""),
    # Chainer's set-up script needs a module that newer versions of setuptools lack, and Chainer needs NumPy 1.
    "chainer": Peer("chainer", "chainer_v7.py", "chainer",
                    (("setuptools<81", "wheel", "numpy<2"), ("--no-build-isolation", "chainer==7.8.1")), ("cpu",), ""),
    "cupy": Peer("cupy", "arrays.py", "current", (("numpy", "cupy-cuda13x"),), ("cuda",),
                 "import cupy as cp; print((cp.ones(3) + 1).sum().item())"),
}


def imports(python, peer, env):
    try:
        return subprocess.run([python, "-W", "ignore", "-c", f"import {peer.module}"], env=env, capture_output=True).returncode == 0
    except OSError:
        return False


def install(peer, folder):
    """The output of pip if it fails, else None."""
    python = os.path.join(folder, "bin", "python3")
    if not os.path.exists(python):
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
        if made.returncode != 0:
            return made.stdout + made.stderr
    for packages in peer.packages:
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stdout + done.stderr
    return None


def interpreter(name, venvs, may_install, env, say):
    """A Python with the peer: that of its virtual environment (created if needed), else the system's; None if neither has it."""
    peer = PEERS[name]
    folder = os.path.join(venvs, peer.venv)
    python = os.path.join(folder, "bin", "python3")
    if imports(python, peer, env):
        return python
    why = "it is not installed (--no-install)"
    if may_install:
        say(f"installing {name} into {folder}")
        why = install(peer, folder)
        if why is None and imports(python, peer, env):
            return python
        why = (why or f"the installed module {peer.module} cannot be imported").strip().splitlines()[-1]
    for system in (sys.executable, "/usr/bin/python3"):
        if imports(system, peer, env):
            say(f"{name}: {why}; that of {system} is used")
            return system
    say(f"MISSING PEER {name}: {why}")
    return None


def built(name, venvs, say, flags):
    """The command of the contender peers/<name>.cpp; None if it cannot be built. flags() may fail, too."""
    source, header = (os.path.join(HERE, *path) for path in (("peers", f"{name}.cpp"), ("..", "contender.h")))
    program = os.path.join(venvs, name)
    if os.path.exists(program) and os.path.getmtime(program) > max(os.path.getmtime(source), os.path.getmtime(header)):
        return [program]
    say(f"building {program}")
    try:
        os.makedirs(venvs, exist_ok=True)
        subprocess.run([*shlex.split(os.environ.get("CXX", "g++")), "-std=c++20", "-O2", source, "-o", program, *flags()],
                       capture_output=True, text=True, check=True)
        return [program]
    except OSError as e:
        why = str(e)
    except subprocess.CalledProcessError as e:
        why = next((line for line in e.stderr.splitlines() if "error" in line), e.stderr.strip())
    say(f"MISSING PEER {name}: {why}")
    return None


def libtorch(python, venvs, env, say):
    """PyTorch from C++, built against the Python package."""
    def flags():
        package = os.path.dirname(subprocess.run([python, "-c", "import torch; print(torch.__file__)"], env=env, capture_output=True,
                                                 text=True, check=True).stdout.strip())
        include, libraries = os.path.join(package, "include"), os.path.join(package, "lib")
        return ["-I", include, "-I", os.path.join(include, "torch", "csrc", "api", "include"), "-L", libraries,
                f"-Wl,-rpath,{libraries}", "-ltorch", "-ltorch_cpu", "-lc10"]
    return built("libtorch", venvs, say, flags)


def floor(venvs, say):
    """Plain loops."""
    return built("floor", venvs, say, lambda: ["-O3", "-march=native", "-pthread"])


def command(name, python, device):
    return [python, os.path.join(HERE, "peers", PEERS[name].script), "--device", device]


def first_result_command(name, python, device):
    program = PEERS[name].first_result
    return [python, "-c", program.format(device=device)] if program else None
