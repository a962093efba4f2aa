// StopOnSignal: trainings in processes that get signals, and what goes on from their snapshots.
#include <catena/training/extensions/stop_on_signal.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_run.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();

// Runs f in a child process and returns its identifier; the exit status is what f returns. CUDA cannot be used after a
// fork, so these tests are of the CPU.
pid_t child_that(const std::function<int()>& f) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child > 0) return child;
  int status = 70;
  try {
    status = f();
  } catch (...) {
    status = 71;
  }
  ::_exit(status);
}

// The exit status, or minus the signal that has ended the process.
int end_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void wait_for(const std::string& file) {
  for (int i = 0; i < 6000 && !std::filesystem::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  BOOST_REQUIRE(std::filesystem::exists(file));
}

// Writes the file "ready" at an iteration, and waits there until the file "go" exists.
void meet_at(Trainer& trainer, const TemporaryFolder& folder, std::int64_t at) {
  trainer.extend(
      [&folder, at](Trainer& t) {
        if (t.updater().iteration() != at) return;
        write_file(folder / "ready", "");
        for (int i = 0; i < 6000 && !std::filesystem::exists(folder / "go"); ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
      },
      {.name = "meeting", .priority = PRIORITY_WRITER});
}

struct Disposition {
  int signal;
  struct sigaction before {};
  explicit Disposition(int s) : signal(s) { ::sigaction(s, nullptr, &before); }
  ~Disposition() { ::sigaction(signal, &before, nullptr); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(signals)

// The iteration is finished, the state is saved although no trigger has fired, and the exit status says why. A training
// that continues from the file ends with the same bits as one without the interruption.
BOOST_AUTO_TEST_CASE(a_training_is_stopped_and_goes_on) {
  if (default_device() != kCpu) return;
  const TemporaryFolder whole_folder("signal_whole");
  const auto add = [](StatefulRun& run) -> StopOnSignal& {
    run.trainer.extend(Snapshot({.filename = "last", .trigger = TriggerSpec(), .autoload = true}), {.name = "last"});
    return run.trainer.extend(StopOnSignal());
  };
  StatefulRun whole(1, 12, whole_folder.path.string());
  add(whole);
  whole.trainer.run();
  const std::vector<std::string> expected = whole.state();
  for (const int signal : {SIGTERM, SIGINT}) {
    BOOST_TEST_CONTEXT("signal " << signal) {
      const TemporaryFolder folder("signal");
      const pid_t child = child_that([&] {
        std::signal(signal, SIG_DFL);
        StatefulRun run(1, 12, folder.path.string());
        StopOnSignal& signals = add(run);
        meet_at(run.trainer, folder, 5);
        run.trainer.run();
        if (run.trainer.updater().iteration() != 5) return 72;
        return signals.received() == signal ? signals.exit_code() : 73;
      });
      wait_for(folder / "ready");
      ::kill(child, signal);
      write_file(folder / "go", "");
      BOOST_TEST(end_of(child) == 128 + signal);
      BOOST_REQUIRE(std::filesystem::exists(folder / "last"));
      StatefulRun resumed(77, 12, folder.path.string());
      StopOnSignal& signals = add(resumed);
      resumed.trainer.run();
      BOOST_TEST(!signals.received().has_value());
      BOOST_TEST(signals.exit_code() == 0);
      BOOST_TEST(resumed.state() == expected, each);
    }
  }
}

// Killed without a warning, at any time: the newest snapshot is whole, and the end is the same.
BOOST_AUTO_TEST_CASE(a_training_is_killed_again_and_again) {
  if (default_device() != kCpu) return;
  const TemporaryFolder folder("kill"), whole_folder("kill_whole");
  const auto train = [](const std::string& out, bool slowly = false) {
    // With a snapshot, the seed of the constructor must have no influence.
    StatefulRun run(std::filesystem::exists(out + "/last") ? 77 : 1, 40, out);
    run.trainer.extend(Snapshot({.filename = "last", .trigger = {1, iteration}, .autoload = true}), {.name = "last"});
    // So that none ends before the signal at the first attempt.
    if (slowly) run.trainer.extend([](Trainer&) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); });
    run.trainer.run();
    return run.state();
  };
  const std::vector<std::string> expected = train(whole_folder.path.string());
  int kills = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::filesystem::remove(folder / "begun");
    const pid_t child = child_that([&] {
      write_file(folder / "begun", "");
      train(folder.path.string(), true);
      return 0;
    });
    wait_for(folder / "begun");
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + 7 * attempt));
    ::kill(child, SIGKILL);
    if (end_of(child) == 0) break;
    ++kills;
  }
  BOOST_TEST(kills > 0);
  BOOST_TEST(train(folder.path.string()) == expected, each);
}

