// RawKernel and RawModule: whole CUDA texts on the current device, launches, arguments, variables, errors.
#include <catena/ndarray/user_kernel/raw_kernel.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <catena/ndarray/user_kernel/memoize.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::RawKernel;
using nd::RawModule;
using test::check_values;
using test::contains;
using test::message_of;
using test::range;

bool on_cpu() { return nd::current_device().kind == nd::Device::Kind::cpu; }

// Every thread writes where it is.
const RawKernel& places() {
  static const RawKernel kernel(R"(
extern "C" __global__ void places(int* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block * 1000 + thread;
})",
                                "places");
  return kernel;
}

const char* const kModule = R"(
// A comment with __global__ void not_a_kernel() {} in it, and a text: 
__constant__ float factors[4];
extern "C" { __device__ int calls; }
namespace detail {
__device__ __forceinline__ float apply(float x, int k) { return x * factors[k]; }
}
template <class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }
extern "C" __global__ void __launch_bounds__(64) weigh(float* x, int k) {
  const char* text = "}"; const char brace = '{';  /* } */
  if (text[0] != brace) x[threadIdx.x] = detail::apply(x[threadIdx.x], k);
  if (threadIdx.x == 0) atomicAdd(&calls, 1);
}
extern "C" { __global__ void fill(long long* x) { x[blockIdx.x] = gridDim.x; } }
__global__ void mangled(float* x) { *x = 1; }
)";
const nd::RawModuleOptions kModuleOptions{.name_expressions = {"scale<float>", "scale<long long>"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(raw_kernel)

BOOST_AUTO_TEST_CASE(saxpy) {
  const RawKernel kernel(R"(
    extern "C" __global__ void saxpy(float a, const float* x, float* y, long long n) {
      const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
      if (k < n) y[k] += a * x[k];
    })",
                         "saxpy");
  const std::int64_t n = 10000;
  const Array x = range(n), y = nd::ones({n}, nd::float32);
  const auto version = y.version();
  kernel((n + 255) / 256, 256, {2.0f, x, y, n});
  BOOST_TEST(y.version() > version);
  std::vector<float> expected;
  for (int k = 0; k < n; ++k) expected.push_back(float(2 * k + 1));
  check_values(y, expected);
  BOOST_TEST(kernel.name() == "saxpy");
  BOOST_TEST(kernel.attributes().max_threads_per_block >= 256);
}

BOOST_AUTO_TEST_CASE(grids_and_blocks_of_one_to_three_lengths) {
  struct Case {
    nd::LaunchDims grid, block;
    int blocks, threads;
  };
  for (const Case& c :
       {Case{3, 5, 3, 5}, Case{{2, 3}, {4, 2}, 6, 8}, Case{{2, 3, 2}, {3, 2, 4}, 12, 24}, Case{1, 1, 1, 1}}) {
    const Array out = nd::full({c.blocks * c.threads}, -1, {.dtype = nd::int32});
    places()(c.grid, c.block, {out});
    std::vector<int> expected;
    for (int b = 0; b < c.blocks; ++b)
      for (int t = 0; t < c.threads; ++t) expected.push_back(b * 1000 + t);
    check_values(out, expected);
  }
  const Array out = nd::empty({1}, nd::int32);
  BOOST_CHECK_THROW(places()({}, 1, {out}), nd::ValueError);
  BOOST_CHECK_THROW(places()({1, 1, 1, 1}, 1, {out}), nd::ValueError);
  BOOST_CHECK_THROW(places()(1, 0, {out}), nd::ValueError);
  BOOST_CHECK_THROW(places()(-1, 1, {out}), nd::ValueError);
  BOOST_TEST(contains(message_of<nd::ValueError>([&] {
                        places()(1, {64, 64}, {out});
                      }),
                      "RawKernel places: a block of 4096 threads"));
}

BOOST_AUTO_TEST_CASE(linear_launch) {
  const RawKernel kernel(R"(
    extern "C" __global__ void count(int* x, int* shape, int n) {
      for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) x[k] += 1;
      shape[0] = gridDim.x;
      shape[1] = blockDim.x;
    })",
                         "count");
  for (const int n : {1, 127, 128, 1000}) {
    const Array x = nd::zeros({n}, nd::int32), shape = nd::zeros({2}, nd::int32);
    kernel.linear_launch(n, {x, shape, n});
    check_values(x, std::vector<int>(std::size_t(n), 1));
    check_values<int>(shape, {n / 128 + 1, std::min(n, 128)});
  }
  const Array x = nd::zeros({100}, nd::int32), shape = nd::zeros({2}, nd::int32);
  kernel.linear_launch(100, {x, shape, 100}, {.block_max_size = 32});
  check_values<int>(shape, {4, 32});
  kernel.linear_launch(0, {x, shape, 100});
  check_values<int>(shape, {4, 32});
  BOOST_CHECK_THROW(kernel.linear_launch(-1, {x, shape, 0}), nd::ValueError);
  BOOST_CHECK_THROW(kernel.linear_launch(1, {x, shape, 0}, {.block_max_size = 0}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(arguments_have_the_bytes_of_their_types) {
  struct Pair {
    float first;
    short second;
  };
  const RawKernel kernel(R"(
    struct Pair { float first; short second; };
    extern "C" __global__ void bytes(double* out, bool a, signed char b, unsigned short c, int d, unsigned long long e,
                                     float f, double g, Pair p, const double* none) {
      out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g;
      out[7] = p.first; out[8] = p.second; out[9] = none == nullptr;
    })",
                         "bytes");
  const Array out = nd::zeros({10}, nd::float64);
  kernel(1, 1,
         {out, true, std::int8_t(-3), std::uint16_t(60000), -70000, ~std::uint64_t(0) >> 12, 0.5f, 0.1, Pair{1.5f, -7},
          (double*)nullptr});
  check_values<double>(out, {1, -3, 60000, -70000, double(~std::uint64_t(0) >> 12), 0.5, 0.1, 1.5, -7, 1});
  // A view is a pointer to its first element.
  const Array line = nd::zeros({12}, nd::int32);
  places()(1, 2, {line(nd::Slice(4, {}, 2))});
  check_values<int>(line, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(arguments_are_checked_against_the_text) {
  const RawKernel kernel(R"(
    struct Pair { float first; short second; };
    template <class T> __global__ void scale(T* x, T by);  // a declaration
    extern "C" __global__ void many(const float* __restrict__ x, long long n, float a, unsigned* const k, Pair p,
                                    unsigned short h[], double, const size_t m, bool flag) { *k = n + m; }
    )",
                         "many");
  struct Pair {
    float first;
    short second;
  };
  const Array x = range(2), k = nd::zeros({1}, nd::int32), h = nd::zeros({1}, nd::float16);
  const std::int64_t n = 40;
  kernel(1, 1, {x, n, 1.5f, k, Pair{}, h, 2.0, std::uint64_t(2), true});
  check_values<int>(k, {42});
  const auto message = [&](std::initializer_list<nd::KernelArgument> args) {
    return message_of<nd::TypeError>([&] { kernel(1, 1, args); });
  };
  const std::uint64_t m = 2;
  BOOST_TEST(message({x, n}) == "RawKernel many: takes 9 arguments, 2 were given");
  BOOST_TEST(
      message({x.astype(nd::float64), n, 1.5f, k, Pair{}, h, 2.0, m, true}) ==
      "RawKernel many: argument 0 is an array of float64, its parameter is \"const float* __restrict__ x\"; pass "
      "an array of it, as by astype(float32)");
  BOOST_TEST(
      message({x, 40, 1.5f, k, Pair{}, h, 2.0, m, true}) ==
      "RawKernel many: argument 1 is a value of int32, its parameter is \"long long n\"; convert it to int64 first");
  BOOST_TEST(
      message({x, n, 1.5, k, Pair{}, h, 2.0, m, true}) ==
      "RawKernel many: argument 2 is a value of float64, its parameter is \"float a\"; convert it to float32 first");
  BOOST_TEST(message({x, n, 1.5f, 7, Pair{}, h, 2.0, m, true}) ==
             "RawKernel many: argument 3 is a value of int32, its parameter is \"unsigned* const k\"; pass an array");
  BOOST_TEST(message({x, n, x, k, Pair{}, h, 2.0, m, true}) ==
             "RawKernel many: argument 2 is an array of float32, its parameter is \"float a\"; pass a number, as by "
             "item<float32>()");
  for (const Array& wrong : {x, nd::zeros({1}, nd::int64), nd::zeros({1}, nd::bool_)})
    BOOST_TEST(
        contains(message({x, n, 1.5f, wrong, Pair{}, h, 2.0, m, true}), "RawKernel many: argument 3 is an array"));
  BOOST_TEST(contains(message({x, n, 1.5f, k, Pair{}, k, 2.0, m, true}), "\"unsigned short h[]\""));
  BOOST_TEST(contains(message({x, n, 1.5f, k, Pair{}, h, 2.0f, m, true}), "its parameter is \"double\""));
  BOOST_TEST(contains(message({x, n, 1.5f, k, Pair{}, h, 2.0, m, 1}), "its parameter is \"bool flag\""));
  // The type of the argument itself decides about a pointer, too.
  BOOST_TEST(contains(message({(double*)nullptr, n, 1.5f, k, Pair{}, h, 2.0, m, true}), "is a pointer to float64"));
  kernel(1, 1, {nullptr, n, 1.5f, k, Pair{}, h, 2.0, m, false});
  BOOST_CHECK_THROW(kernel(1, 1, {Array(), n, 1.5f, k, Pair{}, h, 2.0, m, true}), nd::TypeError);
  // A number without a dtype counts by its width.
  BOOST_TEST(contains(message({x, L'x', 1.5f, k, Pair{}, h, 2.0, m, true}), "argument 1 is an object of 4 bytes"));
}

BOOST_AUTO_TEST_CASE(arguments_of_templates_are_checked) {
  const RawModule module(R"(
    template <class T, int N> __global__ void add(T* x, const T by) { *x += by * N; }
    )",
                         {.name_expressions = {"add<double, 2>", "add<long long, 3>"}});
  const Array x = nd::ones({1}, nd::float64), k = nd::ones({1}, nd::int64);
  module.get_function("add<double, 2>")(1, 1, {x, 0.5});
  module.get_function("add<long long, 3>")(1, 1, {k, std::int64_t(2)});
  check_values<double>(x, {2});
  check_values<int>(k, {7});
  BOOST_TEST(contains(message_of<nd::TypeError>([&] {
                        module.get_function("add<double, 2>")(1, 1, {k, 0.5});
                      }),
                      "RawKernel add<double, 2>: argument 0 is an array of int64, its parameter is \"T* x\""));
  BOOST_TEST(contains(message_of<nd::TypeError>([&] {
                        module.get_function("add<long long, 3>")(1, 1, {k, 2});
                      }),
                      "argument 1 is a value of int32"));
}

// Where the parameters cannot be read, integers travel as 64 bits and floats as double.
BOOST_AUTO_TEST_CASE(arguments_of_unreadable_parameters) {
  const RawKernel kernel(R"(
    #define PARAMETERS double* out, short a, long long b, double c
    extern "C" __global__ void hidden(PARAMETERS) { out[0] = a; out[1] = b; out[2] = c; }
    )",
                         "hidden");
  const Array out = nd::zeros({3}, nd::float64);
  kernel(1, 1, {out, -7, -8, 0.5f});
  check_values<double>(out, {-7, -8, 0.5});
  kernel(1, 1, {out, 9u, std::uint8_t(200), 2.0});
  check_values<double>(out, {9, 200, 2});
  if (on_cpu())
    BOOST_TEST(message_of<nd::TypeError>([&] {
                 kernel(1, 1, {out, 1});
               }) == "RawKernel hidden: takes 4 arguments, 2 were given");
}

