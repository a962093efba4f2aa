// Every registered (kernel, loop) pair is compiled by the real compiler, for two architectures. Needs no GPU and no driver.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "kernels/host/error.h"
#include "ndarray/cuda/codegen.h"
#include "ndarray/cuda/compiler.h"
#include "ndarray/cuda/library.h"
#include "tests/support/cuda_device/manifest.h"

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define CATENA_HAS_TOOLKIT_HEADER 1
#endif

namespace {

using namespace nd::cuda;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;

#ifdef CATENA_HAS_TOOLKIT_HEADER
// Our declarations against the toolkit's: same arguments; results and the program type by what they are.
template <class T> struct plain { using type = T; };
template <> struct plain<nvrtcResult> { using type = int; };
template <class F> struct plain_function;
template <class R, class... A> struct plain_function<R(A...)> { using type = typename plain<R>::type(typename plain<A>::type...); };
#define CATENA_COMPARE(symbol, field, ...) \
  static_assert(std::is_same_v<typename plain_function<decltype(::symbol)>::type, std::remove_pointer_t<decltype(Nvrtc::field)>>);
CATENA_NVRTC_FUNCTIONS(CATENA_COMPARE)
#undef CATENA_COMPARE
static_assert(sizeof(nvrtcResult) == sizeof(api::nvrtc_result));
static_assert(NVRTC_SUCCESS == api::nvrtc_success && NVRTC_ERROR_COMPILATION == api::nvrtc_error_compilation);
#endif

// A machine with the toolkit must have the compiler as well: there the test may not be skipped.
std::string toolkit() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* path = std::getenv(variable); path != nullptr && *path != '\0') return std::string(variable) + "=" + path;
  std::error_code ignored;
  if (std::filesystem::exists("/usr/local/cuda", ignored)) return "/usr/local/cuda";
  std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string nvcc = path.substr(at, end - at) + "/nvcc";
    if (std::filesystem::exists(nvcc, ignored)) return nvcc;
    at = end + 1;
  }
  return "";
}

bool have_compiler() {
  try {
    nvrtc();
    return true;
  } catch (const catena::RuntimeError& e) {
    const std::string found = toolkit();
    if (!found.empty()) BOOST_ERROR("a CUDA toolkit is here (" << found << ") but its run-time compiler is not: " << e.what());
    else std::cout << "skipped: no CUDA toolkit on this machine: " << e.what() << "\n";
    return false;
  }
}

struct Job {
  std::string pair;  // "add ff->f"
  GeneratedKernel kernel;
};

KernelKey key_of(const KernelDef& def, const Loop& loop, Form form, int rank, int reduced_rank = 1) {
  KernelKey key;
  key.program = kernel_hash(def, loop);
  key.dtypes = loop.type;
  key.form = form;
  key.rank = std::uint8_t(rank);
  key.reduced_rank = std::uint8_t(reduced_rank);
  return key;
}

void add_jobs(const KernelDef& def, int loop_number, std::vector<Job>& jobs, std::vector<Job>& more) {
  const Loop& loop = def.loop_table[loop_number];
  const std::string pair = std::string(def.name) + " " + catena::signature(def, loop);
  const bool sample = loop.type[0] == catena::Dtype::float32;  // the other forms do not depend on the dtype
  const auto simple = [&](Form form, int rank, int reduced_rank = 1) {
    return Job{pair, generate(def, loop, key_of(def, loop, form, rank, reduced_rank))};
  };
  const catena::EagerProgram program(def, loop_number);
  const auto looping = [&](Form form, int rank) { return Job{pair, generate(program, key_of(def, loop, form, rank))}; };
  switch (def.kind) {
    case KernelKind::elementwise:
      jobs.push_back(looping(Form::contiguous, 1));
      if (sample) {
        more.push_back(looping(Form::strided, 2));
        more.push_back(looping(Form::strided, 0));
      }
      break;
    case KernelKind::indexed:
      jobs.push_back(looping(Form::indexed, 8));
      if (sample) more.push_back(looping(Form::indexed, 0));
      break;
    case KernelKind::reduction:
      jobs.push_back(simple(Form::reduce_block, 1));
      if (sample) {
        more.push_back(simple(Form::reduce_warp, 2, 2));
        more.push_back(simple(Form::reduce_columns, 1));
        more.push_back(simple(Form::reduce_second, 0, 0));
      }
      break;
    case KernelKind::row:
      jobs.push_back(simple(Form::row_block, 1));
      if (sample) {
        more.push_back(simple(Form::row_warp, 2, 2));
        more.push_back(simple(Form::row_block, 0, 0));
      }
      break;
    case KernelKind::multi_tensor: jobs.push_back(simple(Form::multi_tensor, 1)); break;
  }
}

struct Totals {
  std::mutex mutex;
  int kernels = 0, spilling = 0, max_registers = 0, failures = 0;
  std::size_t bytes = 0;
  std::string problems;
};

void compile_alone(const Job& job, int arch, Totals& totals) {
  try {
    compile({job.kernel.source(), job.pair, {}, arch, {}});
    const std::lock_guard lock(totals.mutex);
    ++totals.kernels;
  } catch (const catena::Error& e) {
    const std::lock_guard lock(totals.mutex);
    if (++totals.failures <= 20) totals.problems += "\n" + job.pair + ", " + job.kernel.name + ":\n" + std::string(e.what()).substr(0, 3000);
  }
}

