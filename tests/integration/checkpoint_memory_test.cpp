// The bytes that policies of checkpoint() keep between a call and its backward.
#include <catena/catena.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/backend/backend.h>
#include <catena/tests/support/framework_devices.h>

using autograd::Variable;

namespace {

constexpr std::int64_t kRows = 512, kUnits = 256;

std::size_t kept_by(const autograd::CheckpointPolicy& policy) {
  const Variable x(nd::ones({kRows, kUnits}, nd::float32));
  const Variable W(nd::full({kUnits, kUnits}, 0.01, nd::float32)), V(nd::full({kUnits, kUnits}, 0.02, nd::float32));
  const auto f = [&](const Variable& v) {
    return autograd::sum(nn::tanh(nn::linear(nn::sigmoid(nn::tanh(nn::linear(v, W))), V)));
  };
  nd::MemoryPool& pool = nd::memory_pool(nd::Device::Kind::cpu);
  const std::size_t before = pool.used_bytes();
  const Variable y = autograd::checkpoint(f, {.policy = policy})(x);
  return pool.used_bytes() - before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_memory)

BOOST_AUTO_TEST_CASE(bytes_of_the_policies) {
  if (!(autograd::default_backend().default_device() == test::kCpu)) {
    BOOST_TEST_MESSAGE("skipped: it reads the pool of the CPU");
    return;
  }
  namespace policies = autograd::checkpoint_policies;
  const std::size_t matrix = std::size_t(kRows * kUnits) * sizeof(float), little = matrix / 8;
  const std::size_t nothing = kept_by(policies::nothing_saveable), products = kept_by(policies::dots_saveable),
                    everything = kept_by(policies::everything_saveable);
  BOOST_TEST(nothing < little);
  BOOST_TEST(products >= 2 * matrix);  // the results of the two products
  BOOST_TEST(products < 2 * matrix + little);
  BOOST_TEST(everything >= 3 * matrix);  // and the results of activations
  BOOST_TEST(kept_by(policies::save_only_these_labels({"MatMul"})) < little);
}

BOOST_AUTO_TEST_SUITE_END()
