// The compiler of the software CUDA device, as the product calls it: what becomes of texts, and how their kernels run.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/bfloat16.h>
#include <catena/kernels/device/parameters.h>
#include <catena/ndarray/cuda/plans/codegen.h>
#include <catena/tests/support/cuda_device/driver_calls.h>
#include <catena/tests/support/cuda_device/kernel_text.h>
#include <catena/tests/support/cuda_device/manifest.h>
#include <catena/tests/support/last_words.h>

namespace {

using namespace cuda_device;
using nd::cuda::compile;

constexpr int kArch = 90;

class Loaded {
 public:
  explicit Loaded(const nd::cuda::Module& compiled) { CU(module_load_data, &module_, compiled.code.data()); }
  Loaded(const std::string& text, std::vector<std::string> expressions = {}, std::vector<std::string> options = {})
      : Loaded(compile({text, "text.cu", std::move(expressions), kArch, std::move(options)})) {}
  ~Loaded() { STATUS(module_unload, module_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  cu_function function(const std::string& name) const {
    cu_function f = nullptr;
    CU(module_get_function, &f, module_, name.c_str());
    return f;
  }
  cu_deviceptr global(const std::string& name, std::size_t expected_bytes) const {
    cu_deviceptr address = 0;
    std::size_t bytes = 0;
    CU(module_get_global, &address, &bytes, module_, name.c_str());
    BOOST_CHECK_EQUAL(bytes, expected_bytes);
    return address;
  }
  cu_module get() const { return module_; }

 private:
  cu_module module_ = nullptr;
};

struct Geometry {
  unsigned grid[3], block[3], shared_bytes = 0;
};
template <class... A> void launch(cu_function f, const Geometry& s, A... arguments) {
  void* parameters[] = {&arguments..., nullptr};
  CU(launch_kernel, f, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.shared_bytes, nullptr,
     parameters, nullptr);
}
template <class T> cu_deviceptr upload(const std::vector<T>& values) {
  const cu_deviceptr to = allocate(values.size() * sizeof(T));
  CU(copy_to_device, to, values.data(), values.size() * sizeof(T));
  return to;
}

// The manifest has it, or not.
const char* const kKnown =
    "add ff->f contiguous rank=1 reduced=1 per_thread=1 index_arrays=0 word=0 many=0 dtypes=fff scalars=0 index=32";
const char* const kUnknown =
    "add ff->f contiguous rank=1 reduced=1 per_thread=1 index_arrays=0 word=0 many=0 dtypes=fEi scalars=0 index=32";

// c[i] = a[i] + b[i] by a generated kernel of three contiguous operands.
template <class A, class B, class C>
std::vector<C> run_add(const nd::cuda::GeneratedKernel& kernel, const std::vector<A>& a, const std::vector<B>& b) {
  const Loaded module(compile({kernel.source(), kernel.name, {}, kArch, {}}));
  catena::device::ContiguousParameters<3> p{};
  p.n = static_cast<std::int64_t>(a.size());
  const cu_deviceptr data[] = {upload(a), upload(b), allocate(a.size() * sizeof(C))};
  for (int k = 0; k < 3; ++k) p.data[k] = reinterpret_cast<void*>(data[k]);
  BOOST_REQUIRE_EQUAL(sizeof p, kernel.parameter_bytes);
  launch(module.function(kernel.name), {{2, 1, 1}, {256, 1, 1}}, p);
  return download<C>(data[2], a.size());
}

// Lines that compiling something adds to the file of what the manifest lacks.
template <class F> std::string missing_lines(const F& f) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("catena_missing_" + std::to_string(getpid()))).string();
  std::filesystem::remove(path);
  setenv("CATENA_SOFTWARE_CUDA_MISSING", path.c_str(), 1);
  f();
  unsetenv("CATENA_SOFTWARE_CUDA_MISSING");
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  return text;
}

std::string message_of(const nd::cuda::CompileRequest& request) {
  try {
    compile(request);
  } catch (const catena::CompileError& e) {
    return e.what();
  }
  BOOST_ERROR("compiled: " << request.source);
  return {};
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const ThreadOrder kThreadOrders[] = {ThreadOrder::ascending, ThreadOrder::descending, ThreadOrder::shuffled};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(software_compiler, OnDevice)

// ---- generated kernels --------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(generated_kernels) {
  std::vector<float> a(1003), b(1003);
  std::vector<catena::bfloat16> narrow(1003);
  for (int i = 0; i < 1003; ++i) {
    a[std::size_t(i)] = float(i) / 2;
    b[std::size_t(i)] = float(2 * i);
    narrow[std::size_t(i)] = catena::bfloat16(float(i % 128));
  }
  // Compiled by the build.
  std::vector<float> sums;
  const std::string missing_of_known =
      missing_lines([&] { sums = run_add<float, float, float>(generate(kKnown), a, b); });
  BOOST_CHECK_EQUAL(missing_of_known, "");
  for (int i = 0; i < 1003; ++i) BOOST_REQUIRE_EQUAL(sums[std::size_t(i)], float(i) / 2 + float(2 * i));
  // Compiled now, and named for the manifest whether it was compiled before or not.
  for (int time = 0; time < 2; ++time) {
    std::vector<int> rounded;
    const std::string missing =
        missing_lines([&] { rounded = run_add<float, catena::bfloat16, int>(generate(kUnknown), a, narrow); });
    BOOST_CHECK(missing.starts_with(std::string(kUnknown) + "\n"));
    for (int i = 0; i < 1003; ++i) BOOST_REQUIRE_EQUAL(rounded[std::size_t(i)], int(float(i) / 2 + float(i % 128)));
  }
}

// Of several kernels in a text, those are compiled that the build has not.
BOOST_AUTO_TEST_CASE(batches) {
  const std::vector<nd::cuda::GeneratedKernel> kernels = {generate(kKnown), generate(kUnknown)};
  const std::string missing = missing_lines([&] {
    const Loaded module(compile({nd::cuda::batch_source(kernels), "batch.cu", {}, kArch, {}}));
    for (const nd::cuda::GeneratedKernel& k : kernels) BOOST_CHECK(module.function(k.name) != nullptr);
  });
  BOOST_CHECK(contains(missing, kUnknown));
  BOOST_CHECK(!contains(missing, kKnown));
}

// The lines in front of the texts that the build compiles are enough to generate them again.
BOOST_AUTO_TEST_CASE(the_manifest_describes_its_kernels) {
  std::size_t rows = 0;
  for (const nd::cuda::GeneratedKernel& kernel : manifest()) {
    const std::string source = kernel.source();
    const Segments parts = split(source);
    BOOST_REQUIRE_EQUAL(parts.segments.size(), 1u);
    if (!parts.segments[0].complete()) continue;
    BOOST_CHECK_EQUAL(generate(std::string(parts.segments[0].description)).source(), source);
    ++rows;
  }
  BOOST_CHECK_GT(rows, 1000u);
  BOOST_CHECK_THROW(generate("add ff->f sideways rank=1"), catena::ValueError);
  BOOST_CHECK_THROW(generate("add ff->f contiguous length=1"), catena::ValueError);
  BOOST_CHECK_THROW(generate("add fff->f contiguous rank=1"), catena::ValueError);
}

// ---- texts of users -----------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(several_parameters) {
  struct Pair {
    char small;
    double large;
  };
  const Loaded module(
      "struct Pair { char small; double large; };\n"
      "extern \"C\" __global__ void __launch_bounds__(64)\n"
      "combine(const float* in, const __grid_constant__ Pair pair, int n, double* out, unsigned char flag) {\n"
      "  int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + "
      "threadIdx.x;\n"
      "  if (i < n) out[i] = flag ? in[i] * pair.large + pair.small : -1;\n"
      "}\n"
      "extern \"C\" { __global__ void nothing() {} }\n");
  std::vector<float> in(100);
  for (int i = 0; i < 100; ++i) in[std::size_t(i)] = float(i);
  const cu_deviceptr from = upload(in), to = allocate(100 * sizeof(double));
  launch(module.function("combine"), {{2, 2, 1}, {8, 4, 1}}, from, Pair{7, 0.5}, 100, to,
         static_cast<unsigned char>(1));
  const std::vector<double> out = download<double>(to, 100);
  for (int i = 0; i < 100; ++i) BOOST_CHECK_EQUAL(out[std::size_t(i)], i * 0.5 + 7);
  launch(module.function("nothing"), {{1, 1, 1}, {1, 1, 1}});
  cu_function none = nullptr;
  BOOST_CHECK_EQUAL(STATUS(module_get_function, &none, module.get(), "combined"), cu_error_not_found);
}

