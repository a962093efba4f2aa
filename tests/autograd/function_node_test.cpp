// FunctionNode: application, type checks, retained values, allocations on the usual paths.
#include <catena/autograd/function_node.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/allocations.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;

namespace {

// (a, b) -> (a * b, a + b)
struct Pair final : FunctionNode {
  std::string label() const override { return "Pair"; }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f', in_types[0].shape == in_types[1].shape);
  }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    retain_outputs({1});
    return {x[0] * x[1], x[0] + x[1]};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    last_targets = targets;
    sum = retained_output(1);
    Variables gx;
    for (const int t : targets) {
      Variable g = gy[1];
      if (gy[0]) g = g ? g + gy[0] * retained_input(1 - t) : gy[0] * retained_input(1 - t);
      gx.push_back(g);
    }
    return gx;
  }
  static inline Targets last_targets;
  static inline Variable sum;
};

struct Forgetful final : FunctionNode {
  std::string label() const override { return "Forgetful"; }
  Arrays forward(const Arrays& x) override { return {x[0]}; }
  Variables backward(const Targets&, const Variables&) override { return {retained_input(0)}; }
};

std::vector<float> floats(const Array& a) { return to_vector<float>(a); }
#define CHECK_VALUES(array, ...) \
  BOOST_TEST(floats(array) == (std::vector<float> __VA_ARGS__), boost::test_tools::per_element())

}  // namespace

BOOST_AUTO_TEST_SUITE(function_node)

BOOST_AUTO_TEST_CASE(several_outputs_with_absent_gradients) {
  Variable a(array<float>({2}, {1})), b(array<float>({3}, {1}));
  Variables y = apply_node<Pair>({a, b});
  BOOST_TEST(y.size() == 2u);
  BOOST_CHECK(y[0].creator() == y[1].creator());
  y[0].backward();
  CHECK_VALUES(a.grad(), {3});
  CHECK_VALUES(b.grad(), {2});
  CHECK_VALUES(Pair::sum.data(), {5});
  a.cleargrad();
  y[0].cleargrad();
  Variable only = y[1];
  y = {};  // the first output is gone: absent
  only.backward();
  CHECK_VALUES(a.grad(), {1});
  Pair::sum = {};
}

BOOST_AUTO_TEST_CASE(only_wanted_gradients_are_asked_for) {
  const Variable a(array<float>({2}, {1})), constant(array<float>({3}, {1}), {.requires_grad = false});
  apply_node<Pair>({constant, a})[0].backward();
  BOOST_TEST(Pair::last_targets.size() == 1u);
  BOOST_TEST(Pair::last_targets[0] == 1);
  // An array wrapped for the call is a leaf that cannot be read later.
  Variable y = apply_node<Pair>({a, arrays::ones({1})})[0];
  y.backward();
  BOOST_TEST(Pair::last_targets.size() == 1u);
  BOOST_TEST(Pair::last_targets[0] == 0);
  Pair::sum = {};
}

BOOST_AUTO_TEST_CASE(failed_type_checks_name_the_function) {
  const Variable a(arrays::ones({2})), b(arrays::ones({3}));
  BOOST_CHECK_EXCEPTION(apply_node<Pair>({a, b}), catena::InvalidType, [](const catena::InvalidType& e) {
    return std::string(e.what()) ==
           "Invalid operation is performed in: Pair (Forward)\n\nExpect: in_types[0].shape == "
           "in_types[1].shape\nActual: (2,) != (3,)";
  });
  BOOST_CHECK_THROW(apply_node<Pair>({a}), catena::InvalidType);
  {
    const auto off = type_check_mode(false);
    BOOST_CHECK_NO_THROW(apply_node<Forgetful>({a}));
    BOOST_CHECK_NO_THROW(apply_node<Pair>({a, Variable(arrays::ones({1}))}));
  }
  BOOST_CHECK_THROW(apply_node<Pair>({a, Variable()}), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(what_is_not_retained_cannot_be_read) {
  Variable y = apply_node<Forgetful>({Variable(arrays::ones({}))})[0];
  Variable x(arrays::ones({}));
  Variable z = apply_node<Forgetful>({x})[0];
  BOOST_CHECK_THROW(z.backward(), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(unchain_of_a_function) {
  Variable a(arrays::ones({})), b(arrays::ones({}));
  Variables y = apply_node<Pair>({a, b});
  y[0].creator()->unchain();
  BOOST_CHECK(y[0].creator() == nullptr && y[1].creator() == nullptr);
  y[0].backward();
  BOOST_CHECK(!a.grad());
}

BOOST_AUTO_TEST_CASE(mixed_devices_are_named) {
  if (!test::has_cuda()) return;
  const Array there = to_device(arrays::ones({2}), test::kCuda);
  BOOST_CHECK_EXCEPTION(apply_node<Pair>({Variable(to_device(arrays::ones({2}), test::kCpu)), Variable(there)}),
                        catena::ValueError, [](const catena::ValueError& e) {
                          const std::string text = e.what();
                          return text.find("Pair") != std::string::npos && text.find("cpu:0") != std::string::npos &&
                                 text.find("cuda:0") != std::string::npos;
                        });
}

// Beyond what the array operations themselves allocate, graphs come from free lists.
BOOST_AUTO_TEST_CASE(usual_paths_allocate_nothing) {
  if (!test::free_lists_in_use()) return;
  Variable x(arrays::ones({100}));
  const auto array_work = [&] {
    const Array p = x.data() * x.data();
    const Array s = autograd::sum(p), one = ones_like(s), g = broadcast_to(one, p.shape());
    const Array a = g * x.data(), b = g * x.data(), c = a + b;
  };
  const auto graph_work = [&] {
    x.cleargrad();
    sum(x * x).backward();
  };
  // Records of launches, which a device keeps, grow now and then: the smallest number counts.
  const auto allocations_of = [](const auto& work) {
    long least = std::numeric_limits<long>::max();
    for (int i = 0; i < 5; ++i) {
      const long before = test::allocations;
      work();
      least = std::min<long>(least, test::allocations - before);
    }
    return least;
  };
  for (int i = 0; i < 3; ++i) array_work(), graph_work();
  const long of_arrays = allocations_of(array_work);
  BOOST_TEST(allocations_of(graph_work) <= of_arrays);
}

BOOST_AUTO_TEST_SUITE_END()
