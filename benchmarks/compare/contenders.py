"""Contenders: processes that set up a case and run it on request, so that samples can be taken from them alternately."""
import math
import os
import select
import shlex
import subprocess
import time


LONGEST_S = 300  # a request that takes longer is taken for one that never ends


class ContenderError(Exception):
    """A contender answered with an error, ended, or was ended because it did not answer."""


def environment(threads, device):
    """The environment of all contenders. OpenBLAS settings for other machines would halve the speed of matrix products; waiting threads
    must not occupy a core of the contender that is being measured."""
    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    env.update({f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")})
    env.update(OMP_WAIT_POLICY="passive", CATENA_DEVICE=device, PYTHONDONTWRITEBYTECODE="1")
    return env


def thread_states(folder):
    """A letter per thread: R runs, S sleeps. Empty without /proc."""
    states = []
    for thread in os.listdir(folder) if os.path.isdir(folder) else []:
        try:
            with open(f"{folder}/{thread}/stat", encoding="ascii", errors="replace") as f:
                states.append(f.read().rpartition(")")[2].split()[0])
        except OSError:  # the thread has ended
            continue
    return states


class Contender:
    """A process that answers the requests of contender.h, in one variant of its cases."""

    def __init__(self, name, variant, command, env):
        self.name, self.variant = name, variant
        # Standard error is not redirected, so that warnings of a library are visible.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)

    def ask(self, request):
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise ContenderError(f"{self.name} ended") from None
        return self.answer(request)

    def answer(self, request):
        # Nothing is buffered between requests, so that the pipe tells whether there is an answer.
        if not select.select([self.process.stdout], [], [], LONGEST_S)[0]:
            self.process.kill()
            self.process.wait()
            raise ContenderError(f"{self.name} did not answer '{request}' within {LONGEST_S} s and was ended")
        line = self.process.stdout.readline()
        if not line:
            raise ContenderError(f"{self.name} ended with status {self.process.wait()} at '{request}'")
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind != "ok":
            raise ContenderError(rest or f"{self.name} answered '{line.strip()}'")
        return rest

    def setup(self, case, parameters):
        words = [f"{name}={value}" for name, value in parameters.items()]
        self.ask(" ".join(["setup", case, *([self.variant] if self.variant else []), *words]))

    def result(self):
        return [float(x) for x in self.ask("result").split()]

    def run(self, calls):
        """Microseconds per call."""
        us = int(self.ask(f"run {calls}")) / 1e3 / calls
        self.rest()
        return us

    def rest(self):
        """Returns when all threads of the process sleep. NumPy's OpenBLAS threads spin for about 30 ms after a product, regardless of
        OMP_WAIT_POLICY, and would occupy a core of the next contender."""
        folder = f"/proc/{self.process.pid}/task"
        deadline = time.perf_counter() + 0.5
        while time.perf_counter() < deadline and any(state == "R" for state in thread_states(folder)):
            time.sleep(0.001)

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()
        self.process.stdout.close()


class Ours(Contender):
    """Catena, whose table defines the cases."""

    def __init__(self, command, env):
        super().__init__("catena", "", command, env)

    def cases(self, tiny):
        """{case: [parameters]}, with the fixed parameters of each case."""
        return self.table("cases tiny" if tiny else "cases")

    def sweep(self, seed, shapes, most):
        """{case: [parameters]}, with the parameters that are drawn for a case."""
        return self.table(f"sweep {seed} {shapes} {most}")

    def table(self, request):
        table = {}
        for _ in range(int(self.ask(request))):
            name, *words = self.process.stdout.readline().split()
            table.setdefault(name, []).append(dict(word.split("=") for word in words))
        return table


class ColdStart:
    """A program that is timed from its start to the first line it prints."""

    def __init__(self, name, command, env):
        self.name, self.variant, self.command, self.env = name, "default", command, env

    def start(self):
        begin = time.perf_counter()
        with subprocess.Popen(self.command, stdout=subprocess.PIPE, env=self.env, text=True) as process:
            line = process.stdout.readline()
            seconds = time.perf_counter() - begin
            process.stdout.read()
        if process.returncode != 0 or not line:
            raise ContenderError(f"{shlex.join(self.command)} ended with status {process.returncode}")
        return seconds, line

    def setup(self, case, parameters):
        self.start()

    def result(self):
        value = float(self.start()[1])
        return [1, abs(value), value, value, 8]

    def run(self, calls):
        return sum(self.start()[0] for _ in range(calls)) / calls * 1e6

    def close(self):
        pass


def same(ours, theirs):
    """Whether fingerprints agree: sizes exactly, values within the rounding errors of float32 sums in another order, and NaN with NaN."""
    if len(ours) != len(theirs) or ours[0] != theirs[0] or ours[-1] != theirs[-1]:
        return False
    far = 2e-3 * abs(ours[1]) if math.isfinite(ours[1]) else 0
    return all(math.isclose(a, b, rel_tol=2e-3, abs_tol=far) or math.isnan(a) and math.isnan(b) for a, b in zip(ours[1:-1], theirs[1:-1]))
