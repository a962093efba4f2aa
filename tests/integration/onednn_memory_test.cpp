// Convolutions and matrix products in processes with few addresses (ulimit -v): the result, or an OutOfMemoryError. The
// process must survive, whatever allocation of oneDNN fails. The first case must run before the library is loaded.
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

#include <catena/catena.h>

using autograd::Variable;

namespace {

constexpr long kMegabyte = 1 << 20;

long addresses_in_use() {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

bool convolves(int size) {
  const nd::Array x = nd::ones({4, 32, size, size}, nd::float32), w = nd::ones({16, 32, 5, 5}, nd::float32);
  const Variable vx((autograd::Array(x))), vw((autograd::Array(w)));
  Variable y = nn::convolution_2d(vx, vw);
  y.set_grad(autograd::ones_like(y.data()));
  y.backward();
  const int windows = (size - 4) * (size - 4);
  return nd::Array(y.data()).max().item<float>() == 32 * 25 && nd::Array(y.data()).min().item<float>() == 32 * 25 &&
         nd::Array(vw.grad()).min().item<float>() == float(4 * windows) &&
         nd::Array(vx.grad()).max().item<float>() == 16 * 25;
}

bool multiplies(int size) {
  const nd::Array p = nd::matmul(nd::ones({size + 180, 300}, nd::float32), nd::ones({300, 250}, nd::float32));
  return p.max().item<float>() == 300 && p.min().item<float>() == 300;
}

// On eight threads. Each further thread maps memory of its own for malloc, 64 MB or more.
bool multiplies_on_threads(int size) {
  catena::set_max_threads(8);
  const nd::Array p = nd::matmul(nd::ones({1000 + 8 * size, 300}, nd::float32), nd::ones({300, 700}, nd::float32));
  return p.max().item<float>() == 300 && p.min().item<float>() == 300;
}

// The ends of a child. Those that libraries choose where they end a program are lower.
constexpr int kRight = 40, kOutOfMemory = 41, kWrong = 42, kOtherError = 43, kNoLimit = 44;

// In a child that may map `more` bytes: the end after three attempts.
int run_with(long more, const std::function<bool(int)>& operation) {
  const rlimit limit{static_cast<rlim_t>(addresses_in_use() + more), RLIM_INFINITY}, no_core{0, 0};
  if (setrlimit(RLIMIT_CORE, &no_core) != 0 || setrlimit(RLIMIT_AS, &limit) != 0) return kNoLimit;
  int result = kNoLimit;
  for (const int size : {16, 17, 18}) try {
      result = operation(size) ? kRight : kWrong;
      if (result == kWrong) break;
    } catch (const catena::OutOfMemoryError&) {
      result = kOutOfMemory;
    } catch (const std::exception& e) {
      std::printf("%s\n", e.what());
      std::fflush(stdout);
      return kOtherError;
    }
  return result;
}

void check_limits(const std::string& name, long most, long step, const std::function<bool(int)>& operation) {
  const nd::DeviceScope cpu(nd::cpu_device);
  for (long more = 0; more <= most; more += step) {
    const pid_t child = fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
      alarm(100);
      _exit(run_with(more * kMegabyte, operation));
    }
    int status = -1;
    BOOST_REQUIRE(waitpid(child, &status, 0) == child);
    const std::string where = name + " with " + std::to_string(more) + " MB";
    BOOST_TEST(WIFEXITED(status), where << " ends by the signal " << WTERMSIG(status));
    if (WIFEXITED(status)) {
      const int end = WEXITSTATUS(status);
      BOOST_TEST((end == kRight || end == kOutOfMemory), where << ": the end " << end);
    }
  }
}

bool has_limits() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("skipped: the sanitizers need all addresses");
  return false;
#else
  return addresses_in_use() > 0;
#endif
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_memory)

BOOST_AUTO_TEST_CASE(few_addresses_before_the_library_is_loaded) {
  if (!has_limits()) return;
  check_limits("convolution", 128, 4, convolves);
  check_limits("matmul", 128, 4, multiplies);
}

BOOST_AUTO_TEST_CASE(few_addresses_after_it_is_loaded) {
  if (!has_limits()) return;
  {
    const nd::DeviceScope cpu(nd::cpu_device);
    BOOST_TEST(convolves(20));
    BOOST_TEST(multiplies(20));
  }
  check_limits("convolution", 60, 3, convolves);
  check_limits("matmul", 60, 3, multiplies);
  check_limits("matmul on eight threads", 600, 4, multiplies_on_threads);
}

BOOST_AUTO_TEST_SUITE_END()
