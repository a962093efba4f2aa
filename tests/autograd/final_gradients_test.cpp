// Leaves are reported when their gradients are final: the order, and what the gradients are then.
#include <catena/autograd/final_gradients.h>

#include <string>
#include <vector>

#include <catena/autograd/forget.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/framework_golden.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;

namespace {

using Strings = std::vector<std::string>;

Variable weight(const char* name, double value) {
  Variable v(arrays::full({2}, value, Dtype::float64), {.name = name});
  internal::Access::node(v)->has_optimizer = true;
  return v;
}

// Runs backward; returns the names of the reported leaves with the first element of their gradients.
Strings reported(const Variables& roots, const BackwardOptions& options = {}) {
  Strings all;
  const internal::OnFinal note = [&](internal::VariableNode& n) {
    const Variable g = n.grad_handle();
    all.push_back(catena::concat(*n.name, " ", g ? item(slice(g.data(), 0, 0, 1)).to_double() : -1.0));
  };
  internal::run_backward(roots, options, nullptr, &note);
  return all;
}

// Runs a backward pass of its own, which reaches a captured leaf.
struct OwnPass final : FunctionNode {
  Variable captured;
  explicit OwnPass(Variable v) : captured(std::move(v)) {}
  std::string label() const override { return "OwnPass"; }
  Arrays forward(const Arrays& x) override { return {copy(x[0])}; }
  Variables backward(const Targets&, const Variables& gy) override {
    const auto graph = force_backprop_mode();
    sum(captured * 5.0).backward();
    return {gy[0]};
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(final_gradients)

BOOST_AUTO_TEST_CASE(in_the_order_of_their_last_readers) {
  const Variable a = weight("a", 1), b = weight("b", 2), c = weight("c", 3), x(arrays::full({2}, 4.0, Dtype::float64));
  const Variable loss = sum(tanh(tanh(x * a) * b * 0.0) + c);
  BOOST_TEST(reported({loss}) == (Strings{"c 1", "b 0", "a 0"}), boost::test_tools::per_element());
}

// a is read by the last function and by the first one.
BOOST_AUTO_TEST_CASE(after_the_last_of_several_readers) {
  const Variable a = weight("a", 1), b = weight("b", 2);
  const Variable loss = sum((a * 3.0) * b + a);
  BOOST_TEST(reported({loss}) == (Strings{"b 3", "a 7"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(several_roots_and_gradients_from_before) {
  const Variable a = weight("a", 1), b = weight("b", 2);
  a.zerograd();
  Variable(a).grad() += 10;
  const Variable first = sum(a * b), second = sum(a * 2.0);
  BOOST_TEST(reported({first, second}) == (Strings{"b 1", "a 14"}), boost::test_tools::per_element());
}

// Leaves that no optimizer updates, that are frozen, or that have hooks, whose gradients come at the end.
BOOST_AUTO_TEST_CASE(leaves_that_are_not_reported) {
  const Variable a = weight("a", 1), frozen = weight("frozen", 2), hooked = weight("hooked", 3),
                 other(arrays::full({2}, 4.0, Dtype::float64), {.name = "other"});
  frozen.requires_grad_(false);
  hooked.register_hook([](const Variable& g) { return g * 2.0; });
  const Variable loss = sum(a * frozen * hooked * other);
  BOOST_TEST(reported({loss}) == (Strings{"a 24"}), boost::test_tools::per_element());
  BOOST_TEST(item(slice(hooked.grad(), 0, 0, 1)).to_double() == 16);
}

// The leaves that func captures are in no graph: b, read later, waits for func.
BOOST_AUTO_TEST_CASE(forgotten_functions) {
  const Variable a = weight("a", 1), b = weight("b", 2);
  const Variable hidden = forget([&](const Variable& x) { return x * b * a; }, a * 2.0);
  const Variable loss = sum(hidden * b);
  const Strings all = reported({loss});
  BOOST_TEST(all == (Strings{"b 8", "a 16"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_rule_that_adds_to_a_reported_leaf) {
  const Variable a = weight("a", 1), b = weight("b", 2);
  const Variable loss = sum(apply_node<OwnPass>({b * 2.0}, a)[0] + a);
  const std::string message = test::message_of<catena::RuntimeError>([&] { reported({loss}); });
  BOOST_TEST(message.find("{.overlap = false}") != std::string::npos, message);
  // Without reports, the same is allowed.
  a.cleargrad();
  b.cleargrad();
  internal::run_backward({sum(apply_node<OwnPass>({b * 2.0}, a)[0] + a)}, {});
  BOOST_TEST(item(slice(a.grad(), 0, 0, 1)).to_double() == 6);
}

BOOST_AUTO_TEST_SUITE_END()
