// F3, F9: every entry point of the driver fails once, or for good, in a program of its own. Whatever fails, the program gets an exception of
// ours, ends in time and, after a failure that the context survives, does its work.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "ndarray/cuda/graph.h"
#include "ndarray/cuda/library.h"
#include "ndarray/device/memory.h"
#include "ndarray/ndarray.h"
#include "tests/support/cuda_device/control.h"

namespace {

// A little of everything: memory, copies both ways, kernels, streams, events, pinned memory, a graph. Gives a number that is known.
double work() {
  std::vector<float> values(3000, 0.5f);
  const nd::Array x = nd::array(values);
  nd::Array y = nd::exp(x) + 1;
  const nd::Stream stream;
  {
    const nd::StreamScope on(stream);
    y = y * 2;
    stream.record().synchronize();
  }
  nd::synchronize(x.device());
  nd::MemoryPointer pinned = nd::alloc_pinned_memory(64);
  nd::MemoryPointer block = nd::raw_alloc(64);
  block.memset(1, 64);
  block.copy_to_host(pinned.ptr(), 64);
  nd::Array z;
  nd::cuda::Graph graph([&] { z = nd::sum(y); });
  graph.replay();
  nd::memory_pool().free_all_blocks();
  return z.item<double>() + double(pinned.ptr()[63]);
}
const double kExpected = 3000 * 2 * (std::exp(0.5) + 1) + 1;

bool is_right(double v) { return std::abs(v - kExpected) < 1e-4 * kExpected; }

// What the child says: what the first and the second attempt came to.
std::string attempt() {
  try {
    return is_right(work()) ? "right" : "wrong";
  } catch (const catena::Error& e) {
    return std::string("error: ") + e.what();
  } catch (const std::exception& e) {
    return std::string("foreign exception: ") + e.what();
  }
}

struct Outcome {
  std::string first, second;
  int status = 0;
  double seconds = 0;
};

Outcome run_child(const std::string& environment) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  BOOST_REQUIRE(length > 0);
  self[length] = 0;
  const std::string command = "CATENA_FAULT_CHILD=1 " + environment + " timeout 60 " + self + " --run_test=faults/child 2>&1";
  const auto start = std::chrono::steady_clock::now();
  FILE* out = popen(command.c_str(), "r");
  BOOST_REQUIRE(out != nullptr);
  Outcome outcome;
  char line[8192];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    const std::string text(line);
    if (text.rfind("first ", 0) == 0) outcome.first = text.substr(6, text.size() - 7);
    if (text.rfind("second ", 0) == 0) outcome.second = text.substr(7, text.size() - 8);
  }
  outcome.status = pclose(out);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

std::string fault(const std::string& plan) { return "CATENA_SOFTWARE_CUDA_FAIL=" + plan; }

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }
bool ours(const std::string& text) { return text == "right" || starts_with(text, "error: "); }

bool on_software_device() {
  if (cuda_device::Control::available()) return true;
  std::cout << "skipped: failures are planned on the software CUDA device\n";
  return false;
}

#define ENTRY_NAME(symbol, field, ...) #symbol,
const char* const kEntries[] = {CATENA_DRIVER_FUNCTIONS(ENTRY_NAME)};
#undef ENTRY_NAME

BOOST_AUTO_TEST_SUITE(faults)

// The program of a child; nothing otherwise.
BOOST_AUTO_TEST_CASE(child) {
  if (std::getenv("CATENA_FAULT_CHILD") == nullptr) return;
  std::cout << "first " << attempt() << std::endl;
  std::cout << "second " << attempt() << std::endl;
}

BOOST_AUTO_TEST_CASE(without_a_fault_the_work_is_done) {
  if (!on_software_device()) return;
  BOOST_TEST(attempt() == "right");
}

BOOST_AUTO_TEST_CASE(failing_once) {
  if (!on_software_device()) return;
  int failed = 0;
  for (const char* entry : kEntries)
    for (const int code : {1, 2}) {  // an invalid value, out of memory
      const Outcome o = run_child(fault(std::string(entry) + ":1:" + std::to_string(code)));
      BOOST_TEST_CONTEXT(entry << " gives " << code << ": " << o.first << " / " << o.second) {
        BOOST_TEST(o.status == 0);
        BOOST_TEST(ours(o.first));
        // What decides whether there is a device at all is asked once.
        BOOST_TEST((o.second == "right" || starts_with(o.second, "error: CUDA is unavailable: ")));
      }
      failed += o.first != "right";
    }
  BOOST_TEST(failed > 50);  // the faults did reach the work
}

BOOST_AUTO_TEST_CASE(failing_for_good) {
  if (!on_software_device()) return;
  for (const char* entry : kEntries) {
    const Outcome o = run_child(fault(std::string(entry) + ":1:719:sticky"));
    BOOST_TEST_CONTEXT(entry << ": " << o.first << " / " << o.second) {
      BOOST_TEST(o.status == 0);
      BOOST_TEST(ours(o.first));
      BOOST_TEST(ours(o.second));
      // A call whose failure nobody can be told of (a destructor's) leaves the first attempt alone; what comes after it fails.
      BOOST_TEST((o.first == "right" || starts_with(o.second, "error: ")));
    }
  }
}

// A driver that lacks a function, because it is older: a copy of the library in which the function has another name.
BOOST_AUTO_TEST_CASE(entry_points_that_are_not_there) {
  if (!on_software_device()) return;
  const std::filesystem::path libraries = std::getenv("CATENA_CUDA_LIBRARIES");
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("catena_faults_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ifstream in(libraries / "libcuda.so.1", std::ios::binary);
  const std::string library((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  BOOST_REQUIRE(library.size() > 10000u);
  for (const char* entry : kEntries) {
    const std::string name = std::string(1, '\0') + entry + std::string(1, '\0');
    std::string patched = library;
    const std::size_t at = patched.find(name);
    BOOST_REQUIRE(at != std::string::npos);
    for (std::size_t k = at; k != std::string::npos; k = patched.find(name, k)) patched[k + 1] = 'x';
    std::ofstream(folder / "libcuda.so.1", std::ios::binary) << patched;
    const Outcome o = run_child("CATENA_CUDA_LIBRARIES=" + folder.string());
    const std::string expected = "error: CUDA is unavailable: " + (folder / "libcuda.so.1").string() + " has no function " + entry;
    BOOST_TEST(o.status == 0);
    BOOST_TEST(o.first == expected);
    BOOST_TEST(o.second == expected);
  }
  std::filesystem::remove_all(folder);
  const Outcome nothing = run_child("CATENA_CUDA_LIBRARIES=" + folder.string());
  BOOST_TEST(nothing.first == "error: CUDA is unavailable: libcuda.so.1 not found (tried: " + folder.string() + "/libcuda.so.1, " +
                                  folder.string() + "/libcuda.so)");
}

// A kernel that the context does not survive: later calls fail at once, with the first cause, which names what was launched.
BOOST_AUTO_TEST_CASE(a_kernel_that_breaks_the_context) {
  if (!on_software_device()) return;
  const Outcome o = run_child(fault("kernel:2:700"));
  BOOST_TEST(o.status == 0);
  BOOST_TEST(starts_with(o.first, "error: "));
  BOOST_TEST(o.first.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos, o.first);
  BOOST_TEST(o.first.find("last launches on cuda:0") != std::string::npos, o.first);
  BOOST_TEST(o.second.find("the device cannot be used any more, restart the program; the first cause was: ") != std::string::npos, o.second);
  BOOST_TEST(o.seconds < 30);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
