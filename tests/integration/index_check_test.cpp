// nd::check_indices and the functions of the framework: what they do on a device with an index or a label out of range.
#include <catena/catena.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include <catena/tests/support/ndarray_values.h>

namespace {

using autograd::Array;
using autograd::Variable;
using test::message_of;

// The error of f, thrown by f itself on the CPU and by the next wait elsewhere.
std::string index_error_of(const std::function<Variable()>& f) {
  return message_of<catena::IndexError>([&] { autograd::to_vector<double>(f().data()); });
}

BOOST_AUTO_TEST_CASE(functions_of_the_framework_check_when_ndarray_does) {
  const bool on_cpu = nd::current_device().kind == nd::Device::Kind::cpu;
  const Variable x(autograd::array<double>({0, 1, 2, 3, 4, 5}, {2, 3}));
  const Array labels = autograd::array<std::int32_t>({1, 3}, {2}), index = autograd::array<std::int64_t>({-4, 0}, {2});
  struct Case {
    const char* message;
    std::function<Variable()> run;
  };
  const Case cases[] = {
      {"get_item: the index -4 is out of range for axis 1 of length 3",
       [&] {
         return autograd::get_item(x, {autograd::Slice(), index});
       }},
      {"take: the index -4 is out of range for axis 0 of length 2",
       [&] { return Variable(autograd::take(x.data(), index, 0)); }},
      {"softmax_cross_entropy: the label 3 is neither one of 3 classes nor the ignored -1",
       [&] { return nn::softmax_cross_entropy(x, Variable(labels)); }},
      {"accuracy: the label 3 is not one of 3 classes", [&] { return nn::accuracy(x, Variable(labels)); }},
  };
  for (const Case& c : cases) {
    if (!on_cpu) BOOST_CHECK_NO_THROW(autograd::to_vector<double>(c.run().data()));
    {
      const nd::IndexCheckScope checks(true);
      BOOST_TEST(index_error_of(c.run) == c.message);
    }
    if (on_cpu) BOOST_TEST(index_error_of(c.run) == c.message);
  }
  const nd::IndexCheckScope checks(true);
  const Variable loss = nn::softmax_cross_entropy(x, Variable(labels), {.ignore_label = 3});
  BOOST_TEST(std::isfinite(autograd::item(loss.data()).to_double()));
}

// The gradient of get_item scatters with indices that get_item has checked: a wrong one is told once.
BOOST_AUTO_TEST_CASE(a_wrong_index_is_told_once) {
  if (nd::current_device().kind == nd::Device::Kind::cpu) return;
  const nd::IndexCheckScope checks(true);
  Variable x(autograd::arrays::zeros({3}, autograd::Dtype::float32));
  Variable y = autograd::get_item(x, {autograd::array<std::int64_t>({1, 4}, {2})});
  BOOST_CHECK_THROW(autograd::to_vector<double>(y.data()), catena::IndexError);
  y.set_grad(autograd::arrays::ones({2}, autograd::Dtype::float32));
  y.backward();
  BOOST_TEST(autograd::to_vector<double>(x.grad()) == (std::vector<double>{0, 2, 0}), boost::test_tools::per_element());
}

}  // namespace