BOOST_AUTO_TEST_CASE(a_second_signal_ends_the_process) {
  if (default_device() != kCpu) return;
  const TemporaryFolder folder("second");
  const pid_t child = child_that([&] {
    std::signal(SIGTERM, SIG_DFL);
    FakeUpdater updater(5);
    Trainer trainer(updater, {3, iteration}, folder.path.string());
    const Warnings ignored;
    trainer.extend(StopOnSignal());
    meet_at(trainer, folder, 1);
    trainer.run();
    return 0;
  });
  wait_for(folder / "ready");
  ::kill(child, SIGTERM);
  ::kill(child, SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(child, SIGTERM);  // two at once may count as one
  BOOST_TEST(end_of(child) == -SIGTERM);
}

// Within this process: other signals, dispositions that come back, signals that are ignored, several trainers.
BOOST_AUTO_TEST_CASE(dispositions) {
  const Disposition restored(SIGUSR1), restored2(SIGUSR2);
  const TemporaryFolder folder("dispositions");
  static int seen = 0;
  std::signal(SIGUSR1, [](int) { ++seen; });
  std::signal(SIGUSR2, SIG_IGN);
  FakeUpdater updater(5);
  Trainer trainer(updater, {9, iteration}, folder.path.string());
  trainer.extend(Snapshot({.trigger = TriggerSpec()}));
  StopOnSignal& signals = trainer.extend(StopOnSignal({.signals = {SIGUSR1, SIGUSR2}}));
  trainer.extend([](Trainer& t) { std::raise(t.updater().iteration() < 3 ? SIGUSR2 : SIGUSR1); },
                 {.name = "raise", .priority = PRIORITY_WRITER});
  trainer.run();
  BOOST_TEST(updater.iteration() == 3);
  BOOST_TEST(signals.received().value_or(0) == SIGUSR1);
  BOOST_TEST(signals.exit_code() == 128 + SIGUSR1);
  BOOST_TEST(seen == 0);
  BOOST_TEST(std::filesystem::exists(folder / "snapshot_iter_3"));
  std::raise(SIGUSR1);
  BOOST_TEST(seen == 1);  // the handler of the program is there again
  std::raise(SIGUSR2);    // ignored
}

BOOST_AUTO_TEST_CASE(two_trainers_share_a_signal) {
  const Disposition restored(SIGUSR1);
  std::signal(SIGUSR1, SIG_IGN);
  std::signal(SIGUSR1, [](int) {});
  const TemporaryFolder folder("two");
  const Warnings ignored;
  FakeUpdater outer_updater(5), inner_updater(5);
  Trainer outer(outer_updater, {9, iteration}, folder / "outer"),
      inner(inner_updater, {9, iteration}, folder / "inner");
  inner.extend([](Trainer&) { std::raise(SIGUSR1); }, {.priority = PRIORITY_WRITER});
  const StopOnSignal& of_inner = inner.extend(StopOnSignal({.signals = {SIGUSR1}}));
  outer.extend(
      [&](Trainer& t) {
        if (t.updater().iteration() == 2) inner.run();
      },
      {.name = "inner", .priority = PRIORITY_WRITER});
  const StopOnSignal& of_outer = outer.extend(StopOnSignal({.signals = {SIGUSR1}}));
  outer.run();
  BOOST_TEST(inner_updater.iteration() == 1);
  BOOST_TEST(outer_updater.iteration() == 2);
  BOOST_TEST(of_inner.exit_code() == 128 + SIGUSR1);
  BOOST_TEST(of_outer.exit_code() == 128 + SIGUSR1);
}

// A training with a later run of its own starts without the signal of an earlier one.
BOOST_AUTO_TEST_CASE(a_signal_is_of_one_run) {
  const Disposition restored(SIGUSR1);
  std::signal(SIGUSR1, [](int) {});
  const TemporaryFolder folder("one_run");
  const Warnings ignored;
  for (const bool raises : {true, false}) {
    FakeUpdater updater(5);
    Trainer trainer(updater, {4, iteration}, folder.path.string());
    if (raises) trainer.extend([](Trainer&) { std::raise(SIGUSR1); }, {.priority = PRIORITY_WRITER});
    trainer.extend(StopOnSignal({.signals = {SIGUSR1}}));
    trainer.run();
    BOOST_TEST(updater.iteration() == (raises ? 1 : 4));
  }
}

// A signal after the last call of the extension is not lost, although it ends nothing.
BOOST_AUTO_TEST_CASE(a_signal_at_the_end) {
  const Disposition restored(SIGUSR1);
  std::signal(SIGUSR1, [](int) {});
  const TemporaryFolder folder("at_the_end");
  const Warnings ignored;
  FakeUpdater updater(5);
  Trainer trainer(updater, {2, iteration}, folder.path.string());
  const StopOnSignal& signals = trainer.extend(StopOnSignal({.signals = {SIGUSR1}}));
  trainer.extend(
      [](Trainer& t) {
        if (t.updater().iteration() == 2) std::raise(SIGUSR1);
      },
      {.priority = PRIORITY_SNAPSHOT});
  trainer.run();
  BOOST_TEST(signals.received().value_or(0) == SIGUSR1);
  BOOST_TEST(signals.exit_code() == 128 + SIGUSR1);
}

// A training that does not begin leaves no handler behind.
BOOST_AUTO_TEST_CASE(beside_an_extension_that_fails) {
  const Disposition restored(SIGUSR1);
  static int seen = 0;
  std::signal(SIGUSR1, [](int) { ++seen; });
  const TemporaryFolder folder("fails_beside");
  const Warnings ignored;
  FakeUpdater updater(5);
  Trainer trainer(updater, {2, iteration}, folder.path.string());
  trainer.extend(StopOnSignal({.signals = {SIGUSR1}}));
  trainer.extend(
      make_extension([](Trainer&) {}, {.initializer = [](Trainer&) { throw catena::ValueError("as asked"); }}));
  BOOST_CHECK_THROW(trainer.run(), catena::ValueError);
  std::raise(SIGUSR1);
  BOOST_TEST(seen == 1);
}

BOOST_AUTO_TEST_CASE(errors_and_warnings) {
  const Disposition restored(SIGUSR1);
  std::signal(SIGUSR1, [](int) {});
  const TemporaryFolder folder("errors");
  {
    const Warnings warnings;
    FakeUpdater updater(5);
    Trainer trainer(updater, {1, iteration}, folder.path.string());
    trainer.extend(StopOnSignal({.signals = {SIGUSR1}}));
    trainer.run();
    BOOST_REQUIRE(warnings.texts.size() == 1u);
    BOOST_TEST(has(warnings.texts[0], "StopOnSignal: no extension saves the trainer"));
  }
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  trainer.extend(Snapshot());
  trainer.extend(StopOnSignal({.signals = {SIGUSR1, SIGKILL}}));
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { trainer.run(); }), "the signal 9 cannot be handled"));
  struct sigaction now {};
  ::sigaction(SIGUSR1, nullptr, &now);
  BOOST_TEST((now.sa_flags & static_cast<int>(SA_RESETHAND)) == 0);  // nothing is left of the failed attempt
}

BOOST_AUTO_TEST_SUITE_END()
