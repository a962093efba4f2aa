"""Measures Catena and its peers alternately in one run. See benchmarks/README.md; compare.sh builds the contender and calls this."""
import argparse
import datetime
import fnmatch
import math
import os
import random
import shlex
import signal
import sys
import time

import bars
import contenders
import peers
import report
import sweep
from measure import in_words, measure

ROOT = os.path.abspath(os.path.join(peers.HERE, "..", ".."))
COLD_START = "cold_start/first_result"


def say(text):
    print(text, file=sys.stderr, flush=True)


def shape(text):
    """{"dtype": 100, "n": 937} of "dtype=d n=937"."""
    return {name: ord(value) if name == "dtype" else int(value) for name, value in (word.split("=") for word in text.split())}


def choose_sweep(parser, args):
    if not args.sweep and (args.seed, args.shapes, args.most, args.case_s) != (None, None, None, None):
        parser.error("--seed, --shapes, --most and --case-s belong to --sweep")
    args.case_s = math.inf if args.case_s is None else args.case_s
    args.samples = args.samples or (7 if args.sweep else 21)
    args.sample_ms = args.sample_ms or (4 if args.sweep else 20)
    args.shapes, args.most = args.shapes or 24, args.most or (1000 if args.tiny else 10**8)
    args.seed = random.randrange(10**6) if args.seed == "random" else int(args.seed or 0)
    if args.sweep and args.set:
        parser.error("--set is for the fixed cases; a sweep draws their parameters")
    if args.sweep and args.peers is None:  # Chainer is slower than NumPy at every shape
        args.peers = "cupy,torch" if args.device == "cuda" else "numpy,torch,onnxruntime"


def parameter(text):
    name, equals, value = text.partition("=")
    if not equals or not value.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no <name>=<number>")
    return name, value


def arguments():
    parser = argparse.ArgumentParser(prog="compare.sh", description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--case", action="append", metavar="NAME", help="a case, or a pattern such as 'matmul/*'; may be repeated")
    parser.add_argument("--threads", type=int, action="append", metavar="N", help="default: 1 and 2; may be repeated")
    parser.add_argument("--set", type=parameter, action="append", default=[], metavar="NAME=N",
                        help="a parameter of the chosen cases, in place of the fixed one; may be repeated")
    parser.add_argument("--peers", metavar="NAME,...", help=f"of {', '.join(peers.PEERS)}; default: those of the device")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND",
                        help="a program that answers the requests of contender.h")
    parser.add_argument("--sweep", action="store_true", help="shapes that are drawn by the cases' rules in place of the fixed ones")
    parser.add_argument("--seed", metavar="N", help="of the shapes: a number, or 'random' (default: 0)")
    parser.add_argument("--shapes", type=int, metavar="K", help="per case (default: 24)")
    parser.add_argument("--most", type=int, metavar="N", help="elements of an operand (default: 10^8)")
    parser.add_argument("--case-s", type=float, metavar="S", help="a case that has taken S seconds gets no further shapes (default: no limit)")
    parser.add_argument("--at", action="append", default=[], metavar="SHAPE", type=shape,
                        help="a shape as sweeps print it, such as 'dtype=d n=937', in place of the fixed ones; may be repeated")
    parser.add_argument("--samples", type=int, help="default: 21, in a sweep 7")
    parser.add_argument("--sample-ms", type=float, help="what a sample takes at least, in calls of the case; default: 20, in a sweep 4")
    parser.add_argument("--json", metavar="FILE", help="all rows, for programs")
    parser.add_argument("--plot", metavar="FILE", help="the ratios as SVG")
    parser.add_argument("--record", action="store_true", help="write the table into benchmarks/results/, by date")
    parser.add_argument("--venv", default=os.path.join(ROOT, "build", "benchmarks-venv"), metavar="FOLDER",
                        help="where peers are installed")
    parser.add_argument("--no-install", action="store_true", help="use the peers that are there")
    parser.add_argument("--tiny", action="store_true", help="small shapes: a trial of the harness, whose times mean nothing")
    parser.add_argument("--worker", default=os.path.join(ROOT, "build", "release", "benchmarks", "benchmark_worker"), metavar="FILE")
    args = parser.parse_args()
    args.threads = args.threads or ([1, 2] if args.device == "cpu" else [1])
    known = [name for name, peer in peers.PEERS.items() if args.device in peer.devices]
    choose_sweep(parser, args)
    args.peers = known if args.peers is None else [name for name in args.peers.split(",") if name]
    if unknown := [name for name in args.peers if name not in known]:
        parser.error(f"--peers: {', '.join(unknown)}: on {args.device} there are {', '.join(known)}")
    if min(args.samples, args.shapes) < 1 or min(args.threads) < 1:
        parser.error("--samples, --shapes and --threads are at least 1")
    return args


