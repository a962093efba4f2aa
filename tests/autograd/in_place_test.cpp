// Arrays that are written between forward and backward: an error that names the function and the array, where the rule
// reads the array; nothing where it does not.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include <catena/autograd/debug.h>
#include <catena/autograd/function.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

using namespace autograd;

namespace {

struct RawCube final : Function {
  std::string label() const override { return "RawCube"; }
  Arrays forward(const Arrays& x) override { return {x[0] * x[0] * x[0]}; }
  Arrays backward(const Arrays& x, const Arrays& gy) override { return {x[0] * x[0] * gy[0] * 3}; }
};

// The message of backward after `write` has changed something.
std::string message_after(Variable y, const std::function<void()>& write, const BackwardOptions& options = {}) {
  y.set_grad(ones_like(y.data()));
  write();
  try {
    y.backward(options);
  } catch (const catena::RuntimeError& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(in_place)

BOOST_AUTO_TEST_CASE(what_a_rule_reads_must_not_change) {
  const auto write = [](const Variable& v) { return [v] { fill(v.data(), 7); }; };
  for (const bool second : {false, true}) {
    const BackwardOptions options{.enable_double_backprop = second};
    Variable x(arrays::full({2, 2}, 2), {.name = "x"}), w(arrays::full({2, 2}, 3), {.name = "w"}),
        plain(arrays::full({2, 2}, 3));
    BOOST_TEST(
        message_after(x * w, write(w), options) ==
        "_ * _: input 1 (w), of shape (2, 2), was changed in place between forward and backward, which needs its "
        "values of then; change a copy, or call backward first (within autograd::allow_in_place_changes() it computes "
        "with the new values)");
    BOOST_TEST(has(message_after(x * plain, write(plain), options), "_ * _: input 1, of shape"));
    BOOST_TEST(has(message_after(matmul(x, plain), write(plain), options), "MatMul: input 1 (b), of shape"));
    BOOST_TEST(has(message_after(log(x), write(x), options), "log: input 0 (x), of"));
    BOOST_TEST(has(message_after(maximum(x, w), write(x), options), "Maximum: input 0 (x), of"));
    BOOST_TEST(has(message_after(make_function<RawCube>()({x})[0], write(x), options), "RawCube: input 0 (x), of"));
    const Variable y = exp(x);
    BOOST_TEST(has(message_after(y, write(y), options), "exp: output 0, of shape (2, 2), was changed"));
    BOOST_CHECK(!x.grad());
  }
}

BOOST_AUTO_TEST_CASE(arrays_beside_the_inputs_must_not_change) {
  Variable x(arrays::full({2, 2}, 2));
  const Array c = arrays::full({2, 2}, 3), condition = astype(arrays::ones({2, 2}), Dtype::bool_),
              indices = array<int>({0, 1}, {2});
  BOOST_TEST(has(message_after(x * c, [&] { fill(c, 1); }), "_ * constant array: the constant array, of shape"));
  BOOST_TEST(has(message_after(operator_matmul(x, c), [&] { fill(c, 1); }), "_ @ constant array: input 1 (b)"));
  BOOST_TEST(has(message_after(where(condition, x, x), [&] { fill(condition, 0); }), "Where: input 0 (condition)"));
  BOOST_TEST(has(message_after(get_item(x, {indices}), [&] { fill(indices, 0); }), "GetItem: an index array"));
}

BOOST_AUTO_TEST_CASE(any_way_of_writing_counts) {
  const std::vector<std::function<void(const Array&)>> writes = {
      [](const Array& a) { assign(a, zeros_like(a)); },
      [](const Array& a) { assign(slice(a, 0, 1, 2), 5); },  // through a view
      [](const Array& a) {
        Array same = a;
        same += 1;
      },
      [](const Array& a) { copy_across(a, ones_like(a)); },
  };
  for (std::size_t k = 0; k < writes.size(); ++k) {
    Variable x(arrays::full({2, 2}, 2));
    BOOST_TEST(!message_after(square(x), [&] { writes[k](x.data()); }).empty(), k);
    BOOST_TEST(!x.grad());
  }
}

BOOST_AUTO_TEST_CASE(what_no_rule_reads_may_change) {
  Variable x(arrays::full({2, 2}, 2)), w(arrays::full({2, 2}, 3));
  const auto write_x = [&] { fill(x.data(), 9); };
  BOOST_TEST(message_after(x + w, write_x) == "");
  BOOST_TEST(message_after(exp(x), write_x) == "");  // reads its output
  BOOST_TEST(message_after(sum(x), write_x) == "");
  BOOST_TEST(message_after(x / w, [&] { fill(x.data(), 5); }) == "");
  BOOST_TEST(message_after(x * w, [&] {
               x.set_data(arrays::zeros({2, 2}));
             }) == "");  // another array, not other values
  BOOST_TEST(message_after(x * w, [&] { to_vector<float>(x.data()), x.to_device(x.device()); }) == "");
  // After backward everything may be written; the next forward has the new values.
  Variable y = sum(x * w);
  y.backward();
  fill(w.data(), 2);
  w.cleargrad();
  Variable z = sum(x * w);
  z.backward();
  BOOST_TEST(has(message_after(y, [] {}), "_ * _: input 1"));
}

// Writes of the library itself between forward and backward: gradients.
BOOST_AUTO_TEST_CASE(gradients_are_added_up_in_place) {
  Variable x(arrays::full({3}, 2)), w(arrays::full({3}, 3), {.grad = arrays::full({3}, 1)});
  Variable first = sum(x * w), second = sum(w * x * w);
  first.backward();
  second.backward();
  first.backward();
  BOOST_TEST(to_vector<float>(w.grad()) == (std::vector<float>{17, 17, 17}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(debug_mode_adds_the_stack) {
  const DebugMode debug(true);
  Variable x(arrays::full({2}, 2));
  BOOST_TEST(has(message_after(square(x), [&] { fill(x.data(), 1); }), "Stacktrace of the function is below:"));
}

BOOST_AUTO_TEST_SUITE_END()