BOOST_AUTO_TEST_CASE(name_expressions) {
  const std::vector<std::string> expressions = {"space::fill<float, 3>", "space::fill<int, -1>", "&space::count",
                                                "plain"};
  const nd::cuda::Module compiled =
      compile({"namespace space {\n"
               "__device__ int count = 40;\n"
               "template <class T, int N> __global__ void fill(T* p) { p[threadIdx.x] = N; ++count; }\n"
               "}\n"
               "__global__ void plain(int* p) { *p = 5; }\n",
               "fill.cu",
               expressions,
               kArch,
               {}});
  BOOST_REQUIRE_EQUAL(compiled.names.size(), 4u);
  const Loaded module(compiled);
  const cu_deviceptr floats = allocate(16), ints = allocate(16);
  launch(module.function(compiled.names[0]), {{1, 1, 1}, {4, 1, 1}}, floats);
  launch(module.function(compiled.names[1]), {{1, 1, 1}, {4, 1, 1}}, ints);
  BOOST_CHECK(download<float>(floats, 4) == std::vector<float>(4, 3.0f));
  BOOST_CHECK(download<int>(ints, 4) == std::vector<int>(4, -1));
  BOOST_CHECK_EQUAL(download<int>(module.global(compiled.names[2], 4), 1)[0], 48);
  launch(module.function(compiled.names[3]), {{1, 1, 1}, {1, 1, 1}}, ints);
  BOOST_CHECK_EQUAL(download<int>(ints, 1)[0], 5);
}

