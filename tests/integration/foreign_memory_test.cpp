// Gradients in memory that is not ours: backward reads it and never writes there.
#include <boost/test/unit_test.hpp>
#include <vector>

#include <catena/catena.h>

using autograd::Array;
using autograd::Arrays;
using autograd::Variable;

namespace {

// x -> x, whose gradient is the caller's buffer. Nobody else holds an array over it.
struct FromBuffer final : autograd::Function {
  std::vector<float>* buffer;
  explicit FromBuffer(std::vector<float>* b) : buffer(b) {}
  Arrays forward(const Arrays& x) override { return {autograd::copy(x[0])}; }
  Arrays backward(const Arrays&, const Arrays&) override {
    return {nd::wrap(buffer->data(), {std::int64_t(buffer->size())})};
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(foreign_memory)

BOOST_AUTO_TEST_CASE(a_gradient_behind_wrap_is_not_overwritten) {
  const nd::DeviceScope host(nd::cpu_device);
  std::vector<float> buffer(1000, 3.0f);
  const std::vector<float> before = buffer;
  // By a fused rule that may write its result over the gradient that it reads.
  Variable x(nd::full({1000}, 0.5f, {.dtype = nd::float32}));
  Variable y = autograd::sum(autograd::make_function<FromBuffer>(&buffer)({autograd::tanh(x)})[0]);
  y.backward();
  BOOST_TEST((buffer == before));
  // By a second contribution to the same variable.
  Variable h = x * 2;
  Variable both =
      autograd::sum(autograd::make_function<FromBuffer>(&buffer)({h})[0] + autograd::exp(autograd::exp(h)) * h);
  x.cleargrad();
  both.backward();
  BOOST_TEST((buffer == before));
  // Into the gradient of a leaf, over several runs.
  Variable leaf(nd::ones({1000}, {.dtype = nd::float32}));
  for (int run = 1; run <= 3; ++run) {
    Variable z = autograd::sum(autograd::make_function<FromBuffer>(&buffer)({leaf})[0]);
    z.backward();
    BOOST_TEST(nd::Array(leaf.grad())(0).item<float>() == 3.0f * float(run));
    BOOST_TEST((buffer == before));
  }
}

BOOST_AUTO_TEST_CASE(a_gradient_that_was_set_is_added_to_where_it_lies) {
  const nd::DeviceScope host(nd::cpu_device);
  std::vector<float> buffer(4, 1.0f);
  Variable x(nd::ones({4}, {.dtype = nd::float32}));
  x.set_grad(nd::wrap(buffer.data(), {4}));
  autograd::sum(x * 2).backward();
  BOOST_TEST(buffer == std::vector<float>(4, 3.0f), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