class Run:
    """All measurements at one number of threads: processes are started when first needed and run until the end."""

    def __init__(self, args, threads, pythons, commands):
        self.args, self.threads, self.pythons, self.commands = args, threads, pythons, commands
        self.env = contenders.environment(threads, args.device)
        self.started = {}
        self.ours = None
        self.revive()

    def revive(self):
        """Restarts processes that have ended."""
        if self.ours is None or self.ours.process.poll() is not None:
            self.ours = contenders.Ours([self.args.worker, "--device", self.args.device], self.env)
        self.started = {key: c for key, c in self.started.items() if c.process.poll() is None}

    def alive(self):
        return all(c.process.poll() is None for c in [self.ours, *self.started.values()])

    def contender(self, name, variant):
        key = name, variant
        if key not in self.started:
            self.started[key] = contenders.Contender(name, variant, self.commands[name], self.env)
        return self.started[key]

    def peers_of(self, case):
        found = []
        for name in self.commands:
            try:
                variants = self.contender(name, "default").ask(f"variants {case}").split()
            except contenders.ContenderError as e:
                say(f"{case}: {name} is left out: {e}")
                continue
            found += [self.contender(name, variant) for variant in variants]
        return found

    def cold_starts(self):
        ours = contenders.ColdStart("catena", [os.path.join(os.path.dirname(self.args.worker), "first_result")], self.env)
        commands = {name: peers.first_result_command(name, python, self.args.device) for name, python in self.pythons.items()}
        return ours, [contenders.ColdStart(name, command, self.env) for name, command in commands.items() if command]

    def versions(self):
        answers = []
        for contender in [self.ours, *(self.contender(name, "default") for name in self.commands)]:
            try:
                answers.append(contender.ask("versions"))
            except contenders.ContenderError as e:
                say(f"{contender.name}: {e}")
        return answers

    def close(self):
        for contender in [self.ours, *self.started.values()]:
            contender.close()


def chosen(names, patterns):
    return [name for name in names if not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)]


def peer_commands(args, pythons, env):
    commands = {name: peers.command(name, python, args.device) for name, python in pythons.items()}
    if args.device == "cpu" and "torch" in pythons and (program := peers.libtorch(pythons["torch"], args.venv, env, say)):
        commands["libtorch"] = program
    if args.device == "cpu" and args.peers and not args.sweep and (program := peers.floor(args.venv, say)):
        commands["floor"] = program
    commands.update((name, shlex.split(command)) for name, command in (text.split("=", 1) for text in args.peer))
    return commands


def measure_case(args, run, case, shapes, told):
    """The rows of a case at all shapes, and whether something failed."""
    ours, others = run.cold_starts() if case == COLD_START else (run.ours, run.peers_of(case))
    rows, failed, began = [], False, time.monotonic()

    def say_once(text):
        if text not in told:
            told.add(text)
            say(text)

    for parameters in shapes:
        if rows and time.monotonic() - began > args.case_s:
            break
        if case != COLD_START and not run.alive():
            run.revive()
            ours, others = run.ours, run.peers_of(case)
        try:
            more, wrong = measure(case, parameters, ours, others, run.threads, args.samples, args.sample_ms * 1e3,
                                  say_once if args.sweep else say, 2 if args.sweep else math.inf)
        except contenders.ContenderError as e:
            say(f"{case}: NOT MEASURED: {in_words(parameters)}: {e}")
            failed = True
            continue
        for row in more if args.sweep or args.at else ():
            row.shape = in_words(parameters)
        for row in report.best(more) if args.at else ():
            say(f"{case}: {row.shape}: {row.ours_us:.4g} us, {row.peer or 'no peer'} {row.ratio or math.nan:.2f}, spread {row.spread:.0%}")
        rows += more
        failed = failed or wrong
    return rows, failed


