// Check mode of the software CUDA device: kernels whose accesses are watched. A planted bug is reported with the lines
// that make it.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

#include <catena/kernels/device/parameters.h>
#include <catena/tests/support/cuda_device/driver_calls.h>
#include <catena/tests/support/cuda_device/manifest.h>
#include <catena/tests/support/last_words.h>
#include <catena/tests/support/pattern.h>

namespace {

using namespace cuda_device;

// The device asks at its first use.
struct CheckMode {
  CheckMode() { setenv("CATENA_SOFTWARE_CUDA_CHECK", "1", 1); }
};
BOOST_TEST_GLOBAL_FIXTURE(CheckMode);

// A kernel of 64 threads with `statements` between others: cell[i] belongs to thread i, sum to none. The first one is
// line 4.
std::string text_of(const std::string& statements) {
  return "extern \"C\" __global__ void planted(int* out) {\n"
         "  __shared__ int cell[64], sum;\n"
         "  const int i = threadIdx.x, left = i == 0 ? 63 : i - 1, lane = i / 32 * 32 + (i + 1) % 32;\n" +
         statements + "\n}\n";
}
void run(const std::string& statements) {
  const cu_deviceptr out = allocate(64 * sizeof(int));
  const Kernel planted("planted", text_of(statements));
  BOOST_CHECK_EQUAL(planted.launch(2, 64, nullptr, out), cu_success);
  CU(context_synchronize);
  CU(memory_free, out);
}
std::string words_of(const std::string& statements) {
  return test::last_words([&] { run(statements); });
}
void check_report(const std::string& statements, const std::string& expected) {
  const std::string words = words_of(statements);
  BOOST_CHECK_MESSAGE(test::contains_match(words, expected), "expected: " << expected << "\nreported: " << words);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(software_check, OnDevice)

BOOST_AUTO_TEST_CASE(a_missing_barrier) {
  const std::string neighbour = "  cell[i] = i;\n  out[i] = cell[left];";
  check_report(neighbour,
               "shared memory race in kernel planted, block \\(0, 0, 0\\): thread \\(0, 0, 0\\) writes byte \\d+ of "
               "shared memory at "
               "planted.cu:4, thread \\(1, 0, 0\\) reads it at planted.cu:5, no barrier in between");
  // In this order every thread is read from before it writes.
  control.set_order(ThreadOrder::descending);
  check_report(neighbour,
               "shared memory race in kernel planted, block \\(1, 0, 0\\): thread \\(63, 0, 0\\) reads byte \\d+ of "
               "shared memory at "
               "planted.cu:5, thread \\(62, 0, 0\\) writes it at planted.cu:4, no barrier in between");
  control.set_order(ThreadOrder::ascending);
  // Two writers.
  check_report("  sum = i;\n  __syncthreads();\n  out[i] = sum;",
               "thread \\(0, 0, 0\\) writes byte \\d+ of shared memory at planted.cu:4, thread \\(1, 0, 0\\) writes it "
               "at planted.cu:4");
  // A second round that nothing separates from the readers of the first.
  check_report("  for (int k = 0; k < 2; ++k) {\n    cell[i] = i;\n    __syncthreads();\n    out[i] = cell[left];\n  }",
               "thread \\(0, 0, 0\\) writes byte 0 of shared memory at planted.cu:5, thread \\(1, 0, 0\\) reads it at "
               "planted.cu:7");
}

// The barrier of a warp orders its own lanes only, a shuffle orders nothing, and atomic functions only one another.
BOOST_AUTO_TEST_CASE(weaker_than_a_barrier) {
  check_report("  cell[i] = i;\n  __syncwarp();\n  out[i] = cell[left];", "planted.cu:[46], thread");
  check_report("  cell[i] = i;\n  __shfl_sync(~0u, i, 0);\n  out[i] = cell[lane];",
               "at planted.cu:4, thread .* reads it at planted.cu:6");
  check_report("  if (i == 0) sum = 0;\n  atomicAdd(&sum, i);\n  __syncthreads();\n  out[i] = sum;",
               "thread \\(0, 0, 0\\) writes byte \\d+ of shared memory at planted.cu:4, thread \\(1, 0, 0\\) "
               "atomically changes it at planted.cu:5");
}

BOOST_AUTO_TEST_CASE(correct_kernels_are_not_reported) {
  for (ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::descending, ThreadOrder::shuffled}) {
    control.set_order(order);
    run("  cell[i] = i;\n  __syncthreads();\n  out[i] = cell[left];");
    run("  cell[i] = i;\n  __syncwarp();\n  out[i] = cell[lane];");
    run("  if (i == 0) sum = 0;\n  __syncthreads();\n  atomicAdd(&sum, i);\n  __syncthreads();\n  out[i] = sum;");
    run("  int local[8];\n  for (int k = 0; k < 8; ++k) local[k] = k * i;\n  out[i] = local[i % 8];");
    run("  cell[i] = i;\n  for (int s = 32; s > 0; s /= 2) {\n    __syncthreads();\n    if (i < s) cell[i] += cell[i + "
        "s];\n  }\n"
        "  out[i] = i;");
  }
  control.set_order(ThreadOrder::ascending);
}

// Kernels of the product that the build has compiled are compiled again to be watched. Their headers are named.
BOOST_AUTO_TEST_CASE(the_reductions_of_the_product) {
  const nd::cuda::GeneratedKernel kernel =
      generate("sum f->f reduce_block rank=1 reduced=1 dtypes=ff scalars=0 index=32");
  constexpr int n = 5000;
  const cu_deviceptr in = allocate(n * sizeof(float)), out = allocate(sizeof(float));
  const std::vector<float> ones(n, 1.0f);
  CU(copy_to_device, in, ones.data(), n * sizeof(float));
  catena::device::ReduceParameters<1, 2, 1, 1> p{};
  p.outputs = p.splits = p.kept_length[0] = 1;
  p.count = p.part = p.reduced_length[0] = n;
  p.reduced_stride[0][0] = sizeof(float);
  p.data[0] = reinterpret_cast<void*>(in);
  p.data[1] = reinterpret_cast<void*>(out);
  const Kernel right(kernel.name, kernel.source());
  BOOST_CHECK_EQUAL(right.launch(1, 256, nullptr, p), cu_success);
  BOOST_CHECK_EQUAL(download<float>(out, 1)[0], n);

  control.set_check(true);
  p.data[1] = reinterpret_cast<void*>(out + 4);
  const std::string words = test::last_words([&] {
    right.launch(1, 256, nullptr, p);
    STATUS(context_synchronize);
  });
  BOOST_CHECK_MESSAGE(words.find("at kernels/device/lane.h:") != std::string::npos, words);
}

BOOST_AUTO_TEST_SUITE_END()
