// PyTorch's names of modes, of options of backward and grad, and of item.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/autocast.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/no_grad.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/variable.h>

using namespace autograd;
using Doubles = std::vector<double>;

namespace {

Variable numbers() { return Variable(full({2}, 3.0, Dtype::float64)); }
Doubles of(const Variable& v) { return to_vector<double>(v.data()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_names)

BOOST_AUTO_TEST_CASE(scopes_without_a_graph) {
  const Variable x = numbers();
  {
    const auto scope = no_grad();
    BOOST_TEST(((x * x).creator() == nullptr));
    {
      const auto inner = force_backprop_mode();
      BOOST_TEST(((x * x).creator() != nullptr));
      const NoGradGuard guard;
      BOOST_TEST(((x * x).creator() == nullptr));
    }
    BOOST_TEST(((x * x).creator() == nullptr));
  }
  BOOST_TEST(((x * x).creator() != nullptr));
}

BOOST_AUTO_TEST_CASE(autocast_as_an_object) {
  {
    const Autocast guard(Dtype::float16);
    BOOST_TEST((autocast_dtype() == Dtype::float16));
    const Autocast off(Dtype::float16, false);
    BOOST_TEST(!autocast_dtype().has_value());
  }
  BOOST_TEST(!autocast_dtype().has_value());
  const Autocast guard;
  BOOST_TEST((autocast_dtype() == Dtype::bfloat16));
}

BOOST_AUTO_TEST_CASE(item_is_a_double) {
  static_assert(std::is_same_v<decltype(numbers().item()), double>);
  BOOST_TEST(sum(numbers()).item() == 6);
  BOOST_TEST(sum(numbers()).item<int>() == 6);
  BOOST_CHECK_THROW(numbers().item(), catena::ValueError);
}

// Of the sum of x^3: 3 x^2, and 6 x.
BOOST_AUTO_TEST_CASE(options_of_backward) {
  const Variable x = numbers();
  Variable y = sum(x * x * x);
  y.backward({.retain_graph = true, .create_graph = true});
  const Variable gx = x.grad_variable();
  BOOST_TEST(of(gx) == (Doubles{27, 27}), boost::test_tools::per_element());
  x.cleargrad();
  sum(gx).backward();
  BOOST_TEST(of(x.grad_variable()) == (Doubles{18, 18}), boost::test_tools::per_element());
  const Variable z = numbers();
  y = sum(z * z);
  y.backward({.retain_graph = false});
  BOOST_TEST((z.grad_variable().creator() == nullptr));
}

BOOST_AUTO_TEST_CASE(options_of_grad) {
  const Variable x = numbers(), y = x * x * x;
  const Variables first = grad({y}, {x}, {.grad_outputs = {numbers()}, .create_graph = true});
  BOOST_TEST(of(first[0]) == (Doubles{81, 81}), boost::test_tools::per_element());
  BOOST_TEST(of(grad({sum(first[0])}, {x})[0]) == (Doubles{54, 54}), boost::test_tools::per_element());
  BOOST_TEST(((grad({sum(x * x)}, {x}, {.create_graph = false})[0]).creator() == nullptr));
  // Weights by position, as before.
  BOOST_TEST(of(grad({y}, {x}, {numbers()})[0]) == (Doubles{81, 81}), boost::test_tools::per_element());
  BOOST_TEST(of(grad({y}, {x}, Variables{numbers()})[0]) == (Doubles{81, 81}), boost::test_tools::per_element());
  BOOST_TEST(of(grad({sum(y)}, {x}, {})[0]) == (Doubles{27, 27}), boost::test_tools::per_element());
  BOOST_TEST((grad({sum(y)}, {x}, {}, true)[0].creator() != nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