// Two modules of one text have variables of their own.
BOOST_AUTO_TEST_CASE(globals) {
  const nd::cuda::Module compiled =
      compile({"__constant__ float table[3] = {1, 2, 4};\n"
               "__device__ int calls;\n"
               "extern \"C\" __global__ void look(float* p) { p[0] = table[2]; atomicAdd(&calls, 1); }\n",
               "globals.cu",
               {},
               kArch,
               {}});
  const Loaded first(compiled), second(compiled);
  const float changed = 8;
  CU(copy_to_device, first.global("table", 12) + 8, &changed, sizeof changed);
  const cu_deviceptr out = allocate(4);
  launch(first.function("look"), {{1, 1, 1}, {32, 1, 1}}, out);
  BOOST_CHECK_EQUAL(download<float>(out, 1)[0], 8);
  launch(second.function("look"), {{1, 1, 1}, {5, 1, 1}}, out);
  BOOST_CHECK_EQUAL(download<float>(out, 1)[0], 4);
  BOOST_CHECK_EQUAL(download<int>(first.global("calls", 4), 1)[0], 32);
  BOOST_CHECK_EQUAL(download<int>(second.global("calls", 4), 1)[0], 5);
  cu_deviceptr none = 0;
  std::size_t bytes = 0;
  BOOST_CHECK_EQUAL(STATUS(module_get_global, &none, &bytes, first.get(), "look"), cu_error_not_found);
}

// Every block finds its shared memory full of values that no kernel wrote, and may use as much as the launch says.
BOOST_AUTO_TEST_CASE(shared_memory) {
  const Loaded module(
      "namespace deep {\n"
      "extern \"C\" __global__ void reverse(const int* in, int* out) {\n"
      "  extern __shared__ __align__(16) int cell[];\n"
      "  __shared__ int before[4];\n"
      "  const int i = threadIdx.x, n = blockDim.x, first = blockIdx.x * n;\n"
      "  out[gridDim.x * n + first + i] = cell[i] == -1 && before[i % 4] == -1;\n"
      "  __syncthreads();\n"
      "  if (i < 4) before[i] = 1;\n"
      "  cell[i] = in[first + i];\n"
      "  __syncthreads();\n"
      "  out[first + i] = cell[n - 1 - i] + before[3];\n"
      "}\n"
      "}\n");
  const cu_function reverse = module.function("reverse");
  int bytes = 0;
  CU(function_get_attribute, &bytes, cu_function_shared_bytes, reverse);
  BOOST_CHECK_EQUAL(bytes, 16);
  constexpr int threads = 1000, blocks = 3, n = threads * blocks;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[std::size_t(i)] = i * i % 1009;
  const cu_deviceptr from = upload(in), to = allocate(2 * n * sizeof(int));
  for (ThreadOrder order : kThreadOrders) {
    control.set_order(order);
    launch(reverse, {{blocks, 1, 1}, {threads, 1, 1}, threads * sizeof(int)}, from, to);
    const std::vector<int> out = download<int>(to, 2 * n);
    for (int i = 0; i < n; ++i) {
      const int b = i / threads;
      BOOST_REQUIRE_EQUAL(out[std::size_t(i)], in[std::size_t(b * threads + threads - 1 - i % threads)] + 1);
      BOOST_REQUIRE_EQUAL(out[std::size_t(n + i)], 1);
    }
  }
  control.set_order(ThreadOrder::ascending);
}

