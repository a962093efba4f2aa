// The MNIST example as users run it: killed in the middle of an epoch and resumed, it ends with the bytes of the
// uninterrupted run.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/log_entry.h>

using namespace test;
namespace fs = std::filesystem;

namespace {

// Beside this program's folder in the build tree; CATENA_TEST_TRAIN_MNIST names another one.
fs::path program() {
  if (const char* path = std::getenv("CATENA_TEST_TRAIN_MNIST")) return path;
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "examples/mnist/train_mnist";
}

// `errors`: the file that the program's standard error goes to.
pid_t start(const std::vector<std::string>& arguments, const std::string& errors = {}) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child != 0) return child;
  std::vector<std::string> words{program().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(126);
  if (!errors.empty() && std::freopen(errors.c_str(), "w", stderr) == nullptr) ::_exit(126);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}
int finish(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Every entry of two snapshots, byte for byte, but for the time and the log, which has times in it.
void check_same_snapshot(const std::string& a, const std::string& b) {
  const catena::NpzReader x("test", a), y("test", b);
  BOOST_TEST(x.keys() == y.keys(), boost::test_tools::per_element());
  for (const std::string& key : x.keys())
    if (key != "_snapshot_elapsed_time" && key != "extensions/LogReport/_log")
      BOOST_TEST((x.read(key).data == y.read(key).data), key);
}
std::string log_without_times(const std::string& path) {
  training::Log log = training::log_from_json(file_content(path), path);
  for (training::LogEntry& e : log) e.erase("elapsed_time");
  return training::to_json(log, 4);
}

bool have_program() {
  if (fs::exists(program())) return true;
  std::printf("skipped: the example %s was not built\n", program().c_str());
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_mnist)

BOOST_AUTO_TEST_CASE(killed_within_an_epoch_and_resumed) {
  if (!have_program()) return;
  const TemporaryFolder folder("train_mnist");
  // The convolutional network has dropout and running means, whose states a snapshot must restore.
  auto arguments = [&](const std::string& out, const char* seed) {
    return std::vector<std::string>{"--synthetic", "--epoch", "4",      "--model", "cnn",   "--batchsize", "70",
                                    "--frequency", "1",       "--seed", seed,      "--out", folder / out};
  };
  // 2000 generated images in batches of 70: epochs end within an iteration, in the 29th, 58th, 86th and 115th.
  const std::string first = "snapshot_iter_29", last = "snapshot_iter_115";
  BOOST_REQUIRE(finish(start(arguments("whole", "5"))) == 0);
  BOOST_REQUIRE(fs::exists(folder / ("whole/" + last)));

  const pid_t child = start(arguments("cut", "5"));
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  while (!fs::exists(folder / ("cut/" + first)) && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, SIGKILL);
  BOOST_TEST(finish(child) == -SIGKILL);  // it was running still
  BOOST_REQUIRE(fs::exists(folder / ("cut/" + first)));
  BOOST_TEST(!fs::exists(folder / ("cut/" + last)));

  std::vector<std::string> resumed = arguments("cut", "77");  // another seed: everything must come from the file
  resumed.insert(resumed.end(), {"--resume", folder / ("cut/" + first)});
  BOOST_REQUIRE(finish(start(resumed)) == 0);
  check_same_snapshot(folder / ("whole/" + last), folder / ("cut/" + last));
  BOOST_TEST(log_without_times(folder / "whole/log") == log_without_times(folder / "cut/log"));
}

// The environment of the children that are started in its lifetime.
struct Environment {
  std::string name;
  Environment(const char* n, const std::string& value) : name(n) { ::setenv(n, value.c_str(), 1); }
  ~Environment() { ::unsetenv(name.c_str()); }
};

BOOST_AUTO_TEST_CASE(without_files_or_gpu) {
  if (!have_program()) return;
  const TemporaryFolder folder("train_mnist_without");
  const std::vector<std::string> few{"--epoch", "1", "--unit", "5", "--batchsize", "1000", "--out", folder / "r"};
  {
    const Environment offline("CATENA_OFFLINE", "1"), root("CATENA_DATASET_ROOT", folder.path.string());
    BOOST_TEST(finish(start(few, folder / "errors")) == 0);
    const std::string said = file_content(folder / "errors");
    BOOST_TEST(has(said, "mnist: there are no images in \"" + folder / "mnist" + '"'), said);
    BOOST_TEST(has(said, "train-images-idx3-ubyte.gz"), said);
    BOOST_TEST(has(said, "Generated digit images take the place of MNIST."), said);
  }
  std::vector<std::string> generated = few;
  generated.push_back("--synthetic");
  {
    // No library of CUDA is found, so whatever would run there is an error.
    const char* const before = std::getenv("CATENA_DEVICE");
    const std::string device = before == nullptr ? "cpu" : before;
    {
      const Environment libraries("CATENA_CUDA_LIBRARIES", folder.path.string()), gpu("CATENA_DEVICE", "cuda");
      std::vector<std::string> on_cpu = generated;
      on_cpu.insert(on_cpu.end(), {"-g", "-1"});
      BOOST_TEST(finish(start(on_cpu, folder / "errors")) == 0);
      on_cpu.back() = "0";
      BOOST_TEST(finish(start(on_cpu, folder / "errors")) == 1);
      BOOST_TEST(has(file_content(folder / "errors"), "CUDA is unavailable"));
    }
    ::setenv("CATENA_DEVICE", device.c_str(), 1);
  }
  const Environment seed("CHAINER_SEED", "12x");
  BOOST_TEST(finish(start(generated, folder / "errors")) == 1);
  BOOST_TEST(has(file_content(folder / "errors"), "CHAINER_SEED: \"12x\" is no unsigned 64-bit integer"));
}

BOOST_AUTO_TEST_CASE(bad_arguments) {
  if (!have_program()) return;
  const TemporaryFolder folder("train_mnist_bad");
  write_file(folder / "broken", "no snapshot");
  // The exit status, and what the message says.
  const auto check_fails = [&](std::vector<std::string> arguments, int status, const std::vector<std::string>& parts) {
    arguments.insert(arguments.begin(), {"--synthetic", "--epoch", "1", "--unit", "5", "--out", folder / "r"});
    BOOST_TEST_CONTEXT(arguments.back()) {
      BOOST_TEST(finish(start(arguments, folder / "errors")) == status);
      const std::string said = file_content(folder / "errors");
      for (const std::string& part : parts) BOOST_TEST(has(said, part), said);
      BOOST_TEST(!fs::exists(folder / "r/log"));  // nothing was trained
    }
  };
  check_fails({"--resume", folder / "broken"}, 1, {"train_mnist: ", folder / "broken"});
  check_fails({"--resume", folder / "nowhere"}, 1, {"train_mnist: ", folder / "nowhere"});
  check_fails({"--model", "unknown"}, 2, {"--model", "unknown"});
  check_fails({"--batchsize", "many"}, 2, {"--batchsize", "many"});
  check_fails({"--epoch"}, 2, {"--epoch needs a value"});
  check_fails({"--surprise"}, 2, {"--surprise"});
}

BOOST_AUTO_TEST_SUITE_END()
