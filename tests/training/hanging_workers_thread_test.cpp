// Workers that hang or are stopped: iterators and updaters end within their limit and leave no process behind; what
// threads can be promised is less.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/replicas.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/parallel/iterators.h>
#include <catena/training/parallel/multiprocess_parallel_updater.h>

using namespace test;
using namespace training;
using training::updaters::MultiprocessParallelUpdater;

namespace {

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) == 0; }

int open_descriptors() {
  int n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

double seconds_of(const catena::Function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A worker's child, which has a copy of the worker's socket for longer than any limit of the tests. It gives up its
// output: who reads that of the tests would wait for it.
[[noreturn]] void sleep_with_socket() {
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  ::sleep(20);
  ::_exit(0);
}

enum class Way { hangs, is_stopped, hangs_with_a_child };

// From example `from` on no worker process gives an answer.
struct Hanging : DatasetMixin {
  DatasetPtr of;
  Way way;
  std::int64_t from;
  pid_t parent = ::getpid();
  Hanging(DatasetPtr of_, Way way_, std::int64_t from_) : of(std::move(of_)), way(way_), from(from_) {}
  std::int64_t size() const override { return of->size(); }
  Example get_example(std::int64_t i) const override {
    if (i >= from && ::getpid() != parent) {
      if (way == Way::is_stopped) ::raise(SIGSTOP);
      if (way == Way::hangs_with_a_child && ::fork() == 0) sleep_with_socket();
      for (;;) ::pause();
    }
    return of->get_example(i);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hanging_workers)

BOOST_AUTO_TEST_CASE(an_iterator_ends_within_its_limit) {
  constexpr double kLimit = 0.4, kSlack = 4;
  for (const Way way : {Way::hangs, Way::is_stopped, Way::hangs_with_a_child})
    for (const bool by_finalize : {false, true}) BOOST_TEST_CONTEXT("way " << int(way) << " finalize " << by_finalize) {
        const Warnings warnings;
        const int before = open_descriptors();
        {
          auto it = std::make_unique<MultiprocessIterator>(
              std::make_shared<Hanging>(host_examples(12, true), way, 4), 2,
              MultiprocessIterator::Options{
                  .shuffle = false, .n_processes = 4, .n_prefetch = 4, .stop_timeout = kLimit});
          it->next();
          it->next();
          std::this_thread::sleep_for(std::chrono::milliseconds(200));  // all four are at examples that do not end
          const double seconds = seconds_of([&] {
            if (by_finalize) it->finalize();
            else it.reset();
          });
          BOOST_TEST(seconds >= kLimit * 0.9);
          BOOST_TEST(seconds < kLimit + kSlack);  // one limit for all workers
          BOOST_TEST(!has_children());
        }
        BOOST_TEST(open_descriptors() == before);
        BOOST_TEST(warnings.texts.size() == 4u);
        for (const std::string& text : warnings.texts)
          BOOST_TEST(
              (has(text, "MultiprocessIterator, worker ") && has(text, "did not end within 0.4 s and was killed")),
              text);
      }
}

// The end of a worker shows although its own child keeps its socket open.
BOOST_AUTO_TEST_CASE(a_worker_that_dies_beside_its_child) {
  struct Leaving : DatasetMixin {
    DatasetPtr of = host_examples(12, true);
    pid_t parent = ::getpid();
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      if (i == 5 && ::getpid() != parent) {
        if (::fork() == 0) sleep_with_socket();
        ::raise(SIGKILL);
      }
      return of->get_example(i);
    }
  };
  MultiprocessIterator it(std::make_shared<Leaving>(), 2, {.shuffle = false, .n_processes = 2});
  it.next();
  it.next();
  std::string message;
  const double seconds = seconds_of([&] { message = message_of<catena::RuntimeError>([&] { it.next(); }); });
  BOOST_TEST(has(message, "was killed by signal 9"), message);
  BOOST_TEST(seconds < 5);
  BOOST_TEST(!has_children());
}

// Signals for a group of processes: the program decides when its workers end.
BOOST_AUTO_TEST_CASE(signals_for_all_processes_leave_workers) {
  struct Identified : DatasetMixin {
    std::int64_t size() const override { return 8; }
    Example get_example(std::int64_t) const override { return Example(double(::getpid())); }
  };
  for (const int signal : {SIGINT, SIGTERM}) BOOST_TEST_CONTEXT("signal " << signal) {
      MultiprocessIterator it(std::make_shared<Identified>(), 2, {.n_processes = 1});
      it.next();  // the program loads the first batch, and starts the worker
      const auto worker = [&] { return autograd::to_vector<double>(it.next()->examples[0].values[0])[0]; };
      const double process = worker();
      BOOST_REQUIRE(process != double(::getpid()));
      BOOST_REQUIRE(::kill(pid_t(process), signal) == 0);
      for (int k = 0; k < 4; ++k) BOOST_TEST(worker() == process);
    }
  BOOST_TEST(!has_children());
}

// Idle workers end at once, busy ones with their example.
BOOST_AUTO_TEST_CASE(workers_that_can_end_do_so_by_themselves) {
  struct Slow : DatasetMixin {
    DatasetPtr of = host_examples(12, true);
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      if (i >= 4) std::this_thread::sleep_for(std::chrono::milliseconds(600));
      return of->get_example(i);
    }
  };
  const Warnings warnings;
  auto it = std::make_unique<MultiprocessIterator>(std::make_shared<Slow>(), 2,
                                                   MultiprocessIterator::Options{.shuffle = false, .n_processes = 2});
  it->next();
  it->next();
  BOOST_TEST(seconds_of([&] { it.reset(); }) < 4);
  BOOST_TEST(!has_children());
  BOOST_TEST(warnings.texts.empty());
}

BOOST_AUTO_TEST_CASE(an_updater_ends_within_its_limit) {
  for (const bool by_finalize : {false, true}) BOOST_TEST_CONTEXT("finalize " << by_finalize) {
      const Warnings warnings;
      nn::Classifier model{TinyMLP()};
      SGD sgd;
      sgd.setup(model);
      // The second worker is stopped after it has answered.
      struct Telling : DatasetMixin {
        DatasetPtr of = host_examples(6, true);
        std::string path;
        explicit Telling(std::string p) : path(std::move(p)) {}
        std::int64_t size() const override { return of->size(); }
        Example get_example(std::int64_t i) const override {
          write_file(path, std::to_string(::getpid()));
          return of->get_example(i);
        }
      };
      const TemporaryFolder folder("stopped");
      SerialIterator a(host_examples(6, true), 2), b(host_examples(6, true), 2), c(Telling(folder / "pid"), 2);
      auto updater = std::make_unique<MultiprocessParallelUpdater>(
          std::vector<Held<Iterator>>{a, b, c}, sgd,
          MultiprocessParallelUpdater::Options{.devices = {-1, -1, -1}, .stop_timeout = 0.5});
      updater->update();
      ::kill(std::stoi(file_content(folder / "pid")), SIGSTOP);
      const double seconds = seconds_of([&] {
        if (!by_finalize) return updater.reset();
        const std::string message = message_of<catena::RuntimeError>([&] { updater->finalize(); });
        BOOST_TEST(has(message, "worker 2: the process "), message);
        BOOST_TEST(has(message, "has not answered within 0.5 s"), message);
      });
      BOOST_TEST(seconds < 5);
      BOOST_TEST(!has_children());
    }
}

BOOST_AUTO_TEST_CASE(a_thread_is_waited_for_and_named) {
  struct Waiting : DatasetMixin {
    DatasetPtr of = host_examples(12, true);
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      if (i == 5) {
        begun() = true;
        while (!told()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return of->get_example(i);
    }
    static std::atomic<bool>& begun() {
      static std::atomic<bool> value{false};
      return value;
    }
    static std::atomic<bool>& told() {
      static std::atomic<bool> value{false};
      return value;
    }
  };
  static std::string text;
  const catena::WarningHandler before = catena::set_warning_handler([](std::string_view, std::string_view t) {
    text = t;
    Waiting::told() = true;
  });
  {
    MultithreadIterator it(std::make_shared<Waiting>(), 2, {.shuffle = false, .n_threads = 2});
    it.next();
    it.next();
    while (!Waiting::begun()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  catena::set_warning_handler(before);
  BOOST_TEST(text.starts_with("MultithreadIterator: waits for a thread that is loading example 5"), text);
}

// The error names the worker and the example; the iterator is where it was, and the next call has new workers.
BOOST_AUTO_TEST_CASE(next_ends_within_its_timeout) {
  for (const Way way : {Way::hangs, Way::is_stopped}) BOOST_TEST_CONTEXT("way " << int(way)) {
      const Warnings warnings;
      MultiprocessIterator it(
          std::make_shared<Hanging>(host_examples(12, true), way, 5), 2,
          {.shuffle = false, .n_processes = 2, .n_prefetch = 2, .stop_timeout = 0.2, .timeout = 0.5});
      it.next();
      it.next();
      std::string message;
      const double seconds = seconds_of([&] { message = message_of<catena::RuntimeError>([&] { it.next(); }); });
      BOOST_TEST(message.starts_with("MultiprocessIterator: worker "), message);
      BOOST_TEST(has(message, " has been loading example 5 for more than 0.5 s"), message);
      BOOST_TEST(seconds < 4);
      BOOST_TEST(it.current_position() == 4);
      BOOST_TEST(!has_children());
      // The caller loads the first batch beside new workers.
      BOOST_TEST(it.next()->indices == (std::vector<std::int64_t>{4, 5}), boost::test_tools::per_element());
      BOOST_TEST(has(message_of<catena::RuntimeError>([&] { it.next(); }), " has been loading example "));
      BOOST_TEST(!has_children());
    }
}

// A thread cannot be ended: the error comes all the same, and the other thread goes on.
BOOST_AUTO_TEST_CASE(next_ends_although_a_thread_does_not) {
  struct Waiting : DatasetMixin {
    DatasetPtr of = host_examples(12, true);
    std::shared_ptr<std::atomic<int>> state = std::make_shared<std::atomic<int>>(0);  // 1: waits, 2: may go on
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      int idle = 0;
      if (i == 5 && state->compare_exchange_strong(idle, 1))
        while (*state != 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return of->get_example(i);
    }
  };
  const auto data = std::make_shared<Waiting>();
  MultithreadIterator it(data, 2, {.shuffle = false, .n_threads = 2, .timeout = 0.3});
  it.next();
  it.next();
  const std::string message = message_of<catena::RuntimeError>([&] { it.next(); });
  BOOST_TEST(message.starts_with("MultithreadIterator: worker "), message);
  BOOST_TEST(has(message, " has been loading example 5 for more than 0.3 s"), message);
  for (std::int64_t first = 4; first < 12; first += 2)
    BOOST_TEST(it.next()->indices == (std::vector<std::int64_t>{first, first + 1}), boost::test_tools::per_element());
  *data->state = 2;
}

// A thread that all batches wait for; those that are slow but below the limit are not an error, however many they are.
BOOST_AUTO_TEST_CASE(the_limit_counts_for_one_example) {
  struct Slow : DatasetMixin {
    DatasetPtr of = host_examples(12, true);
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      if (i >= 4) std::this_thread::sleep_for(std::chrono::milliseconds(150));
      return of->get_example(i);
    }
  };
  MultithreadIterator threads(std::make_shared<Slow>(), 4, {.repeat = false, .shuffle = false, .timeout = 0.5});
  MultiprocessIterator processes(std::make_shared<Slow>(), 4,
                                 {.repeat = false, .shuffle = false, .n_processes = 1, .timeout = 0.5});
  for (int k = 0; k < 3; ++k) {
    BOOST_TEST(threads.next().has_value());
    BOOST_TEST(processes.next().has_value());
  }
}

BOOST_AUTO_TEST_CASE(limits_that_are_none) {
  const DatasetPtr data = host_examples(6, true);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { MultiprocessIterator(data, 1, {.stop_timeout = -1}); }),
                 "MultiprocessIterator: stop_timeout is -1"));
  BOOST_CHECK_THROW(MultiprocessIterator(data, 1, {.stop_timeout = std::nan("")}), catena::ValueError);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { MultiprocessIterator(data, 1, {.timeout = 0}); }),
                 "MultiprocessIterator: timeout is 0"));
  BOOST_CHECK_THROW(MultithreadIterator(data, 1, {.timeout = std::nan("")}), catena::ValueError);
  BOOST_CHECK_THROW(MultithreadIterator(data, 1, {.timeout = -1}), catena::ValueError);
  nn::Classifier model{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  SerialIterator a(data, 2);
  BOOST_CHECK_THROW(MultiprocessParallelUpdater({a}, sgd, {.devices = {-1}, .stop_timeout = -0.5}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