// The lanes of a whole warp and of a part of one.
BOOST_AUTO_TEST_CASE(exchanges_between_lanes) {
  const Loaded module(
      "extern \"C\" __global__ void exchange(int* out) {\n"
      "  const int i = threadIdx.x, n = blockDim.x;\n"
      "  out[i] = __shfl_sync(~0u, i, 3);\n"
      "  out[n + i] = __shfl_up_sync(~0u, i, 2);\n"
      "  out[2 * n + i] = __shfl_down_sync(~0u, i, 2, 8);\n"
      "  out[3 * n + i] = int(__ballot_sync(~0u, i % 3 == 0));\n"
      "  out[4 * n + i] = __any_sync(~0u, i == 33) * 2 + __all_sync(~0u, i < 32);\n"
      "}\n");
  constexpr int n = 40;
  const cu_deviceptr to = allocate(5 * n * sizeof(int));
  for (ThreadOrder order : kThreadOrders) {
    control.set_order(order);
    launch(module.function("exchange"), {{1, 1, 1}, {n, 1, 1}}, to);
    const std::vector<int> out = download<int>(to, 5 * n);
    for (int i = 0; i < n; ++i) {
      const int warp = i / 32 * 32, lane = i % 32, lanes = warp == 0 ? 32 : 8;
      unsigned bits = 0;
      for (int k = 0; k < lanes; ++k) bits |= unsigned((warp + k) % 3 == 0) << k;
      const int expected[] = {warp + 3, lane < 2 ? i : i - 2, lane % 8 < 6 ? i + 2 : i, int(bits), warp == 0 ? 1 : 2};
      for (int k = 0; k < 5; ++k) BOOST_CHECK_EQUAL(out[std::size_t(k * n + i)], expected[k]);
    }
  }
  control.set_order(ThreadOrder::ascending);
}

BOOST_AUTO_TEST_CASE(atomic_functions) {
  const Loaded module(
      "extern \"C\" __global__ void count(float* f, unsigned* u, int* i, unsigned long long* wide) {\n"
      "  const int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  atomicAdd(f, 0.5f);\n"
      "  atomicAdd(wide, 1ull << 33);\n"
      "  atomicMax(&i[0], t);\n"
      "  atomicMin(&i[1], -t);\n"
      "  atomicInc(&u[0], 9);\n"
      "  atomicOr(&u[1], 1u << t % 16);\n"
      "  if (atomicCAS(&u[2], 0u, 1u) == 0) atomicExch(&i[2], 77);\n"
      "}\n");
  const cu_deviceptr f = upload(std::vector<float>{1}), u = upload(std::vector<unsigned>(3)),
                     i = upload(std::vector<int>(3)), wide = upload(std::vector<unsigned long long>{3});
  launch(module.function("count"), {{3, 1, 1}, {50, 1, 1}}, f, u, i, wide);
  BOOST_CHECK_EQUAL(download<float>(f, 1)[0], 76);
  BOOST_CHECK(download<unsigned>(u, 3) == (std::vector<unsigned>{0, 0xffff, 1}));  // 150 steps of a cycle of 10
  BOOST_CHECK(download<int>(i, 3) == (std::vector<int>{149, -149, 77}));
  BOOST_CHECK_EQUAL(download<unsigned long long>(wide, 1)[0], (150ull << 33) + 3);
}

// ---- options and errors -------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(options) {
  const std::string text = "extern \"C\" __global__ void put(int* p) { p[0] = VALUE; p[1] = defined_here; }\n";
  const Loaded module(
      text, {}, {"-DVALUE=6", "--define-macro=defined_here=7", "-D", "UNUSED", "--use_fast_math", "--maxrregcount=32"});
  const cu_deviceptr out = allocate(8);
  launch(module.function("put"), {{1, 1, 1}, {1, 1, 1}}, out);
  BOOST_CHECK(download<int>(out, 2) == (std::vector<int>{6, 7}));

  const auto refused = [&](const char* option, const char* log) {
    const std::string message = message_of({text, "put.cu", {}, kArch, {option}});
    BOOST_CHECK_MESSAGE(contains(message, "put.cu: NVRTC cannot compile it for sm_90 (NVRTC_ERROR_INVALID_OPTION)"),
                        message);
    BOOST_CHECK_MESSAGE(contains(message, log), message);
  };
  refused("--unheard-of=3", "nvrtc: error: unrecognized option --unheard-of=3 found");
  refused("--fmad=maybe", "nvrtc: error: invalid value 'maybe' for option --fmad");
  refused("--gpu-architecture=sm_35", "nvrtc: error: invalid value 'sm_35' for option --gpu-architecture");
  refused("--maxrregcount=many", "nvrtc: error: invalid value 'many' for option --maxrregcount");
  refused("-I", "nvrtc: error: argument expected after option '-I'");
}

