"""Makes the tables of docs/accuracy.md: runs accuracy_errors on the CPU and, if asked, on a CUDA device, and NumPy beside them.

  python3 benchmarks/accuracy/table.py --write docs/accuracy.md          # with NumPy 2 in this Python; see --help
"""
import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- made by benchmarks/accuracy/table.py: begin -->", "<!-- made by benchmarks/accuracy/table.py: end -->"
OPERATIONS = ("sum", "mean", "var", "dot", "matmul", "batch norm", "layer norm")


def errors_of(command, environment=None):
    lines = subprocess.run(command, env={**os.environ, **(environment or {})}, check=True, text=True, stdout=subprocess.PIPE).stdout
    errors = {}
    for line in lines.splitlines():
        dtype, operation, n, error = line.split("\t")
        errors[dtype, operation, int(n)] = error
    return errors


def cell(errors, key):
    error = errors.get(key, "")
    return "too large" if error in ("inf", "nan") else error.replace("e-0", "e-") if error else ""


def table(title, ours, numpy):
    sizes = sorted({n for _, _, n in ours})
    lines = [f"**{title}**", "", "| dtype | operation | " + " | ".join(f"{n:.0e}".replace("e+0", "e") for n in sizes) + " |",
             "|---|---|" + "---|" * len(sizes)]
    for dtype in ("float32", "float16", "bfloat16"):
        for operation in OPERATIONS:
            pairs = []
            for n in sizes:
                mine, theirs = cell(ours, (dtype, operation, n)), cell(numpy, (dtype, operation, n))
                pairs.append(f"{mine} / {theirs}" if theirs else mine)
            lines.append(f"| {dtype} | {operation} | " + " | ".join(pairs) + " |")
    return lines


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/benchmarks/accuracy_errors"))
    parser.add_argument("--most", default="1e8", help="the most numbers on the CPU; 1e9 needs 20 GB of memory")
    parser.add_argument("--cuda", metavar="LIBRARIES", help="the folder of the software CUDA device, or 'device' for a real one")
    parser.add_argument("--cuda-most", default="1e6")
    parser.add_argument("--write", metavar="DOCUMENT", help="replaces the tables of a document; otherwise they are printed")
    arguments = parser.parse_args()
    import numpy
    ours = errors_of([arguments.program, "--most", arguments.most], {"CATENA_DEVICE": "cpu"})
    theirs = errors_of([sys.executable, str(Path(__file__).with_name("numpy_errors.py")), "--most", arguments.most])
    lines = [BEGIN, f"{processor()}, NumPy {numpy.__version__}. Error of this library / error of NumPy (which has no bfloat16).", ""]
    lines += table("CPU", ours, theirs)
    if arguments.cuda:
        environment = {"CATENA_DEVICE": "cuda"}
        if arguments.cuda != "device":
            folder = str(Path(arguments.cuda).resolve())
            environment |= {"CATENA_CUDA_LIBRARIES": folder, "CATENA_CACHE_DIR": folder + "/catena_cache"}
        title = "CUDA" if arguments.cuda == "device" else "software CUDA device"
        lines += ["", *table(title, errors_of([arguments.program, "--most", arguments.cuda_most], environment), {})]
    text = "\n".join(lines + [END])
    if not arguments.write:
        return print(text)
    path = Path(arguments.write)
    document = path.read_text()
    before, rest = document.split(BEGIN)
    path.write_text(before + text + rest.split(END)[1])


if __name__ == "__main__":
    main()
