// A training whose standard output is closed, or is a pipe that nobody reads any longer, goes on and is saved whole.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/replicas.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/parallel/iterators.h>

using namespace test;
using namespace training;

namespace {

// The exit status of a child that trains for 8 iterations, printing all the time, after `prepare()`.
template <class Prepare> int trained_in_a_child(const std::string& out, Prepare prepare) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 90;
    try {
      prepare();
      nn::Classifier model{TinyMLP()};
      model.to_device(kCpu);
      SGD sgd;
      sgd.setup(model);
      MultiprocessIterator it(host_examples(12, true), 4, {.n_processes = 2});
      Trainer trainer(StandardUpdater(it, sgd, {.device = kCpu}), {8, iteration}, out);
      trainer.extend(LogReport({.trigger = {1, iteration}}));
      trainer.extend(PrintReport({"iteration", "main/loss", "no such entry"}));
      trainer.extend(ProgressBar({.update_interval = 1}));
      trainer.extend(
          [](Trainer&) {
            std::cout << "printed by an extension" << std::endl;
            std::printf("by stdio\n");
            std::fflush(stdout);
            catena::warn("UserWarning", "told on the standard error");
          },
          {.trigger = {1, iteration}});
      trainer.extend(Snapshot(), {.trigger = {2, iteration}});
      trainer.run();
      nn::Classifier again{TinyMLP()};
      again.to_device(kCpu);
      nn::serializers::load_npz(out + "/snapshot_iter_8", again, "updater/model:main/");
      result = params_of(again) == params_of(model) ? 0 : 91;
    } catch (const std::exception& e) {
      write_file(out + ".why", e.what());
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_output)

BOOST_AUTO_TEST_CASE(a_pipe_that_nobody_reads) {
  const TemporaryFolder folder("unread");
  const std::string out = folder / "result";
  const int status = trained_in_a_child(out, [] {
    ::signal(SIGPIPE, SIG_DFL);
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(80);
    ::close(ends[0]);
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
  });
  BOOST_TEST(status == 0, file_content(out + ".why"));
}

BOOST_AUTO_TEST_CASE(standard_streams_that_are_closed) {
  for (unsigned closed = 1; closed < 8; ++closed) BOOST_TEST_CONTEXT("closed: " << closed) {
      const TemporaryFolder folder("closed");
      const std::string out = folder / "result";
      const int status = trained_in_a_child(out, [&] {
        for (int fd = 0; fd < 3; ++fd)
          if (closed & (1u << fd)) ::close(fd);
      });
      BOOST_TEST(status == 0, file_content(out + ".why"));
    }
}

BOOST_AUTO_TEST_SUITE_END()
