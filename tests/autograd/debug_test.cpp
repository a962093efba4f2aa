// Debug mode, NaN detection, warnings.
#include <catena/autograd/debug.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/function.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

using namespace autograd;

namespace {

std::string warnings;
void collect(std::string_view category, std::string_view message) {
  warnings += std::string(category) + ": " + std::string(message) + "\n";
}

struct BadGradient : Function {
  Arrays forward(const Arrays& x) override { return {x[0]}; }
  Arrays backward(const Arrays& x, const Arrays&) override { return {full_like(x[0], NAN)}; }
};

bool mentions(const catena::Error& e, std::string_view text) {
  return std::string_view(e.what()).find(text) != std::string_view::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(debug)

BOOST_AUTO_TEST_CASE(the_mode_is_a_scope) {
  const bool before = is_debug();
  {
    const DebugMode on(true);
    BOOST_CHECK(is_debug());
    const DebugMode off(false);
    BOOST_CHECK(!is_debug());
  }
  BOOST_CHECK(is_debug() == before);
}

BOOST_AUTO_TEST_CASE(nan_in_forward_names_the_function) {
  const DebugMode on(true);
  const Variable x(arrays::full({2}, -1));
  BOOST_CHECK_EXCEPTION(log(x), catena::RuntimeError, [](const catena::RuntimeError& e) {
    return mentions(e, "NaN is detected on forward computation of log") &&
           mentions(e, "Stacktrace of the function is below:");
  });
  BOOST_CHECK_EXCEPTION(reshape(Variable(arrays::full({2}, NAN)), {1, 2}), catena::RuntimeError,
                        [](const auto& e) { return mentions(e, "Reshape"); });
  const DebugMode off(false);
  BOOST_CHECK_NO_THROW(log(x));
}

BOOST_AUTO_TEST_CASE(integers_are_not_searched) {
  const DebugMode on(true);
  BOOST_CHECK_NO_THROW(Variable(arrays::ones({2}, Dtype::int32)) + 1);
}

BOOST_AUTO_TEST_CASE(nan_in_backward_names_the_function) {
  const DebugMode on(true);
  Variable x(arrays::ones({}));
  Variable y = make_function<BadGradient>()({x})[0];
  BOOST_CHECK(!y.creator()->stack().empty());
  BOOST_CHECK_EXCEPTION(y.backward(), catena::RuntimeError, [](const auto& e) {
    return mentions(e, "NaN is detected on backward computation of BadGradient");
  });
  // A rule made of library operations is searched as a whole.
  Variable zero(arrays::zeros({}));
  Variable root = sqrt(zero);
  root.set_grad(arrays::zeros({}));
  BOOST_CHECK_EXCEPTION(root.backward(), catena::RuntimeError,
                        [](const auto& e) { return mentions(e, "NaN is detected on backward computation of sqrt"); });
}

BOOST_AUTO_TEST_CASE(stacks_are_recorded_in_debug_mode_only) {
  const Variable x(arrays::ones({2}));
  BOOST_CHECK((x + 1).creator()->stack().empty());
  const DebugMode on(true);
  BOOST_CHECK(!(x + 1).creator()->stack().empty());
}

BOOST_AUTO_TEST_CASE(experimental_features_warn) {
  const WarningHandler previous = set_warning_handler(&collect);
  warnings.clear();
  experimental("max_pooling_nd");
  BOOST_TEST(warnings == "FutureWarning: max_pooling_nd is experimental. The interface can change in the future.\n");
  set_disable_experimental_feature_warning(true);
  experimental("max_pooling_nd");
  set_disable_experimental_feature_warning(false);
  BOOST_TEST(
      warnings.size() ==
      std::string("FutureWarning: max_pooling_nd is experimental. The interface can change in the future.\n").size());
  set_warning_handler(previous);
}

BOOST_AUTO_TEST_CASE(class_names_are_readable) {
  BOOST_TEST(internal::class_name(typeid(BadGradient)) == "BadGradient");
}

BOOST_AUTO_TEST_SUITE_END()