def run_all(args, pythons, commands):
    rows, failed, versions, told, case = [], False, [], set(), "the first"
    for threads in args.threads:
        run = Run(args, threads, pythons, commands)
        try:
            versions = versions or run.versions()
            table = run.ours.sweep(args.seed, args.shapes, args.most) if args.sweep else \
                {**run.ours.cases(args.tiny), COLD_START: [{}]}
            cases = chosen(table, args.case)
            if not cases:
                raise SystemExit(f"compare.sh: --case {' '.join(args.case)}: there are {' '.join(table)}")
            if lacking := [name for name, _ in args.set if not any(name in p for case in cases for p in table[case])]:
                raise SystemExit(f"compare.sh: --set {' '.join(lacking)}: no chosen case has such a parameter")
            for case in chosen(bars.BARS.keys() - table.keys(), args.case) if not args.sweep else ():
                say(f"{case}: NOT MEASURED: this library has no such case")
            for case in cases:
                began = time.monotonic()
                run.revive()
                shapes = args.at or [{**p, **{name: value for name, value in args.set if name in p}} for p in table[case]]
                more, wrong = measure_case(args, run, case, shapes, told)
                rows += more
                failed = failed or wrong
                say(f"{case}, {threads} threads: {time.monotonic() - began:.1f} s")
        except KeyboardInterrupt:
            say(f"interrupted; the table has the cases before {case}, {threads} threads")
            return rows, True, versions
        finally:
            run.close()
    return rows, failed, versions


def interrupt(number, frame):
    """The first interrupt ends the measuring; further ones, which some tools send, must not cost the table."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    args = arguments()
    signal.signal(signal.SIGINT, interrupt)
    load = os.getloadavg()[0]
    env = contenders.environment(1, args.device)
    found = {name: peers.interpreter(name, args.venv, not args.no_install, env, say) for name in args.peers}
    pythons = {name: python for name, python in found.items() if python}
    rows, failed, versions = run_all(args, pythons, peer_commands(args, pythons, env))
    missing = [name for name, python in found.items() if not python]
    text = report.head(ROOT, args.device, versions, args.samples, load)
    if missing:
        text += f"\n- peers that are missing: {', '.join(missing)}"
    if args.tiny:
        text += "\n- A TRIAL with tiny shapes: the times mean nothing"
    if args.set:
        text += f"\n- set: {in_words(dict(args.set))}"
    with_bars = args.device == "cpu" and not args.tiny
    if args.sweep:
        text += f"\n- sweep: {args.shapes} shapes per case, seed {args.seed}, up to {args.most} elements"
        if args.case_s < math.inf:
            text += f"; fewer where {args.case_s:g} s did not suffice"
    text += "\n\n" + (sweep.table(rows, with_bars) if args.sweep or args.at else report.table(rows, with_bars))
    print(text)
    if args.json:
        report.write_json(rows, args.json)
    if args.plot:
        report.write_text(args.plot, report.svg(sweep.mean_rows(rows) if args.sweep else rows, f"{args.device}, {datetime.date.today()}"))
    if args.record:
        threads = f"-{args.threads[0]}-thread{'s' * (args.threads[0] > 1)}" if args.sweep and len(args.threads) == 1 else ""
        name = f"{datetime.date.today()}-{args.device}{'-sweep' * args.sweep}{threads}.md"
        path = os.path.join(ROOT, "benchmarks", "results", name)
        report.write_text(path, f"# {datetime.date.today()}, {args.device}\n\n{text}\n")
        say(f"recorded: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