BOOST_AUTO_TEST_CASE(modules_with_several_kernels_templates_and_variables) {
  const RawModule module(kModule, kModuleOptions);
  const nd::MemoryPointer factors = module.get_global("factors"), calls = module.get_global("calls");
  BOOST_TEST(factors.size() == 16u);
  BOOST_TEST(calls.size() == 4u);
  const float host[4] = {1, 10, 100, 1000};
  factors.copy_from(host, sizeof host);
  const Array x = range(5);
  const RawKernel weigh = module.get_function("weigh");
  weigh(1, 5, {x, 2});
  check_values<float>(x, {0, 100, 200, 300, 400});
  weigh(1, 5, {x, 0});
  int count = 0;
  calls.copy_to_host(&count, sizeof count);
  BOOST_TEST(count == 2);

  module.get_function("scale<float>")(1, 5, {x, 0.5f});
  check_values<float>(x, {0, 50, 100, 150, 200});
  const Array whole = nd::zeros({3}, nd::int64);
  module.get_function("fill")(3, 1, {whole});
  module.get_function("scale<long long>")(1, 3, {whole, -2LL});
  check_values<int>(whole, {-6, -6, -6});

  for (const char* name : {"nothing", "scale", "mangled", "scale<double>", "not_a_kernel"})
    BOOST_TEST(contains(message_of<nd::KeyError>([&] { module.get_function(name)(1, 1, {x}); }),
                        std::string("there is no kernel named \"") + name + "\""));
  BOOST_TEST(contains(message_of<nd::KeyError>([&] { module.get_global("nothing"); }),
                      "RawModule: there is no variable named \"nothing\""));
  BOOST_TEST(contains(message_of<nd::KeyError>([&] { module.get_global(""); }), "there is no variable named \"\""));
  BOOST_TEST(message_of<nd::ValueError>([] { RawKernel("", ""); }) == "RawKernel: the name of the kernel is empty");
}

