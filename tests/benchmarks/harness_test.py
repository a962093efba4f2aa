"""The harness of the benchmarks: every case runs, contenders take turns, results are compared, figures and files are what they should be.
No time is asserted."""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
COMPARE = os.path.join(HERE, "..", "..", "benchmarks", "compare")
sys.path[:0] = [COMPARE, os.path.join(COMPARE, "peers")]
import bars  # noqa: E402
import contenders  # noqa: E402
import protocol  # noqa: E402
import report  # noqa: E402
import sweep  # noqa: E402
from measure import Row, calls_for, interleaved, measure, quartile_spread  # noqa: E402

arguments = None  # of this program


def compare(*extra):
    """(status, rows of the JSON file, standard output, standard error, the plot)"""
    with tempfile.TemporaryDirectory() as folder:
        rows, plot = os.path.join(folder, "rows.json"), os.path.join(folder, "plot.svg")
        command = [sys.executable, "-B", os.path.join(COMPARE, "compare.py"), "--worker", arguments.worker,
                   "--device", arguments.device, "--tiny", "--samples", "2", "--sample-ms", "0.001", "--threads", "1",
                   "--peers", "", "--venv", folder, "--no-install", "--json", rows, "--plot", plot, *extra]
        done = subprocess.run(command, capture_output=True, text=True)
        if not os.path.exists(rows):
            raise AssertionError(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        with open(rows) as r, open(plot) as p:
            return done.returncode, json.load(r), done.stdout, done.stderr, p.read()


class WholeRuns(unittest.TestCase):
    def test_every_case_runs_once(self):
        status, rows, table, log, _ = compare()
        self.assertEqual(status, 0, log)
        worker = contenders.Ours([arguments.worker, "--device", arguments.device], contenders.environment(1, arguments.device))
        try:
            cases = list(worker.cases(True))
        finally:
            worker.close()
        self.assertGreater(len(cases), 30)
        self.assertEqual([row["case"] for row in rows], [*cases, "cold_start/first_result"])
        for row in rows:
            self.assertEqual(list(row), ["case", "variant", "peer", "threads", "ours_us", "peer_us", "ratio", "spread", "shape"])
            self.assertGreater(row["ours_us"], 0, row["case"])
            self.assertEqual((row["peer"], row["peer_us"], row["ratio"]), ("", None, None))
            self.assertIn(row["case"], table)
        missing = bars.BARS.keys() - {*cases, "cold_start/first_result"}
        if missing == {"training/png_feed"}:
            print("this build reads no PNG files: it has no case training/png_feed")
        else:
            self.assertEqual(missing, set())

    def test_a_peer_is_compared(self):
        peer = f"fake={shlex.join([sys.executable, '-B', os.path.join(HERE, 'fake_peer.py')])}"
        status, rows, table, log, plot = compare("--peer", peer, "--case", "elementwise/add", "--case", "elementwise/tanh", "--case",
                                                 "elementwise/transpose_copy", "--case", "matmul/32_cubed", "--case", "reduction/sum_axis1")
        self.assertEqual(status, 0, log)
        self.assertEqual([(row["case"], row["peer"], row["variant"]) for row in rows],
                         [("elementwise/add", "fake", "default"), ("elementwise/add", "fake", "other"), ("elementwise/tanh", "", ""),
                          ("elementwise/transpose_copy", "fake", "default"), ("matmul/32_cubed", "fake", "default"),
                          ("reduction/sum_axis1", "fake", "default")])
        for row in rows:
            if row["peer"]:
                self.assertAlmostEqual(row["ratio"], row["peer_us"] / row["ours_us"])
        self.assertIn("fake 1.0", table)
        self.assertIn("A TRIAL", table)
        self.assertEqual(xml.etree.ElementTree.fromstring(plot).tag, "{http://www.w3.org/2000/svg}svg")

    def worker_instead(self, *cases):
        return shlex.join([arguments.worker, "--device", arguments.device, *(word for case in cases for word in ("--instead", case))])

    def test_two_cases_are_compared_as_two_ways_to_do_the_same(self):
        pairs = {"training/trainer_cost": "training/loop_cost", "training/png_feed": "training/memory_feed"}
        peer = self.worker_instead(*map("=".join, pairs.items()))
        status, rows, _, log, _ = compare("--peer", f"other={peer}", "--case", "training/*_cost", "--case", "training/*_feed")
        self.assertEqual(status, 0, log)
        found = {row["case"]: row["peer"] for row in rows}
        if "training/png_feed" not in found:
            print("this build reads no PNG files: training from files was not compared with training from memory")
            del pairs["training/png_feed"]
        self.assertEqual(found, {**dict.fromkeys(pairs, "other"), **dict.fromkeys(pairs.values(), "")})

    def test_another_case_has_another_result(self):
        peer = self.worker_instead("elementwise/exp=elementwise/tanh", "reduction/sum=nowhere")
        status, rows, _, log, _ = compare("--peer", f"other={peer}", "--case", "elementwise/exp", "--case", "reduction/sum")
        self.assertEqual(status, 1)
        self.assertIn("elementwise/exp: WRONG RESULT", log)
        self.assertIn("reduction/sum: other (default) is left out: worker: there is no case 'nowhere'", log)
        self.assertEqual({row["peer"] for row in rows}, {""})

    def test_arguments_of_the_worker(self):
        for words in (["--instead"], ["--instead", "a"], ["--other", "a=b"]):
            done = subprocess.run([arguments.worker, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("expected --device cpu|cuda or --instead CASE=OTHER", done.stderr)

    def test_wrong_results_and_failures_are_told(self):
        peer = f"fake={shlex.join([sys.executable, '-B', os.path.join(HERE, 'fake_peer.py')])}"
        status, rows, _, log, _ = compare("--peer", peer, "--case", "reduction/*")
        self.assertEqual(status, 1)
        self.assertIn("reduction/sum: WRONG RESULT", log)
        self.assertIn("reduction/var: fake (default) is left out: IndexError", log)
        self.assertIn("reduction/sum_axis0: fake (default) is left out: fake ended with status 3", log)
        self.assertEqual({row["case"] for row in rows if row["peer"]}, {"reduction/sum_axis1"})

    def test_a_sweep_draws_the_same_shapes_for_a_seed(self):
        worker = contenders.Ours([arguments.worker, "--device", arguments.device], contenders.environment(1, arguments.device))
        try:
            fixed, drawn, again, other = worker.cases(True), worker.sweep(7, 20, 500), worker.sweep(7, 20, 500), worker.sweep(8, 20, 500)
        finally:
            worker.close()
        self.assertEqual(drawn, again)
        self.assertNotEqual(drawn["elementwise/add"], other["elementwise/add"])
        self.assertLessEqual(drawn.keys(), fixed.keys())
        self.assertGreater(len(drawn), 55)
        adds = drawn["elementwise/add"]
        self.assertGreater(len({p["dtype"] for p in adds}), 4)
        self.assertGreater(len({p["offset"] for p in adds}), 4)
        self.assertTrue(all(10 <= int(p["n"]) <= 500 for p in adds), adds)
        sums = drawn["reduction/sum"]
        self.assertTrue(all(int(p["rows"]) * int(p["columns"]) <= 500 for p in sums), sums)
        self.assertEqual(len({tuple(p.items()) for p in sums}), len(sums))

    def test_a_sweep_is_compared(self):
        peer = f"fake={shlex.join([sys.executable, '-B', os.path.join(HERE, 'fake_peer.py')])}"
        case = ("--case", "elementwise/transpose_copy", "--case", "scan/*", "--case", "autograd/add")
        status, rows, table, log, _ = compare("--peer", peer, *case, "--sweep", "--shapes", "3", "--most", "60", "--seed", "5")
        self.assertEqual(status, 1)  # the test's peer knows float32 alone
        self.assertIn("elementwise/transpose_copy: WRONG RESULT: columns=", log)
        self.assertEqual({row["case"] for row in rows},
                         {"autograd/add", "elementwise/transpose_copy", "scan/cumsum", "scan/cumsum_axis0", "scan/cumsum_axis1"})
        self.assertTrue(all("=" in row["shape"] and row["ours_us"] > 0 for row in rows), rows)
        self.assertIn("3 shapes per case, seed 5, up to 60 elements", table)

    def test_a_sweep_stops_where_time_is_up(self):
        case = ("--peers", "", "--case", "autograd/add", "--sweep", "--shapes", "3", "--most", "60")
        status, rows, table, _, _ = compare(*case, "--case-s", "0")
        self.assertEqual((status, len(rows)), (0, 1))
        self.assertIn("3 shapes per case, seed 0, up to 60 elements; fewer where 0 s did not suffice", table)
        self.assertEqual(len(compare(*case, "--case-s", "1000")[1]), 3)

    def test_a_peer_that_ended_is_started_again_for_the_next_shape(self):
        peer = f"fake={shlex.join([sys.executable, '-B', os.path.join(HERE, 'fake_peer.py')])}"
        _, rows, _, log, _ = compare("--peer", peer, "--case", "reduction/sum_axis0", "--sweep", "--shapes", "3", "--most", "60")
        self.assertEqual(log.count("reduction/sum_axis0: fake (default) is left out: fake ended with status 3"), 3, log)
        self.assertNotIn("left out: fake ended\n", log)
        self.assertEqual([row["peer"] for row in rows], ["", "", ""])

    def test_a_contender_that_does_not_answer_is_ended(self):
        silent = contenders.Contender("silent", "", [sys.executable, "-c", "import time; time.sleep(600)"], dict(os.environ))
        longest, contenders.LONGEST_S = contenders.LONGEST_S, 0.2
        try:
            with self.assertRaisesRegex(contenders.ContenderError, "silent did not answer 'result' within 0.2 s and was ended"):
                silent.result()
            self.assertIsNotNone(silent.process.poll())
        finally:
            contenders.LONGEST_S = longest
            silent.close()

    def test_figures_of_a_sweep(self):
        def row(shape, peer, variant, ours, theirs):
            return Row("rows/softmax", variant, peer, 2, ours, theirs, theirs / ours, 0.0, shape)
        rows = [row(f"n={n}", "torch", "default", 1.0, 2.0) for n in range(8)]
        rows += [row("n=8", "torch", "default", 1.0, 0.5), row("n=9", "torch", "default", 2.0, 4.0)]
        rows += [row("n=9", "torch", "inference_mode", 2.0, 1.6), row("n=0", "numpy", "default", 1.0, 8.0)]
        (shapes,) = sweep.by_shape(rows).values()
        self.assertEqual((len(shapes), shapes["n=0"], shapes["n=9"]), (10, {"torch": 2.0, "numpy": 8.0}, {"torch": 0.8}))
        self.assertAlmostEqual(sweep.geometric_mean([4, 1, 0.5]), 2 ** (1 / 3))
        self.assertEqual(sweep.worst_tenth([2.0] * 8 + [0.5, 0.8]), 0.8)
        self.assertEqual(sweep.worst_tenth([3.0, 2.0]), 2.0)
        cells = [cell.strip() for cell in sweep.table(rows, True).splitlines()[2].strip("|").split("|")]
        mean = (2.0 ** 8 * 0.5 * 0.8) ** 0.1
        self.assertEqual(cells, ["rows/softmax", "2", "10", f"{mean:.2f}", "8.00", f"{mean:.2f}", "0.80", "0.50", "1.000", "n=8",
                                 "torch >= 1.2x", "NO"])
        good = [row(f"n={n}", "torch", "default", 1.0, 1.3) for n in range(10)]
        self.assertTrue(sweep.table(good, True).splitlines()[2].rstrip(" |").endswith("yes"))
        self.assertTrue(sweep.table(good[:9] + [row("n=9", "torch", "default", 2.0, 1.0)], True).splitlines()[2].rstrip(" |")
                        .endswith("NO"))  # half the speed at one shape

    def test_parameters_can_be_set(self):
        peer = f"fake={shlex.join([sys.executable, '-B', os.path.join(HERE, 'fake_peer.py')])}"
        chosen = ("--case", "elementwise/add", "--case", "matmul/32_cubed")
        status, rows, table, log, _ = compare("--peer", peer, *chosen, "--set", "n=7")
        self.assertEqual(status, 0, log)
        self.assertEqual({row["case"]: row["peer"] for row in rows}, {"elementwise/add": "fake", "matmul/32_cubed": "fake"})
        self.assertIn("- set: n=7", table)
        with self.assertRaisesRegex(AssertionError, "--set width: no chosen case has such a parameter"):
            compare(*chosen, "--set", "width=7")
        with self.assertRaisesRegex(AssertionError, "'n=few' is no <name>=<number>"):
            compare(*chosen, "--set", "n=few")
        with self.assertRaisesRegex(AssertionError, "--set is for the fixed cases"):
            compare(*chosen, "--set", "n=7", "--sweep")

    def test_a_set_parameter_reaches_the_case(self):
        status, rows, _, log, _ = compare("--case", "training/trainer_cost", "--set", "batch=0")
        self.assertEqual((status, rows), (1, []))
        self.assertRegex(log, "training/trainer_cost: NOT MEASURED: batch=0 images=16 .*the batch size is 0")

    def test_options_of_a_sweep_alone_are_refused(self):
        with self.assertRaisesRegex(AssertionError, "belong to --sweep"):
            compare("--seed", "3")

    def test_unknown_cases_are_refused(self):
        with self.assertRaisesRegex(AssertionError, "there are .*elementwise/add"):
            compare("--case", "elementwise/nothing")


class FakeContender:
    """Takes a microsecond per call, times `factor` of the round."""

    def __init__(self, name, log, factors=(1.0,), result=(1, 1, 1, 4)):
        self.name, self.variant, self.log, self.factors, self.answer = name, "default", log, factors, list(result)
        self.runs = 0

    def setup(self, case, parameters):
        self.log.append(("setup", self.name, case))

    def result(self):
        return self.answer

    def run(self, calls):
        self.log.append((self.name, calls))
        us = self.factors[self.runs % len(self.factors)]
        self.runs += 1
        return us


class Figures(unittest.TestCase):
    def test_contenders_take_turns(self):
        log = []
        three = [FakeContender(name, log) for name in "abc"]
        times = interleaved(three, 3, 1)
        self.assertEqual([name for name, _ in log[-9:]], ["a", "b", "c", "c", "b", "a", "a", "b", "c"])
        self.assertEqual(times, [[1.0] * 3] * 3)

    def test_calls_fill_a_sample(self):
        self.assertEqual(calls_for(FakeContender("fast", []), 500), 500)
        self.assertEqual(calls_for(FakeContender("slow", [], (800.0,)), 500), 1)

    def test_medians_and_spread(self):
        ours, peer = FakeContender("catena", []), FakeContender("p", [], (9.0, 2.0, 4.0, 6.0))
        rows, wrong = measure("topic/case", {}, ours, [peer], 2, 3, 1, self.fail)
        self.assertFalse(wrong)
        # The first run finds the number of calls; then 2, 4, 6.
        self.assertEqual(rows, [Row("topic/case", "default", "p", 2, 1.0, 4.0, 4.0, 0.5)])
        self.assertEqual(quartile_spread([7.0]), 0.0)

    def test_another_result_is_not_timed(self):
        said = []
        other = FakeContender("p", [], result=(1, 1.1, 1.1, 4))
        rows, wrong = measure("topic/case", {}, FakeContender("catena", []), [other], 1, 2, 1, said.append)
        self.assertTrue(wrong)
        self.assertEqual([row.peer for row in rows], [""])
        self.assertIn("WRONG RESULT", said[0])
        self.assertTrue(contenders.same([3, 1.0, -2.0, 4], [3, 1.0005, -2.0005, 4]))
        nan = float("nan")
        self.assertTrue(contenders.same([3, nan, -2.0, nan, 4], [3, nan, -2.0005, nan, 4]))
        self.assertFalse(contenders.same([3, nan, -2.0, nan, 4], [3, nan, -2.1, nan, 4]))
        self.assertFalse(contenders.same([3, 1.0, nan, 4], [3, 1.0, -2.0, 4]))
        for answer in ([2, 1.0, -2.0, 4], [3, 1.0, 2.0, 4], [3, 1.0, -2.0, 8], [3, 1.0, float("nan"), 4]):
            self.assertFalse(contenders.same([3, 1.0, -2.0, 4], answer))

    def test_a_long_call_is_not_repeated_without_being_timed(self):
        calls = []
        case = protocol.Case(lambda: calls.append(1))
        protocol.timed(case, 2, lambda: None)
        self.assertEqual(len(calls), 3)
        case.call_ns = protocol.LONG_CALL_NS
        protocol.timed(case, 2, lambda: None)
        self.assertEqual(len(calls), 5)
        protocol.timed(case, 2, lambda: None)  # it was short
        self.assertEqual(len(calls), 8)

    def test_the_best_variant_is_quoted(self):
        def row(variant, us, case="elementwise/exp"):
            return Row(case, variant, "torch", 2, 1.0, us, us, 0.0)
        self.assertEqual([r.variant for r in report.best([row("default", 3.0), row("fast", 2.0), row("slow", 9.0)])], ["fast"])
        # The bar of this case is of the default; the compiled variant stands beside it.
        chain = [row("default", 3.0, "elementwise/chain_fused"), row("compile", 1.5, "elementwise/chain_fused")]
        self.assertEqual([r.variant for r in report.best(chain)], ["default", "compile"])
        self.assertEqual([report.verdict(r, None) for r in chain], [(">= 2x", "yes"), ("", "")])

    def test_bars(self):
        def add(threads, ours, ratio):
            return Row("overhead/add", "default", "numpy", threads, ours, ours * ratio, ratio, 0.0)
        self.assertEqual(report.verdict(add(2, 0.1, 2.5), None), (">= 2x, <= 0.15 us", "yes"))
        self.assertEqual(report.verdict(add(2, 0.1, 1.9), None)[1], "NO")
        self.assertEqual(report.verdict(add(2, 0.2, 2.5), None)[1], "NO")
        self.assertEqual(report.verdict(add(1, 0.2, 1.0), None), ("", ""))
        self.assertEqual(report.verdict(Row("matmul/1024_cubed", "", "", 2, 1.0, None, None, 0.0), None), ("", ""))
        self.assertEqual(report.verdict(Row("random/normal", "default", "numpy", 2, 1.0, 1.0, 1.0, 0.0), None), ("", ""))

    def test_a_bar_below_the_floor(self):
        def add(ours):  # the bar of 4 asks for 5.0
            return Row("elementwise/add", "default", "torch", 2, ours, 20.0, 20.0 / ours, 0.0)
        floor = Row("elementwise/add", "default", "floor", 2, 6.0, 5.5, 5.5 / 6.0, 0.0)
        floor_us = report.floors([add(6.0), floor])
        self.assertEqual(floor_us, {("elementwise/add", 2): 5.5})
        self.assertEqual(report.verdict(add(4.9), 5.5), (">= 4x", "yes"))
        self.assertEqual(report.verdict(add(6.0), 5.5), (">= 4x", "floor"))
        self.assertEqual(report.verdict(add(6.6), 5.5), (">= 4x", "NO"))  # 0.83 of the floor's speed
        self.assertEqual(report.verdict(add(5.1), 4.9), (">= 4x", "NO"))  # the bar can be reached
        self.assertEqual(report.verdict(floor, 5.5), ("", ""))

    def test_a_turn_ends_when_all_threads_sleep(self):
        busy = "import sys, threading, time\n" \
               "def spin():\n    end = time.monotonic() + 0.1\n    while time.monotonic() < end: pass\n" \
               "for line in sys.stdin:\n    threading.Thread(target=spin).start()\n    print('ok 1000', flush=True)\n"
        contender = contenders.Contender("p", "", [sys.executable, "-c", busy], dict(os.environ))
        try:
            contender.run(1)
            self.assertNotIn("R", contenders.thread_states(f"/proc/{contender.process.pid}/task"))
        finally:
            contender.close()

    def test_the_environment_is_the_same_for_all(self):
        inherited = dict(os.environ)
        os.environ.update(OPENBLAS_CORETYPE="Haswell", OPENBLAS_L2_SIZE="1", OMP_WAIT_POLICY="active")
        try:
            env = contenders.environment(3, "cpu")
        finally:
            os.environ.clear()
            os.environ.update(inherited)
        self.assertNotIn("OPENBLAS_CORETYPE", env)
        self.assertNotIn("OPENBLAS_L2_SIZE", env)
        self.assertEqual((env["OMP_NUM_THREADS"], env["OMP_WAIT_POLICY"], env["CATENA_DEVICE"]), ("3", "passive", "cpu"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--device", default="cpu")
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
