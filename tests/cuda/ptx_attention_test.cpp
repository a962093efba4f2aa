// The kernels of attention as assembled for sm_90: registers, shared memory, spills, and instructions of tensor cores.
// nn/attention_kernels.ptx compares the results of the kernels.
#include <boost/test/unit_test.hpp>

#include <string>

#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/plans/attention.h>
#include <catena/ndarray/cuda/plans/codegen.h>

namespace {

using catena::Dtype;
using nd::cuda::AttentionPass;

struct Made {
  std::string text;
  nd::cuda::KernelResources resources;
};
Made make(AttentionPass pass, Dtype dtype, int depth, bool tensor_cores, const Dtype* mask = nullptr) {
  const nd::cuda::GeneratedKernel kernel =
      nd::cuda::generate(nd::cuda::attention_key(pass, dtype, depth, mask, tensor_cores));
  const nd::cuda::Module made = nd::cuda::compile({kernel.source(), kernel.name, {}, 90, {}});
  BOOST_REQUIRE_EQUAL(made.resources.size(), 1u);
  return {kernel.source(), made.resources[0]};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ptx_attention)

// A multiprocessor has 65536 registers: with 12 warps, 168 per thread, with 16 warps 128. Static shared memory ends at
// 48 KiB.
BOOST_AUTO_TEST_CASE(registers_and_shared_memory) {
  const auto check = [](AttentionPass pass, int depth, bool tensor_cores, int registers, int kibibytes) {
    const Dtype dtype = tensor_cores ? Dtype::float16 : Dtype::float32;
    const nd::cuda::KernelResources r = make(pass, dtype, depth, tensor_cores).resources;
    BOOST_TEST_CONTEXT("pass " << int(pass) << ", " << depth << " columns, tensor cores " << tensor_cores) {
      BOOST_TEST(r.registers <= registers);
      BOOST_TEST(r.shared <= kibibytes * 1024);
      BOOST_TEST(r.spill_stores == 0);
      BOOST_TEST(r.spill_loads == 0);
    }
  };
  check(AttentionPass::forward, 32, true, 128, 12);
  check(AttentionPass::forward, 64, true, 168, 38);
  check(AttentionPass::forward, 96, true, 255, 28);
  check(AttentionPass::forward, 128, true, 255, 36);
  check(AttentionPass::queries, 32, true, 168, 13);
  check(AttentionPass::queries, 64, true, 168, 47);
  check(AttentionPass::queries, 128, true, 255, 37);
  check(AttentionPass::keys_and_values, 32, true, 255, 12);
  check(AttentionPass::keys_and_values, 64, true, 255, 47);
  check(AttentionPass::keys, 128, true, 255, 36);
  check(AttentionPass::values, 128, true, 255, 36);
  check(AttentionPass::forward, 64, false, 128, 48);
  check(AttentionPass::queries, 64, false, 128, 48);
  check(AttentionPass::keys_and_values, 64, false, 128, 48);
}

BOOST_AUTO_TEST_SUITE_END()
