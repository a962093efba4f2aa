// F3, F9: every entry point of the driver, of NVRTC and of the libraries fails once, runs out of memory, breaks the
// device or is not there, in a program of its own. Whatever fails, the program gets an exception of ours, ends in time
// and, after a failure that the context survives, does its work.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/cuda/library_work.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using namespace library_work;

// A library with its work, which calls all of its entry points, and with two of its codes: one that says nothing in
// particular, and the one for a lack of memory (0: it has none).
struct Library {
  std::string name, file;
  std::vector<std::string> entries;
  bool (*work)();
  int internal;
  std::string internal_symbol;
  int no_memory;
  std::string no_memory_symbol;
};
#define ENTRY_NAME(symbol, ...) #symbol,
const std::vector<Library>& libraries() {
  static const std::vector<Library> all = {
      {"CUDA",
       "libcuda.so.1",
       {CATENA_DRIVER_FUNCTIONS(ENTRY_NAME)},
       driver_work,
       1,
       "CUDA_ERROR_INVALID_VALUE",
       2,
       "CUDA_ERROR_OUT_OF_MEMORY"},
      {"NVRTC",
       "libnvrtc.so.13",
       {CATENA_NVRTC_FUNCTIONS(ENTRY_NAME)},
       nvrtc_work,
       11,
       "NVRTC_ERROR_INTERNAL_ERROR",
       1,
       "NVRTC_ERROR_OUT_OF_MEMORY"},
      {"cuBLASLt",
       "libcublasLt.so.13",
       {CATENA_CUBLASLT_FUNCTIONS(ENTRY_NAME)},
       cublaslt_work,
       14,
       "CUBLAS_STATUS_INTERNAL_ERROR",
       cublas_alloc_failed,
       "CUBLAS_STATUS_ALLOC_FAILED"},
      {"cuBLAS",
       "libcublas.so.13",
       {CATENA_CUBLAS_FUNCTIONS(ENTRY_NAME)},
       cublas_work,
       14,
       "CUBLAS_STATUS_INTERNAL_ERROR",
       cublas_alloc_failed,
       "CUBLAS_STATUS_ALLOC_FAILED"},
      {"cuRAND",
       "libcurand.so.10",
       {CATENA_CURAND_FUNCTIONS(ENTRY_NAME)},
       curand_work,
       curand_internal_error,
       "CURAND_STATUS_INTERNAL_ERROR",
       curand_allocation_failed,
       "CURAND_STATUS_ALLOCATION_FAILED"},
      {"cuSOLVER",
       "libcusolver.so.12",
       {CATENA_CUSOLVER_FUNCTIONS(ENTRY_NAME)},
       cusolver_work,
       cusolver_internal_error,
       "CUSOLVER_STATUS_INTERNAL_ERROR",
       cusolver_alloc_failed,
       "CUSOLVER_STATUS_ALLOC_FAILED"},
      {"cuFFT",
       "libcufft.so.12",
       {CATENA_CUFFT_FUNCTIONS(ENTRY_NAME)},
       cufft_work,
       cufft_internal_error,
       "CUFFT_INTERNAL_ERROR",
       cufft_alloc_failed,
       "CUFFT_ALLOC_FAILED"},
      {"cuSPARSE",
       "libcusparse.so.12",
       {CATENA_CUSPARSE_FUNCTIONS(ENTRY_NAME)},
       cusparse_work,
       cusparse_internal_error,
       "CUSPARSE_STATUS_INTERNAL_ERROR",
       cusparse_alloc_failed,
       "CUSPARSE_STATUS_ALLOC_FAILED"},
      {"nvJPEG",
       "libnvjpeg.so.13",
       {CATENA_NVJPEG_FUNCTIONS(ENTRY_NAME)},
       nvjpeg_work,
       nvjpeg_internal_error,
       "NVJPEG_STATUS_INTERNAL_ERROR",
       nvjpeg_allocator_failure,
       "NVJPEG_STATUS_ALLOCATOR_FAILURE"},
      {"cuDNN",
       "libcudnn.so.9",
       {CATENA_CUDNN_UTILITY_FUNCTIONS(ENTRY_NAME)},
       cudnn_work,
       cudnn_internal_error,
       "CUDNN_STATUS_INTERNAL_ERROR",
       cudnn_host_allocation_failed,
       "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"},
      {"NCCL",
       "libnccl.so.2",
       {CATENA_NCCL_FUNCTIONS(ENTRY_NAME) CATENA_NCCL_LATER_FUNCTIONS(ENTRY_NAME)},
       nccl_work,
       nccl_internal_error,
       "ncclInternalError",
       0,
       ""},
  };
  return all;
}
#undef ENTRY_NAME
const Library& find_library(const std::string& name) {
  const auto found =
      std::find_if(libraries().begin(), libraries().end(), [&](const Library& l) { return l.name == name; });
  BOOST_REQUIRE(found != libraries().end());
  return *found;
}