BOOST_AUTO_TEST_CASE(errors_show_the_log) {
  const std::string message = message_of(
      {"extern \"C\" __global__ void broken(int* p) {\n  *p = undeclared;\n}\n", "broken.cu", {}, kArch, {}});
  BOOST_CHECK_MESSAGE(contains(message, "broken.cu: NVRTC cannot compile it for sm_90 (NVRTC_ERROR_COMPILATION)"),
                      message);
  BOOST_CHECK_MESSAGE(contains(message, "broken.cu:2:"), message);
  BOOST_CHECK_MESSAGE(contains(message, "undeclared"), message);
  BOOST_CHECK(contains(message_of({"", "none.cu", {"missing<3>"}, kArch, {}}), "missing"));
}

// Of the log and of the source, each longer than that, the message has the beginning.
BOOST_AUTO_TEST_CASE(errors_show_the_beginning_of_a_long_log) {
  std::string source = "extern \"C\" __global__ void broken(int* p) {\n";
  for (int k = 0; k < 4000; ++k) source += "  *p = undeclared_" + std::to_string(k) + ";\n";
  const std::string message = message_of({source + "}\n", "broken.cu", {}, kArch, {}});
  constexpr std::size_t kShown = 65536;
  BOOST_TEST(source.size() > kShown);
  BOOST_TEST(message.size() > 2 * kShown);
  BOOST_TEST(message.size() < 2 * kShown + 1000);
  BOOST_TEST(contains(message, "undeclared_0"));
  BOOST_TEST(contains(message, "   2 |   *p = undeclared_0;"));
  BOOST_TEST(!contains(message, "undeclared_3999"));
  const std::size_t first = message.find("\n... (");
  BOOST_TEST(first != message.npos);
  BOOST_TEST(message.find("\n... (", first + 1) != message.npos);
}

BOOST_AUTO_TEST_CASE(images) {
  cu_module module = nullptr;
  BOOST_CHECK_NE(STATUS(module_load_data, &module, "no image of any compiler"), cu_success);
  const nd::cuda::Module newest = compile({"extern \"C\" __global__ void none() {}", "none.cu", {}, 9990, {}});
  BOOST_CHECK(newest.ptx);
  Loaded(newest).function("none");
}

// ---- planted bugs -------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(a_divergent_barrier_is_reported) {
  const auto run = [&](const std::string& statement, ThreadOrder order) {
    return test::last_words([&] {
      const Loaded module("extern \"C\" __global__ void divergent(int* out) {\n" + statement +
                          "\n  out[threadIdx.x] = 1;\n}\n");
      control.set_order(order);
      launch(module.function("divergent"), {{1, 1, 1}, {64, 1, 1}}, allocate(256));
      STATUS(context_synchronize);
    });
  };
  for (ThreadOrder order : kThreadOrders) {
    const std::string block = run("  if (threadIdx.x < 16) __syncthreads();", order);
    BOOST_CHECK_MESSAGE(
        contains(block,
                 "kernel divergent, block (0, 0, 0): divergent barrier: 16 threads wait at __syncthreads, 0 at a warp "
                 "operation, 48 have ended"),
        block);
    const std::string warp = run("  if (threadIdx.x < 40) __syncwarp();", order);
    BOOST_CHECK_MESSAGE(
        contains(warp,
                 "kernel divergent, block (0, 0, 0): divergent barrier: 0 threads wait at __syncthreads, 8 at a warp "
                 "operation, 56 have ended"),
        warp);
  }
}

BOOST_AUTO_TEST_CASE(a_missing_barrier_shows_as_order_dependence) {
  const auto same_in_all_orders = [&](const std::string& barrier) {
    const Loaded module(
        "extern \"C\" __global__ void neighbour(int* out) {\n"
        "  __shared__ int cell[64];\n"
        "  cell[threadIdx.x] = int(threadIdx.x) + 1;\n" +
        barrier + "  out[threadIdx.x] = cell[threadIdx.x == 0 ? 0 : threadIdx.x - 1];\n}\n");
    const cu_deviceptr out = allocate(64 * sizeof(int));
    std::vector<std::vector<int>> results;
    for (ThreadOrder order : kThreadOrders) {
      control.set_order(order);
      launch(module.function("neighbour"), {{1, 1, 1}, {64, 1, 1}}, out);
      results.push_back(download<int>(out, 64));
    }
    control.set_order(ThreadOrder::ascending);
    return results[0] == results[1] && results[0] == results[2];
  };
  BOOST_CHECK(!same_in_all_orders(""));
  BOOST_CHECK(same_in_all_orders("  __syncthreads();\n"));
}

BOOST_AUTO_TEST_SUITE_END()
