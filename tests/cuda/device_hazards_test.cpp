// Faults beside the work itself: generators of cuRAND on several streams, errors that a device does not
// survive while another one does, peer access that fails once, and children of fork().
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/api/driver.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/curand.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace api = nd::cuda::api;
using nd::Array;
using test::contains;

bool on_software_device() {
  if (cuda_device::Control::available()) return true;
  std::cout << "skipped: only the software CUDA device fails on request\n";
  return false;
}

nd::Device device(int number) { return {nd::Device::Kind::cuda, std::int16_t(number)}; }

// The message of the exception of f, or its name.
std::string outcome(const std::function<double()>& f) {
  try {
    return "gives " + std::to_string(f());
  } catch (const catena::OutOfMemoryError& e) {
    return std::string("OutOfMemoryError: ") + e.what();
  } catch (const catena::RuntimeError& e) {
    return std::string("RuntimeError: ") + e.what();
  } catch (const catena::CudaError& e) {
    return std::string("CudaError: ") + e.what();
  }
}

double sum_on(int number) {
  const nd::DeviceScope on(device(number));
  return (nd::ones({100}, nd::float32) + 1.f).sum().item<double>();
}

BOOST_AUTO_TEST_SUITE(hazards)

// ---- cuRAND ---------------------------------------------------------------------------------------
bool have_curand() {
  try {
    nd::cuda::CurandGenerator();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

// The state of a generator is in memory of the device. Draws follow one another whatever their streams are, without a
// word of the program; only the arrays are for it to order.
BOOST_AUTO_TEST_CASE(draws_on_several_streams_follow_one_another) {
  if (!have_curand()) return;
  const nd::DeviceScope on(device(0));
  using nd::cuda::CurandMethod;
  for (const CurandMethod method : {CurandMethod::xorwow, CurandMethod::mrg32k3a, CurandMethod::philox4_32_10,
                                    CurandMethod::mt19937, CurandMethod::sobol32}) {
    constexpr int kDraws = 9;
    const auto draw = [&](const std::vector<nd::Stream>& streams) {
      nd::cuda::CurandGenerator g(method);
      std::vector<Array> parts;
      for (int k = 0; k < kDraws; ++k) parts.push_back(nd::zeros({1000}, nd::float32));
      nd::synchronize(device(0));
      for (int k = 0; k < kDraws; ++k) {
        const nd::StreamScope scope(streams[std::size_t(k * k + k / 3) % streams.size()]);
        g.uniform(parts[std::size_t(k)]);
      }
      // The last streams first, as the work of one stream may finish before that of another.
      for (auto s = streams.rbegin(); s != streams.rend(); ++s) s->synchronize();
      std::vector<float> all;
      for (const Array& part : parts)
        for (const float v : part.to_vector<float>()) all.push_back(v);
      return all;
    };
    std::vector<nd::Stream> several;
    for (int k = 0; k < 3; ++k) several.push_back(nd::Stream({.non_blocking = true}));
    BOOST_TEST((draw(several) == draw({nd::Stream::null_stream(device(0))})), "method " << int(method));
  }
}

// ---- peer access ----------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(peer_access_that_failed_is_tried_again) {
  if (!on_software_device()) return;
  cuda_device::Control control;
  const Array here = nd::ones({1000}, nd::float32).to_device(device(0));
  const auto copies = [&] { return here.to_device(device(1)).sum().item<double>(); };
  nd::synchronize(device(0));
  control.reset_records();
  control.fail("cuCtxEnablePeerAccess", 1, api::cu_error_out_of_memory);
  BOOST_TEST(outcome(copies).starts_with("OutOfMemoryError: "));
  BOOST_TEST(control.calls("cuCtxEnablePeerAccess") == 1u);
  control.clear_faults();
  // A device with as many peers as it can have copies through the host.
  control.fail("cuCtxEnablePeerAccess", 1, api::cu_error_too_many_peers);
  BOOST_TEST(outcome(copies) == "gives 1000.000000");
  control.clear_faults();
  control.reset_records();
  BOOST_TEST(outcome(copies) == "gives 1000.000000");
  BOOST_TEST(control.calls("cuCtxEnablePeerAccess") >= 1u);
  control.reset_records();
  BOOST_TEST(outcome(copies) == "gives 1000.000000");
  BOOST_TEST(control.calls("cuCtxEnablePeerAccess") == 0u);  // the pair is remembered
}

// ---- fork -----------------------------------------------------------------------------------------
// The output of f in a child of fork(), and the end of that child.
std::string in_child(const std::function<std::string()>& f) {
  int ends[2];
  BOOST_REQUIRE_EQUAL(::pipe(ends), 0);
  std::cout << std::flush;
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    try {
      text = f();
    } catch (const std::exception& e) {
      text = std::string("another exception: ") + e.what();
    }
    const ssize_t written = ::write(ends[1], text.data(), text.size());
    ::_exit(written == ssize_t(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text(8192, '\0');
  const ssize_t n = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  text.resize(n > 0 ? std::size_t(n) : 0);
  return text;
}

BOOST_AUTO_TEST_CASE(a_child_of_fork_is_told_what_to_do) {
  const Array a = nd::ones({100}, nd::float32).to_device(device(0)), b = a * 2;
  static_cast<void>(b.sum().item<double>());
  const std::vector<std::pair<const char*, std::function<double()>>> uses{
      {"work on arrays of the parent", [&] { return (a + b).sum().item<double>(); }},
      {"reading an array", [&] { return a.to_host()(0).item<double>(); }},
      {"work on new arrays", [] { return sum_on(0); }},
      {"another device", [] { return sum_on(1); }},
      {"a stream",
       [] {
         const nd::DeviceScope on(device(0));
         nd::Stream({.non_blocking = true}).synchronize();
         return 0.;
       }},
      {"waiting",
       [] {
         nd::synchronize(device(0));
         return 0.;
       }},
      {"memory", [] { return double(nd::memory_info(device(0)).free_bytes); }},
  };
  for (const auto& [what, f] : uses) {
    const std::string said = in_child([&f = f] { return outcome(f); });
    BOOST_TEST_CONTEXT(what << ": " << said) {
      BOOST_TEST(said.starts_with("RuntimeError: "));
      BOOST_TEST(contains(said, "child of fork()"));
      BOOST_TEST(contains(said, "posix_spawn"));
      BOOST_TEST(contains(said, "exec()"));
      BOOST_TEST(contains(said, "CPU"));
    }
  }
  // The CPU works there, and what the parent had can be dropped.
  BOOST_TEST(in_child([copy = a]() mutable {
               copy = {};
               const nd::DeviceScope on(nd::cpu_device);
               return outcome([] { return (nd::ones({100}) + 1).sum().item<double>(); });
             }) == "gives 200.000000");
  BOOST_TEST((a + b).sum().item<double>() == 300);  // the parent goes on
}

// ---- errors that stay -----------------------------------------------------------------------------
// Run alone, in a process of its own: the device is lost afterwards.
BOOST_AUTO_TEST_CASE(child, *boost::unit_test::disabled()) {
  const char* code = std::getenv("CATENA_HAZARD_CODE");
  BOOST_REQUIRE(code != nullptr);
  cuda_device::Control control;
  static_cast<void>(sum_on(0) + sum_on(1));
  control.fail("kernel", 1, std::atoi(code));
  std::cout << "first " << outcome([] { return sum_on(0); }) << "\n";
  std::cout << "second " << outcome([] { return sum_on(0); }) << "\n";
  control.reset_records();
  std::cout << "third " << outcome([] { return sum_on(0); }) << "\n";
  std::cout << "launches " << control.calls("cuLaunchKernel") << "\n";
  std::cout << "other " << outcome([] { return sum_on(1); }) << "\n" << std::flush;
}

std::string run_child(int code) {
  char self[4096];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  BOOST_REQUIRE(length > 0);
  self[length] = 0;
  const std::string command =
      "CATENA_HAZARD_CODE=" + std::to_string(code) + " timeout 120 '" + self + "' --run_test=hazards/child 2>&1";
  FILE* const out = ::popen(command.c_str(), "r");
  BOOST_REQUIRE(out != nullptr);
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, out)) text.append(buffer, n);
  BOOST_TEST(::pclose(out) == 0);
  return text;
}

std::string line_of(const std::string& text, const std::string& key) {
  const std::size_t at = text.find("\n" + key + " ");
  if (at == text.npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

BOOST_AUTO_TEST_CASE(an_error_that_stays_takes_its_device_alone) {
  if (!on_software_device()) return;
  // Errors that the driver documents as the end of a context or a process, and errors that it cannot explain.
  const std::pair<int, const char*> errors[] = {{214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                                                {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
                                                {226, "CUDA_ERROR_CONTAINED"},
                                                {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
                                                {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
                                                {710, "CUDA_ERROR_ASSERT"},
                                                {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
                                                {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
                                                {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
                                                {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
                                                {718, "CUDA_ERROR_INVALID_PC"},
                                                {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK"},
                                                {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
                                                {911, "CUDA_ERROR_EXTERNAL_DEVICE"},
                                                {999, "CUDA_ERROR_UNKNOWN"}};
  for (const auto& [code, symbol] : errors) {
    const std::string text = "\n" + run_child(code);
    BOOST_TEST_CONTEXT(text) {
      const std::string first = line_of(text, "first"), later = line_of(text, "third");
      BOOST_TEST(first.starts_with("CudaError: "));
      BOOST_TEST(contains(first, symbol));
      BOOST_TEST(contains(first, "last launches on cuda:0"));
      for (const std::string& each : {line_of(text, "second"), later}) {
        BOOST_TEST(contains(each, "cuda:0: the device cannot be used any more"));
        BOOST_TEST(contains(each, "the first cause was: " + std::string(symbol)));
        BOOST_TEST(contains(each, "last launches on cuda:0"));
      }
      BOOST_TEST(line_of(text, "launches") == "0");  // the driver is not asked again
      BOOST_TEST(line_of(text, "other") == "gives 200.000000");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