struct Attempt {
  std::string text, type;
};

// The outcome of an attempt, on one line.
Attempt attempt(bool (*work)()) {
  const auto error = [](const char* type, const std::exception& e) {
    std::string text = e.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return Attempt{"error: " + text, type};
  };
  try {
    return {work() ? "right" : "wrong", "none"};
  } catch (const catena::OutOfMemoryError& e) {
    return error("OutOfMemoryError", e);
  } catch (const catena::CudaError& e) {
    return error("CudaError", e);
  } catch (const catena::CompileError& e) {
    return error("CompileError", e);
  } catch (const catena::RuntimeError& e) {
    return error("RuntimeError", e);
  } catch (const catena::Error& e) {
    return error("Error", e);
  } catch (const std::exception& e) {
    return {std::string("foreign exception: ") + e.what(), "foreign"};
  }
}

struct Outcome {
  std::string first, second, first_type;
  std::uint64_t calls = 0;  // of the entry point
  int status = 0;
  double seconds = 0;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
bool is_of_destructor(const std::string& entry) { return contains(entry, "Destroy"); }

// The program of the library in the environment, whose calls of `entry` are counted.
Outcome run_child(const std::string& environment, const std::string& library = "CUDA", const std::string& entry = "") {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  BOOST_REQUIRE(length > 0);
  self[length] = 0;
  // An object that a function refuses to destroy is lost, and after a lasting error nothing is given back: no leaks.
  const bool keeps = is_of_destructor(entry) || contains(environment, ":sticky");
  const std::string leaks = keeps ? "ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\" " : "";
  const std::string command = leaks + "CATENA_FAULT_CHILD=" + library + " CATENA_FAULT_ENTRY=" + entry + " " +
                              environment + " timeout 60 " + self + " --run_test=faults/child 2>&1";
  const auto start = std::chrono::steady_clock::now();
  FILE* out = popen(command.c_str(), "r");
  BOOST_REQUIRE(out != nullptr);
  Outcome outcome;
  char line[16384];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    std::string text(line);
    if (text.ends_with('\n')) text.pop_back();
    const auto read = [&](const std::string& key, std::string& to) {
      if (text.starts_with(key)) to = text.substr(key.size());
    };
    std::string calls;
    read("first ", outcome.first);
    read("second ", outcome.second);
    read("type ", outcome.first_type);
    read("calls ", calls);
    if (!calls.empty()) outcome.calls = std::stoull(calls);
  }
  outcome.status = pclose(out);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

std::string fault(const std::string& plan) { return "CATENA_SOFTWARE_CUDA_FAIL=" + plan; }

bool ours(const std::string& text) { return text == "right" || text.starts_with("error: "); }

bool on_software_device() {
  if (cuda_device::Control::available()) return true;
  std::cout << "skipped: failures are planned on the software CUDA device\n";
  return false;
}

// Not every call can fail like the others: some give a text or a number, a destructor cannot report one, and what
// decides whether there is a library at all is asked once.
bool has_no_status(const std::string& entry) {
  return entry == "nvrtcGetErrorString" || entry == "cublasLtGetVersion" || entry == "cublasLtGetStatusName" ||
         entry == "cublasGetStatusName" || entry == "cusparseGetErrorName" || entry == "ncclGetErrorString" ||
         entry == "ncclGetLastError" || entry == "cudnnGetVersion" || entry == "cudnnGetErrorString" ||
         entry == "cudnnGetLastErrorString";
}
bool is_asked_once(const std::string& entry) {
  return entry == "nvrtcVersion" || entry == "nvrtcGetNumSupportedArchs" || entry == "nvrtcGetSupportedArchs" ||
         entry == "curandGetVersion" || entry == "cufftGetVersion" || entry == "nvjpegGetProperty" ||
         entry == "ncclGetVersion";
}

BOOST_AUTO_TEST_SUITE(faults)

// The program of a child; nothing otherwise.
BOOST_AUTO_TEST_CASE(child) {
  const char* name = std::getenv("CATENA_FAULT_CHILD");
  if (name == nullptr) return;
  bool (*const work)() = find_library(name).work;
  const Attempt first = attempt(work);
  std::cout << "first " << first.text << "\ntype " << first.type << std::endl;
  std::cout << "second " << attempt(work).text << std::endl;
  if (const std::string entry = std::getenv("CATENA_FAULT_ENTRY"); !entry.empty() && cuda_device::Control::available())
    std::cout << "calls " << cuda_device::Control().calls(entry) << std::endl;
}

BOOST_AUTO_TEST_CASE(without_a_fault_the_work_is_done) {
  if (!on_software_device()) return;
  for (const Library& library : libraries()) BOOST_TEST(attempt(library.work).text == "right", library.name);
}

BOOST_AUTO_TEST_CASE(the_driver_fails_once) {
  if (!on_software_device()) return;
  const Library& cuda = find_library("CUDA");
  int failed = 0;
  for (const std::string& entry : cuda.entries)
    for (const int code : {cuda.internal, cuda.no_memory}) {
      const Outcome o = run_child(fault(entry + ":1:" + std::to_string(code)));
      BOOST_TEST_CONTEXT(entry << " gives " << code << ": " << o.first << " / " << o.second) {
        BOOST_TEST(o.status == 0);
        BOOST_TEST(ours(o.first));
        // The call that decides whether there is a device at all is made once.
        BOOST_TEST((o.second == "right" || o.second.starts_with("error: CUDA is unavailable: ")));
      }
      failed += o.first != "right";
    }
  BOOST_TEST(failed > 50);  // the faults did reach the work
}

BOOST_AUTO_TEST_CASE(the_driver_fails_for_good) {
  if (!on_software_device()) return;
  for (const std::string& entry : find_library("CUDA").entries) {
    const Outcome o = run_child(fault(entry + ":1:719:sticky"));
    BOOST_TEST_CONTEXT(entry << ": " << o.first << " / " << o.second) {
      BOOST_TEST(o.status == 0);
      BOOST_TEST(ours(o.first));
      BOOST_TEST(ours(o.second));
      // A call whose failure cannot be reported (a destructor's) leaves the first attempt alone; what comes after it
      // fails.
      BOOST_TEST((o.first == "right" || o.second.starts_with("error: ")));
    }
  }
}

// A failure of one call: the error names the library, the function and the code, and the second attempt is right.
void fails_once(const Library& library, const std::string& entry, int code, const std::string& symbol, int& covered) {
  const Outcome o = run_child(fault(entry + ":1:" + std::to_string(code)), library.name, entry);
  BOOST_TEST_CONTEXT(entry << " gives " << symbol << ": " << o.first << " / " << o.second) {
    BOOST_TEST(o.status == 0);
    BOOST_TEST(o.seconds < 30);
    BOOST_TEST(o.calls > 0u);
    covered += o.calls > 0;
    if (is_of_destructor(entry)) {
      BOOST_TEST(o.first == "right");
      BOOST_TEST(o.second == "right");
      return;
    }
    BOOST_TEST(o.first.starts_with("error: "));
    // Missing memory in a function of nd::linalg is reported with the name of that function instead.
    BOOST_TEST((contains(o.first, library.name) || code == library.no_memory));
    BOOST_TEST(contains(o.first, symbol));
    if (is_asked_once(entry)) {
      BOOST_TEST(o.first_type == "RuntimeError");
      BOOST_TEST(contains(o.first, entry));
      BOOST_TEST(o.second == o.first);
    } else if (entry == "nvrtcCompileProgram" && code != library.no_memory) {
      BOOST_TEST(o.first_type == "CompileError");
      BOOST_TEST(o.second == "right");
    } else {
      const bool memory = code == library.no_memory;
      BOOST_TEST(o.first_type == (memory ? "OutOfMemoryError" : "CudaError"));
      // The size of a text is asked for on the way to it, under one name.
      BOOST_TEST(contains(
          o.first, library.name == "NVRTC" && entry.ends_with("Size") ? entry.substr(0, entry.size() - 4) : entry));
      BOOST_TEST(o.second == "right");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_library_fails_once) {
  if (!on_software_device()) return;
  for (const Library& library : libraries()) {
    if (library.name == "CUDA") continue;
    int covered = 0, without_status = 0;
    for (const std::string& entry : library.entries) {
      if (has_no_status(entry)) {
        ++without_status;
        // It names or describes what another call says.
        const std::string other = library.name == "NVRTC"      ? "nvrtcCreateProgram"
                                  : library.name == "cuBLAS"   ? "cublasSaxpy_v2"
                                  : library.name == "NCCL"     ? "ncclAllReduce"
                                  : library.name == "cuDNN"    ? "cudnnActivationForward"
                                  : library.name == "cuSPARSE" ? "cusparseSpMV"
                                                               : "cublasLtMatmul";
        const Outcome o = run_child(fault(other + ":1:" + std::to_string(library.internal)), library.name, entry);
        BOOST_TEST(o.calls > 0u, entry);
        BOOST_TEST(contains(o.first, library.internal_symbol), o.first);
        covered += o.calls > 0;
        continue;
      }
      int both = 0;
      fails_once(library, entry, library.internal, library.internal_symbol, both);
      const bool has_memory_code = library.no_memory != 0;
      if (has_memory_code) fails_once(library, entry, library.no_memory, library.no_memory_symbol, both);
      covered += both == (has_memory_code ? 2 : 1);
    }
    std::cout << library.name << ": " << covered << " of " << library.entries.size() << " entry points, "
              << without_status << " of them without a status\n";
    BOOST_REQUIRE(covered == int(library.entries.size()));
  }
}

// An error of work that was enqueued before comes to light in a call of a library: it is the device's, and nothing can
// be done after it.
BOOST_AUTO_TEST_CASE(the_device_breaks_in_a_library) {
  if (!on_software_device()) return;
  for (const std::string name : {"cuBLASLt", "cuBLAS", "cuRAND", "cuSOLVER", "cuFFT", "cuSPARSE", "nvJPEG", "cuDNN"}) {
    const Library& library = find_library(name);
    for (const std::string& entry : library.entries) {
      if (has_no_status(entry)) continue;
      const Outcome o = run_child(fault(entry + ":1:719:sticky"), name, entry);
      BOOST_TEST_CONTEXT(entry << ": " << o.first << " / " << o.second) {
        BOOST_TEST(o.status == 0);
        BOOST_TEST(o.calls > 0u);
        BOOST_TEST(o.second.starts_with("error: "));
        if (is_of_destructor(entry)) {
          BOOST_TEST(ours(o.first));
        } else if (is_asked_once(entry)) {
          BOOST_TEST(contains(o.first, entry));
        } else {
          BOOST_TEST(o.first_type == "CudaError");
          BOOST_TEST(o.first.starts_with("error: " + entry + ": "));
          BOOST_TEST(contains(o.first, "CUDA error 719 (CUDA_ERROR_LAUNCH_FAILED)"));
          BOOST_TEST(contains(o.second, "the device cannot be used any more"));
        }
      }
    }
  }
}

// NVRTC knows no device: what fails there for good fails in the same way again.
BOOST_AUTO_TEST_CASE(nvrtc_fails_for_good) {
  if (!on_software_device()) return;
  const Library& nvrtc = find_library("NVRTC");
  for (const std::string& entry : nvrtc.entries) {
    if (has_no_status(entry) || is_of_destructor(entry)) continue;
    const Outcome o = run_child(fault(entry + ":1:" + std::to_string(nvrtc.internal) + ":sticky"), nvrtc.name, entry);
    BOOST_TEST_CONTEXT(entry << ": " << o.first << " / " << o.second) {
      BOOST_TEST(o.status == 0);
      BOOST_TEST(o.first.starts_with("error: "));
      BOOST_TEST(o.second == o.first);
    }
  }
}

// A library that lacks a function, because it is older: a copy of the software device in which the function has another
// name.
BOOST_AUTO_TEST_CASE(entry_points_that_are_not_there) {
  if (!on_software_device()) return;
  const std::filesystem::path originals = std::getenv("CATENA_CUDA_LIBRARIES");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("catena_faults_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ifstream in(originals / "libcuda.so.1", std::ios::binary);
  const std::string original((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  BOOST_REQUIRE(original.size() > 10000u);
  for (const Library& library : libraries()) std::filesystem::create_symlink("device.so", folder / library.file);
  for (const Library& library : libraries()) {
    for (const std::string& entry : library.entries) {
      const std::string name = std::string(1, '\0') + entry + std::string(1, '\0');
      std::string patched = original;
      const std::size_t at = patched.find(name);
      BOOST_REQUIRE(at != std::string::npos);
      for (std::size_t k = at; k != std::string::npos; k = patched.find(name, k)) patched[k + 1] = 'x';
      std::ofstream(folder / "device.so", std::ios::binary) << patched;
      const Outcome o = run_child("CATENA_CUDA_LIBRARIES=" + folder.string(), library.name);
      const std::string expected = "error: " + library.name + " is unavailable: " + (folder / library.file).string() +
                                   " has no function " + entry;
      BOOST_TEST(o.status == 0);
      if (entry == "ncclCommInitRankConfig") {  // an older NCCL does without, but cannot call back
        BOOST_TEST(o.first == "wrong");
        continue;
      }
      BOOST_TEST(o.first_type == "RuntimeError");
      BOOST_TEST(o.first == expected);
      BOOST_TEST(o.second == expected);
    }
  }
  std::filesystem::remove_all(folder);
  const Outcome nothing = run_child("CATENA_CUDA_LIBRARIES=" + folder.string());
  BOOST_TEST(nothing.first == "error: CUDA is unavailable: libcuda.so.1 not found (tried: " + folder.string() +
                                  "/libcuda.so.1, " + folder.string() + "/libcuda.so)");
}

// A kernel that the context does not survive: later calls fail at once, with the first cause, which names what was
// launched.
BOOST_AUTO_TEST_CASE(a_kernel_that_breaks_the_context) {
  if (!on_software_device()) return;
  const Outcome o = run_child(fault("kernel:2:700"));
  BOOST_TEST(o.status == 0);
  BOOST_TEST(o.first.starts_with("error: "));
  BOOST_TEST(contains(o.first, "CUDA_ERROR_ILLEGAL_ADDRESS"), o.first);
  BOOST_TEST(contains(o.first, "last launches on cuda:0"), o.first);
  BOOST_TEST(contains(o.second, "the device cannot be used any more, restart the program; the first cause was: "),
             o.second);
  BOOST_TEST(o.seconds < 30);
}

// With CATENA_LAUNCH_BLOCKING=1 the error stands at the call whose work failed; otherwise a later call finds it, and
// the call is among the launches.
BOOST_AUTO_TEST_CASE(launches_that_are_waited_for_name_the_call) {
  if (!on_software_device()) return;
  struct Case {
    const char *library, *call, *launch;
  };
  for (const Case& c : {Case{"cuBLASLt", "cublasLtMatmul", "cublasLtMatmul(6, 4, 5, 3)"},
                        Case{"cuRAND", "curandGenerateUniform", "curandGenerateUniform(16)"},
                        Case{"cuSOLVER", "cusolverDnSpotrf", "cusolverDnSpotrf(2, 2)"},
                        Case{"cuFFT", "cufftExecR2C", "cufftExecR2C(1, 1, 1, 4)"},
                        Case{"cuSPARSE", "cusparseSpMV", "cusparseSpMV(2, 3, 3)"},
                        Case{"nvJPEG", "nvjpegDecode", "nvjpegDecode(8, 16)"},
                        Case{"cuDNN", "cudnnActivationForward", "cudnnActivationForward(3)"}}) {
    int named = 0;
    for (int nth = 1; nth <= 40 && named == 0; ++nth) {  // kernels that make the arrays come first
      const std::string plan = fault("kernel:" + std::to_string(nth) + ":700");
      const Outcome at_once = run_child(plan + " CATENA_LAUNCH_BLOCKING=1", c.library);
      BOOST_TEST(at_once.first.starts_with("error: "));
      if (!at_once.first.starts_with(std::string("error: ") + c.call + ": ")) continue;
      ++named;
      BOOST_TEST(contains(at_once.first, "newest first: " + std::string(c.launch)), at_once.first);
      const Outcome later = run_child(plan, c.library);
      BOOST_TEST(later.first.starts_with("error: "));
      BOOST_TEST(!later.first.starts_with(std::string("error: ") + c.call + ": "), later.first);
      BOOST_TEST(contains(later.first, c.launch), later.first);
    }
    BOOST_TEST(named == 1, c.call);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
