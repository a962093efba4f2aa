"""Makes the tables of docs/accuracy.md: runs accuracy_errors on the CPU and, if asked, on a CUDA device, and NumPy beside them.

  python3 benchmarks/accuracy/table.py --write docs/accuracy.md          # with NumPy 2 in this Python; see --help
  python3 benchmarks/accuracy/table.py --functions --write docs/accuracy.md       # the table of elementwise functions, by accuracy_ulps
"""
import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- made by benchmarks/accuracy/table.py: begin -->", "<!-- made by benchmarks/accuracy/table.py: end -->"
BEGIN_FUNCTIONS, END_FUNCTIONS = BEGIN.replace("table.py", "table.py --functions"), END.replace("table.py", "table.py --functions")
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


def table_of_functions(program, numbers):
    lines = subprocess.run([program, "--numbers", numbers], env={**os.environ, "CATENA_DEVICE": "cpu"}, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    errors = {}
    for line in lines:
        dtype, function, error, _ = line.split("\t")
        errors.setdefault(function, {})[dtype] = f"{float(error):.1f}"
    cells = [f"`{function}` | {by_dtype['float32']} | {by_dtype['float64']}" for function, by_dtype in errors.items()]
    half = (len(cells) + 1) // 2
    return ["| function | float32 | float64 | function | float32 | float64 |", "|---|---|---|---|---|---|",
            *(f"| {left} | {right} |" for left, right in zip(cells[:half], cells[half:] + [" | | "] * (2 * half - len(cells))))]


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def put(document, begin, lines, end):
    text = "\n".join([begin, *lines, end])
    if not document:
        return print(text)
    path = Path(document)
    before, rest = path.read_text().split(begin)
    path.write_text(before + text + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/benchmarks/accuracy_errors"))
    parser.add_argument("--most", default="1e8", help="the most numbers on the CPU; 1e9 needs 20 GB of memory")
    parser.add_argument("--cuda", metavar="LIBRARIES", help="the folder of the software CUDA device, or 'device' for a real one")
    parser.add_argument("--cuda-most", default="1e6")
    parser.add_argument("--functions", nargs="?", const="1e7", metavar="N", help="the table of elementwise functions instead, of N arguments each")
    parser.add_argument("--write", metavar="DOCUMENT", help="replaces the tables of a document; otherwise they are printed")
    arguments = parser.parse_args()
    if arguments.functions:
        program = str(Path(arguments.program).with_name("accuracy_ulps"))
        lines = [f"{processor()}, {arguments.functions} arguments.", "", *table_of_functions(program, arguments.functions)]
        return put(arguments.write, BEGIN_FUNCTIONS, lines, END_FUNCTIONS)
    import numpy
    ours = errors_of([arguments.program, "--most", arguments.most], {"CATENA_DEVICE": "cpu"})
    theirs = errors_of([sys.executable, str(Path(__file__).with_name("numpy_errors.py")), "--most", arguments.most])
    lines = [f"{processor()}, NumPy {numpy.__version__}. Error of this library / error of NumPy (which has no bfloat16).", ""]
    lines += table("CPU", ours, theirs)
    if arguments.cuda:
        environment = {"CATENA_DEVICE": "cuda"}
        if arguments.cuda != "device":
            folder = str(Path(arguments.cuda).resolve())
            environment |= {"CATENA_CUDA_LIBRARIES": folder, "CATENA_CACHE_DIR": folder + "/catena_cache"}
        title = "CUDA" if arguments.cuda == "device" else "software CUDA device"
        lines += ["", *table(title, errors_of([arguments.program, "--most", arguments.cuda_most], environment), {})]
    put(arguments.write, BEGIN, lines, END)


if __name__ == "__main__":
    main()