BOOST_AUTO_TEST_CASE(kernels_are_found_as_the_compiler_sees_the_text) {
  if (!on_cpu()) {
    std::cout << "skipped: finding kernels in a text (CUDA's own compiler does)\n";
    return;
  }
  const RawModule module(R"code(
#define BRACES { } \
  __global__ void continued() {
#if 0
extern "C" __global__ void removed(int* x) { no such thing }
#endif
extern "C" __global__ void declared(int* x);
extern "C" __device__ int helper(int k) { return 1'000 + k; }
extern "C" void __global__ odd_order(long long* x) { const char* text = R"end( } " )end"; x[0] = helper(text[1]); }
extern "C" __attribute__((noinline)) __global__ __launch_bounds__(32, (1 + 1)) void attributes(long long* x) {
  x[0] = '"' + '\'';
}
)code");
  const Array x = nd::zeros({1}, nd::int64);
  module.get_function("odd_order")(1, 1, {x});
  check_values<int>(x, {1000 + '}'});
  module.get_function("attributes")(1, 1, {x});
  check_values<int>(x, {'"' + '\''});
  for (const char* name : {"removed", "declared", "helper", "continued"})
    BOOST_TEST(contains(message_of<nd::KeyError>([&] { module.get_function(name)(1, 1, {x}); }),
                        std::string("there is no kernel named \"") + name + "\""));
}

BOOST_AUTO_TEST_CASE(variables_keep_their_module) {
  nd::MemoryPointer factors;
  {
    const RawModule module(kModule, kModuleOptions);
    factors = module.get_global("factors");
  }
  nd::clear_memo();
  const float host[4] = {1, 2, 3, 4};
  factors.copy_from(host, sizeof host);
  float back[4] = {};
  factors.copy_to_host(back, sizeof back);
  BOOST_TEST(back[3] == 4);
}

BOOST_AUTO_TEST_CASE(modules_do_not_share_variables) {
  const RawModule one(kModule, kModuleOptions), other(kModule, kModuleOptions);
  BOOST_TEST((one.get_global("calls").ptr() != other.get_global("calls").ptr()));
  const Array x = range(1);
  one.get_function("weigh")(1, 1, {x, 0});
  int count = -1;
  other.get_global("calls").copy_to_host(&count, sizeof count);
  BOOST_TEST(count == 0);
}

BOOST_AUTO_TEST_CASE(a_kernel_template_by_its_expression) {
  const RawKernel kernel("template <class T, int N> __global__ void step(T* x) { x[threadIdx.x] += N; }",
                         "step<double, 3>");
  const Array x = range(2, nd::float64);
  kernel(1, 2, {x});
  check_values<double>(x, {3, 4});
}

BOOST_AUTO_TEST_CASE(options_and_streams) {
  const RawKernel kernel("extern \"C\" __global__ void set(int* x) { *x = VALUE; }", "set", {"-DVALUE=42"});
  const nd::Stream stream;
  const Array x = nd::zeros({1}, nd::int32);
  stream.synchronize();
  nd::synchronize(nd::current_device());
  kernel(1, 1, {x}, {.stream = stream});
  stream.synchronize();
  BOOST_TEST(x.item<int>() == 42);
}

BOOST_AUTO_TEST_CASE(compile_errors) {
  const RawKernel kernel("extern \"C\" __global__ void bad(int* x) {\n  *x = undefined_name;\n}", "bad");
  const std::string message = message_of<nd::CompileError>([&] { kernel.compile(); });
  BOOST_TEST(contains(message, "RawKernel bad: "));
  BOOST_TEST(contains(message, "undefined_name"));
  BOOST_TEST(contains(message, "   2 |   *x = undefined_name;"));
  BOOST_CHECK_THROW(RawModule("int x").compile(), nd::CompileError);
}

BOOST_AUTO_TEST_CASE(barriers_need_a_gpu) {
  const RawKernel kernel(R"(
extern "C" __global__ void reverse(int* x) {
  extern __shared__ int copy[];
  copy[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
})",
                         "reverse");
  const Array x = range(100, nd::int32);
  if (on_cpu()) {
    const std::string message = message_of<nd::CompileError>([&] { kernel(1, 100, {x}, {.shared_mem = 400}); });
    BOOST_TEST(message.starts_with("RawKernel reverse: __syncthreads is not available on the CPU"), message);
    const RawKernel shuffles("extern \"C\" __global__ void up(int* x) { *x = __shfl_up_sync(~0u, *x, 1); }", "up");
    BOOST_TEST(message_of<nd::CompileError>([&] {
                 shuffles.compile();
               }).starts_with("RawKernel up: __shfl_up_sync is not available on the CPU"));
    check_values(x, range(100, nd::int32).to_vector<int>());
    return;
  }
  kernel(1, 100, {x}, {.shared_mem = 400});
  std::vector<int> expected;
  for (int k = 99; k >= 0; --k) expected.push_back(k);
  check_values(x, expected);
  kernel(1, 100, {x}, {.shared_mem = 64 * 1024});  // more than a kernel gets unasked
  check_values(x, range(100, nd::int32).to_vector<int>());
}

BOOST_AUTO_TEST_CASE(compiled_code) {
  BOOST_CHECK_THROW(RawModule::load(""), nd::ValueError);
  BOOST_CHECK_THROW(RawModule::load_file("/no/such/file.cubin"), nd::IOError);
  const auto path = std::filesystem::temp_directory_path() / "raw_kernel_test.cubin";
  std::ofstream(path) << "this is no code";
  const RawModule module = RawModule::load_file(path.string());
  std::filesystem::remove(path);
  if (on_cpu()) {
    BOOST_TEST(
        contains(message_of<nd::NotImplementedError>([&] { module.compile(); }), "compiled code is for CUDA devices"));
    return;
  }
  BOOST_CHECK_THROW(module.compile(), nd::CudaError);
}

BOOST_AUTO_TEST_CASE(arrays_on_one_device) {
  if (on_cpu()) {
    std::cout << "skipped: arrays on two devices (there is one)\n";
    return;
  }
  const Array x = nd::zeros({1}, nd::int32);
  BOOST_CHECK_THROW(places()(1, 1, {x, x.to_device(nd::cpu_device)}), nd::ValueError);
  const Array there = nd::full({4}, 9, {.dtype = nd::int32}).to_device(nd::cpu_device);
  places()(2, 2, {there});
  check_values<int>(there, {0, 1, 1000, 1001});
}

BOOST_AUTO_TEST_CASE(blocks_run_on_many_threads) {
  const RawKernel kernel(R"(
    extern "C" __global__ void sum(const int* x, unsigned long long* total, int n) {
      unsigned long long mine = 0;
      for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) mine += x[k];
      atomicAdd(total, mine);
    })",
                         "sum");
  const int n = 1 << 18;
  const Array x = range(n, nd::int32);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const Array total = nd::zeros({1}, nd::uint64);
      kernel(64, 128, {x, total, n});
      right += total.item<std::int64_t>() == std::int64_t(n) * (n - 1) / 2;
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(right == 4);
}

BOOST_AUTO_TEST_SUITE_END()