void compile_batch(std::span<const Job> jobs, int arch, Totals& totals) {
  std::vector<GeneratedKernel> kernels;
  for (const Job& job : jobs) kernels.push_back(job.kernel);
  try {
    const Module module = compile({batch_source(kernels), jobs.front().pair + " and others", {}, arch, {}});
    const std::lock_guard lock(totals.mutex);
    if (module.ptx) totals.problems += "\n" + jobs.front().pair + ": compiled to PTX only";
    for (const Job& job : jobs) {
      const auto found = std::find_if(module.resources.begin(), module.resources.end(),
                                      [&](const KernelResources& r) { return r.name == job.kernel.name; });
      if (found == module.resources.end()) {
        ++totals.failures;
        totals.problems += "\n" + job.pair + ": the assembler does not report " + job.kernel.name;
        continue;
      }
      ++totals.kernels;
      totals.max_registers = std::max(totals.max_registers, found->registers);
      if (found->spill_stores > 0) {
        ++totals.spilling;
        std::cout << "  spills " << found->spill_stores << " bytes: " << job.pair << " for sm_" << arch << "\n";
      }
    }
    totals.bytes += module.code.size();
  } catch (const catena::Error&) {
    for (const Job& job : jobs) compile_alone(job, arch, totals);  // finds the guilty one
  }
}

// All jobs for one architecture, in batches, on two threads.
void compile_all(const std::vector<Job>& jobs, int arch, const char* what) {
  constexpr std::size_t batch = 32;
  Totals totals;
  std::atomic<std::size_t> next{0};
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&] {
    for (std::size_t first; (first = next.fetch_add(batch)) < jobs.size();)
      compile_batch(std::span(jobs).subspan(first, std::min(batch, jobs.size() - first)), arch, totals);
  };
  std::thread other(work);
  work();
  other.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << what << ": " << totals.kernels << " of " << jobs.size() << " kernels compiled for sm_" << arch << " in " << seconds << " s, "
            << totals.bytes / 1024 << " KB, at most " << totals.max_registers << " registers, " << totals.spilling << " spill\n";
  BOOST_CHECK_MESSAGE(totals.problems.empty(), totals.failures << " kernels failed for sm_" << arch << totals.problems);
  BOOST_CHECK_EQUAL(totals.kernels, jobs.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_registered_pair_compiles) {
  if (!have_compiler()) return;
  std::vector<Job> jobs, more;
  std::size_t registered = 0;
  for (std::span<const KernelDef> family : catena::kernel_families()) {
    for (const KernelDef& def : family) {
      registered += def.num_loops;
      for (int loop = 0; loop < def.num_loops; ++loop) add_jobs(def, loop, jobs, more);
    }
  }
  std::cout << "registered (kernel, loop) pairs: " << registered << "\n";
  BOOST_CHECK_GT(registered, 0u);
  BOOST_CHECK_EQUAL(jobs.size(), registered);
  for (int arch : {80, 90}) compile_all(jobs, arch, "registered pairs");
  compile_all(more, 90, "other forms, float32");
}

// What tests execute on the CPU is what the GPU's compiler accepts: fused programs, casts, scalars and 64-bit positions among it.
BOOST_AUTO_TEST_CASE(the_executed_kernels_compile) {
  if (!have_compiler()) return;
  std::vector<Job> jobs;
  for (const GeneratedKernel& kernel : cuda_device::manifest()) jobs.push_back({"manifest", kernel});
  compile_all(jobs, 90, "kernels that tests execute on the CPU");
}

BOOST_AUTO_TEST_CASE(errors_show_the_source_and_the_log) {
  if (!have_compiler()) return;
  try {
    compile({"extern \"C\" __global__ void broken(int* p) {\n  *p = undeclared;\n}\n", "broken.cu", {}, 90, {}});
    BOOST_ERROR("compiled");
  } catch (const catena::CompileError& e) {
    const std::string what = e.what();
    BOOST_CHECK_NE(what.find("broken.cu: NVRTC cannot compile it for sm_90"), std::string::npos);
    BOOST_CHECK_NE(what.find("undeclared"), std::string::npos);
    BOOST_CHECK_NE(what.find("   2 |   *p = undeclared;"), std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_newer_architecture_gets_ptx) {
  if (!have_compiler()) return;
  const Module module = compile({"template <int N> __global__ void fill(int* p) { *p = N; }", "fill.cu", {"fill<3>"}, 9990, {}});
  BOOST_CHECK(module.ptx);
  BOOST_CHECK_NE(module.code.find(".target sm_" + std::to_string(nvrtc().architectures.back())), std::string::npos);
  BOOST_REQUIRE_EQUAL(module.names.size(), 1u);
  BOOST_CHECK_NE(module.code.find(module.names[0]), std::string::npos);
  BOOST_CHECK_THROW(compile({"", "empty.cu", {}, 10, {}}), catena::RuntimeError);
}

// The bodies see the same numbers as on the host: no fused multiply-add, 16-byte accesses.
BOOST_AUTO_TEST_CASE(code_properties) {
  if (!have_compiler()) return;
  const KernelDef& add = catena::find_kernel("add");
  int number = 0;
  while (catena::signature(add, add.loop_table[number]) != "ff->f") ++number;
  const catena::EagerProgram program(add, number);
  const GeneratedKernel kernel = generate(program, key_of(add, add.loop_table[number], Form::contiguous, 1));
  const Module module = compile({kernel.source(), kernel.name, {}, 9990, {}});
  BOOST_CHECK_NE(module.code.find("ld.global.v4"), std::string::npos);
  BOOST_CHECK_NE(module.code.find("st.global.v4"), std::string::npos);
  const Module contracted = compile({"extern \"C\" __global__ void f(float* p) { p[0] = p[0] * p[1] + p[2]; }", "f.cu", {}, 9990, {}});
  BOOST_CHECK_EQUAL(contracted.code.find("fma"), std::string::npos);
}
