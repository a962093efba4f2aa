// Snapshots: names, atomicity under SIGKILL at every system call of a save, and resumed runs that equal the
// uninterrupted one.
#include <catena/training/extensions/snapshot.h>

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <csignal>
#include <set>

#include <catena/kernels/formats/npz.h>
#include <catena/kernels/formats/zip.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_run.h>

using namespace test;
using namespace training;

namespace {

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

// Whether the process has stopped at one of the calls by which malloc asks for memory. Their number differs from save
// to save, that of the others does not.
bool is_call_for_memory([[maybe_unused]] pid_t process) {
#ifdef __x86_64__
  struct user_regs_struct registers {};
  if (::ptrace(PTRACE_GETREGS, process, nullptr, &registers) != 0) return false;
  for (const long call : {SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise})
    if (static_cast<long>(registers.orig_rax) == call) return true;
#endif
  return false;
}

// Runs `save` in a child process that is killed at its nth system call
// that does not ask for memory. False when the save ended before.
bool killed_at(int n, const std::function<void()>& save) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    try {
      save();
    } catch (...) {
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return false;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
  for (int i = 0; i < n; i += is_call_for_memory(child) ? 0 : 1) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      BOOST_TEST(WEXITSTATUS(status) == 0);
      return false;
    }
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(snapshots)

BOOST_AUTO_TEST_CASE(names_and_triggers) {
  const TemporaryFolder folder("names");
  StatefulRun run(1, 7, folder.path.string());
  run.trainer.extend(snapshot({.filename = "epoch_{.updater.epoch:03d}"}));
  run.trainer.extend(snapshot_object(run.model, "model_{.updater.iteration}"), {.trigger = TriggerSpec(5, iteration)});
  run.trainer.extend(snapshot_object(run.optimizer, "optimizer", {.trigger = {2, iteration}}));
  run.trainer.run();
  // Every 3rd iteration; the end of the sweep at iteration 6 (22 examples in batches of 4); objects at 5; the log at 6.
  const std::set<std::string> expected{"epoch_001",      "log", "model_5", "optimizer", "snapshot_iter_3",
                                       "snapshot_iter_6"};
  BOOST_TEST(names_in(folder.path) == expected, boost::test_tools::per_element());
  nn::Classifier<StatefulMLP> model{StatefulMLP()};
  nn::serializers::load_npz(folder / "model_5", model);
  BOOST_TEST(model.predictor.l1.W.shape() == Shape({16, 6}));
  BOOST_TEST(
      has(message_of<catena::ValueError>([] { Snapshot({.filename = "{.updater.nothing}"}); }), ".updater.nothing"));
  BOOST_CHECK_THROW(snapshot_object(run.model, "{x}"), catena::ValueError);
  for (const char* name : {"snapshot_iter_6", "model_5"}) {
    const catena::ZipReader file("test", folder / name);
    for (const catena::ZipMember& member : file.members())
      BOOST_TEST(member.method == std::uint16_t(catena::ZipMethod::stored), member.name);
  }
}

BOOST_AUTO_TEST_CASE(savers_of_ones_own) {
  const TemporaryFolder folder("savers");
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  std::string seen;
  trainer.extend(Snapshot({.filename = "mine",
                           .savefun =
                               [&](const std::string& path, Trainer&) {
                                 seen = path;
                                 write_file(path, "whole");
                               },
                           .trigger = {1, iteration}}));
  trainer.extend(snapshot_object(std::string("owned"), "object",
                                 [](const std::string& path, const std::string& object) { write_file(path, object); },
                                 {.trigger = {1, iteration}}));
  trainer.run();
  BOOST_TEST(file_content(folder / "mine") == "whole");
  BOOST_TEST(seen.starts_with(folder / ".mine.tmp-"), seen);  // it was written beside and renamed
  BOOST_TEST(file_content(folder / "object") == "owned");
  BOOST_TEST(names_in(folder.path).size() == 2u);

  write_file(folder / "mine", "old");
  FakeUpdater again(5);
  Trainer failing(again, {1, iteration}, folder.path.string());
  failing.extend(Snapshot({.filename = "mine",
                           .savefun =
                               [](const std::string& path, Trainer&) {
                                 write_file(path, "half");
                                 throw catena::IOError("disk full");
                               },
                           .trigger = {1, iteration}}));
  BOOST_TEST(message_of<catena::IOError>([&] { failing.run(); }) == "extension snapshot at iteration 1: disk full");
  BOOST_TEST(file_content(folder / "mine") == "old");
  BOOST_TEST(names_in(folder.path).size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_written) {
  const TemporaryFolder folder("missing");
  write_file(folder / "file", "no folder");
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder / "file");
  trainer.extend(Snapshot({.trigger = {1, iteration}}));
  BOOST_TEST(has(message_of<catena::IOError>([&] { trainer.run(); }), "cannot create the result folder"));
  // One that goes away during the training.
  Trainer second(FakeUpdater(5), {1, iteration}, folder / "folder");
  second.extend(Snapshot({.trigger = {1, iteration}}));
  second.extend([&](Trainer&) { std::filesystem::remove(folder / "folder"); });
  BOOST_TEST(has(message_of<catena::IOError>([&] { second.run(); }), "snapshot_iter_1"));
}

BOOST_AUTO_TEST_CASE(killed_at_every_system_call) {
  const TemporaryFolder folder("killed");
  TinyMLP old_model, new_model;
  for (TinyMLP* model : {&old_model, &new_model}) model->to_cpu();  // CUDA cannot be used after a fork
  for (Variable& p : old_model.params()) autograd::fill(p.data(), 1);
  for (Variable& p : new_model.params()) autograd::fill(p.data(), 2);
  const std::string path = folder / "snapshot";
  int kills = 0, olds = 0, news = 0;
  for (int n = 1; n < 2000; ++n) {
    nn::serializers::save_npz(path, old_model);
    const bool killed = killed_at(n, [&] { nn::serializers::save_npz(path, new_model); });
    TinyMLP loaded;
    BOOST_REQUIRE_NO_THROW(nn::serializers::load_npz(path, loaded));
    const double value = values(loaded.l1.W.data())[0];
    for (const Variable& p : loaded.params())
      for (const double x : values(p.data())) BOOST_REQUIRE(x == value);  // all of one file
    BOOST_REQUIRE((value == 1 || value == 2));
    for (const std::string& name : names_in(folder.path))
      BOOST_TEST((name == "snapshot" || name.starts_with(".")), name);
    (value == 1 ? olds : news)++;
    if (!killed) {
      BOOST_TEST(value == 2);
      break;
    }
    ++kills;
  }
  if (kills == 0) {
    std::printf("skipped: no process may be traced here\n");
    return;
  }
  BOOST_TEST(kills >= 10);
  BOOST_TEST(olds >= 5);
  BOOST_TEST(news >= 2);                           // the file is there before the save has returned
  BOOST_TEST(names_in(folder.path).size() == 1u);  // saves have removed what the killed ones left
}

// Interrupted anywhere, also within a sweep and within an interval of the log, a run ends with the same bits.
BOOST_AUTO_TEST_CASE(resumed_runs_are_the_same_bit_for_bit) {
  const TemporaryFolder folder("resume");
  StatefulRun whole(1, 20, folder.path.string());
  whole.trainer.run();
  const std::vector<std::string> expected = whole.state();
  BOOST_TEST(whole.log.log().size() == 3u);
  for (const int stop : {3, 6, 9, 12, 18}) {
    BOOST_TEST_CONTEXT("stopped after iteration " << stop) {
      const TemporaryFolder own("resume_" + std::to_string(stop));
      StatefulRun first(1, stop, own.path.string());
      first.trainer.run();
      StatefulRun second(77, 20, own.path.string());  // another seed: everything must come from the file
      const std::string file = own / ("snapshot_iter_" + std::to_string(stop));
      nn::serializers::load_npz(file, second.trainer);
      second.trainer.run();
      BOOST_TEST(second.state() == expected, boost::test_tools::per_element());
      const double until = catena::NpzReader("test", file).read("_snapshot_elapsed_time").as<double>()[0];
      BOOST_TEST(second.trainer.elapsed_time() >= until);  // time goes on where it was
    }
  }
}

// A run that is past its end already stops before any update.
BOOST_AUTO_TEST_CASE(resuming_a_finished_run) {
  const TemporaryFolder folder("finished");
  StatefulRun first(1, 6, folder.path.string()), second(2, 6, folder.path.string());
  first.trainer.run();
  nn::serializers::load_npz(folder / "snapshot_iter_6", second.trainer);
  second.trainer.run();
  BOOST_TEST(second.trainer.updater().iteration() == 6);
  BOOST_TEST(second.state() == first.state(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
