// The memory of attention on the CPU grows with the length of the sequences, not with its square.
#include <catena/catena.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/backend/backend.h>
#include <catena/tests/support/framework_devices.h>

using autograd::Variable;

namespace {

// The bytes beyond those of the inputs: kept for backward, and the most in the forward computation and backward.
struct Bytes {
  std::size_t kept, most;
};
Bytes bytes_of(std::int64_t length, bool causal) {
  constexpr std::int64_t heads = 2, d = 16;
  nd::random::seed(0);
  const auto random = [&] { return nd::random::standard_normal({heads, length, d}, nd::float32); };
  Variable q(random()), k(random()), v(random());
  nd::MemoryPool& pool = nd::memory_pool(nd::Device::Kind::cpu);
  const std::size_t before = pool.used_bytes();
  pool.reset_peaks();
  Variable y = nn::scaled_dot_product_attention(q, k, v, {.causal = causal});
  const std::size_t kept = pool.used_bytes() - before;
  y.set_grad(random());
  y.backward();
  return {kept, pool.statistics().peak_used_bytes - before};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_memory)

BOOST_AUTO_TEST_CASE(it_is_linear_in_the_length) {
  if (!(autograd::default_backend().default_device() == test::kCpu)) {
    BOOST_TEST_MESSAGE("skipped: products of whole score matrices are used on this device");
    return;
  }
  for (const bool causal : {false, true}) {
    static_cast<void>(bytes_of(512, causal));  // the first call makes allocations that stay
    const Bytes once = bytes_of(2048, causal), fourfold = bytes_of(8192, causal);
    BOOST_TEST(fourfold.kept <= 4.5 * double(once.kept));
    BOOST_TEST(fourfold.most <= 4.5 * double(once.most));
    // The result and one number per query; the scores alone would take 2 * 8192 * 8192 * 4 bytes.
    BOOST_TEST(fourfold.kept <= 2 * 8192 * (16 + 2) * sizeof(float));
    BOOST_TEST(fourfold.most < std::size_t(2) * 8192 * 8192 * sizeof(float) / 8);
  }
}

BOOST_AUTO_TEST_SUITE_END()
