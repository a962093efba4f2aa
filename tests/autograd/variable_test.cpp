// Variable: properties, text, gradients as data, copies between devices, unchaining, lifetime.
#include <catena/autograd/variable.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;

namespace {

using test::kCuda;
std::vector<float> floats(const Array& a) { return to_vector<float>(a); }
#define CHECK_VALUES(array, ...) \
  BOOST_TEST(floats(array) == (std::vector<float> __VA_ARGS__), boost::test_tools::per_element())

std::string last_warning;

struct Counted final : FunctionNode {
  static inline std::atomic<int> live{0};
  Counted() { ++live; }
  ~Counted() override { --live; }
  std::string label() const override { return "Counted"; }
  Arrays forward(const Arrays& x) override { return {copy(x[0])}; }
  Variables backward(const Targets&, const Variables& gy) override { return gy; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(variable)

BOOST_AUTO_TEST_CASE(a_new_variable_is_a_root) {
  const Array a = arrays::ones({2, 3});
  const Variable x(a, {.volatile_ = "auto", .name = "x"});
  BOOST_CHECK(x.data().get() == a.get());
  BOOST_CHECK(!x.grad());
  BOOST_CHECK(x.creator() == nullptr);
  BOOST_TEST(x.rank() == 0);
  BOOST_CHECK(x.volatile_flag() == AUTO);
  BOOST_CHECK(Variable(a, {.volatile_ = OFF}).volatile_flag() == OFF);
  BOOST_TEST(x.name() == "x");
  BOOST_CHECK(x.shape() == (Shape{2, 3}));
  BOOST_TEST(x.ndim() == 2);
  BOOST_TEST(x.size() == 6);
  BOOST_TEST(x.len() == 6);  // elements, not the length of the first axis
  BOOST_CHECK(x.dtype() == Dtype::float32);
  BOOST_CHECK_THROW(Variable{Array()}, catena::TypeError);
  BOOST_CHECK_THROW(Variable().data(), catena::ValueError);
  BOOST_CHECK(!Variable());
}

BOOST_AUTO_TEST_CASE(however_it_is_written_a_variable_of_an_array_is_automatic) {
  const auto flag = [](const Variable& v) { return v.volatile_flag(); };
  const Array a = arrays::ones({2});
  const Variable direct(a), assigned = a, braces{a}, named(a, {.name = "a"});
  BOOST_CHECK(flag(a) == AUTO);
  for (const Variable& v : {direct, assigned, braces, named}) BOOST_CHECK(flag(v) == AUTO);
  const auto scope = no_backprop_mode();
  for (const Variable& v : {direct, assigned, braces, named}) BOOST_CHECK((v * 2).creator() == nullptr);
}

BOOST_AUTO_TEST_CASE(numbers_are_variables) {
  Variable loss = 0;
  const Variable x(from_host(std::array{2.f, 3.f}.data(), {2}, Dtype::float32));
  for (int i = 0; i < 2; ++i) loss += sum(x * x);
  BOOST_TEST(loss.item<float>() == 26);
  loss.backward();
  CHECK_VALUES(x.grad(), {8, 12});
  x.cleargrad();  // a handle that cannot be rebound, to a variable that changes
  BOOST_TEST(!x.grad());
  const Variable half(0.5);
  BOOST_TEST(half.dtype() == Dtype::float32);
  BOOST_TEST(half.ndim() == 0);
  BOOST_TEST((half * x).data().size() == 2);
  BOOST_TEST((!std::is_convertible_v<bool, Variable>));
}

BOOST_AUTO_TEST_CASE(handles_share) {
  Variable x(arrays::ones({2}));
  const Variable y = x;
  BOOST_CHECK(x.is_same(y));
  BOOST_CHECK(!x.is_same(Variable(x.data())));
  x.set_grad(arrays::ones({2}));
  BOOST_CHECK(y.grad().get() == x.grad().get());
  x.set_volatile("on");
  BOOST_CHECK(y.volatile_flag() == ON);
}

BOOST_AUTO_TEST_CASE(setting_a_gradient_validates) {
  Variable x(arrays::ones({2, 3}));
  const Array g = arrays::ones({2, 3});
  x.set_grad(g);
  BOOST_CHECK(x.grad().get() == g.get());  // by reference
  BOOST_CHECK_THROW(x.set_grad(arrays::ones({3, 2})), catena::ValueError);
  BOOST_CHECK_THROW(x.set_grad(arrays::ones({2, 3}, Dtype::float64)), catena::TypeError);
  BOOST_CHECK_THROW(Variable(arrays::ones({2}), {.grad = arrays::ones({3})}), catena::ValueError);
  BOOST_CHECK(x.grad().get() == g.get());
  x.set_grad(Array());
  BOOST_CHECK(!x.grad());
}

std::string message_of_set_grad(Variable& x, const Array& g) {
  try {
    x.set_grad(g);
  } catch (const catena::Error& e) {
    return e.what();
  }
  return "no error";
}

BOOST_AUTO_TEST_CASE(a_gradient_on_another_device_is_refused) {
  const auto other = test::other_device();
  if (!other) return;
  std::vector<Device> devices{*other};
  // Two devices of one kind: only the reference backend has them everywhere.
  if (default_backend().name() == "reference") devices.push_back({test::default_device().kind, 1});
  for (const Device& device : devices) {
    Variable x(arrays::ones({2, 3}));
    const std::string message = message_of_set_grad(x, arrays::ones({2, 3}, Dtype::float32, device));
    BOOST_TEST(message.find(catena::to_string(x.device()) + " != " + catena::to_string(device)) != message.npos,
               message);
    BOOST_CHECK(!x.grad());
    const auto give = [&] { Variable(arrays::ones({2}), {.grad = arrays::ones({2}, Dtype::float32, device)}); };
    if (device.kind == x.device().kind) BOOST_CHECK_THROW(give(), catena::ValueError);
    else BOOST_CHECK_THROW(give(), catena::TypeError);
  }
}

namespace {

// Constraints, so that an expression that does not compile is no error.
template <class A, class B>
concept HasEqual = requires(const A& a, const B& b) {
  a == b;
};
template <class A, class B>
concept HasUnequal = requires(const A& a, const B& b) {
  a != b;
};
template <class A, class B>
concept HasOrder = requires(const A& a, const B& b) {
  a < b;
}
|| requires(const A& a, const B& b) { a > b; }
|| requires(const A& a, const B& b) { a <= b; }
|| requires(const A& a, const B& b) { a >= b; };
template <class A>
concept IsCondition = requires(const A& a) {
  static_cast<bool>(a);
};

}  // namespace

BOOST_AUTO_TEST_CASE(comparisons_give_arrays_and_truth_is_not_defined) {
  static_assert(HasEqual<int, int> && HasOrder<int, int>, "the constraints find what there is");
  BOOST_TEST((HasEqual<Variable, Variable> && HasUnequal<Variable, Variable> && HasOrder<Variable, Variable>));
  BOOST_TEST((HasEqual<Variable, double> && HasUnequal<Variable, double> && HasOrder<Variable, double>));
  BOOST_TEST((HasEqual<int, Variable> && HasUnequal<int, Variable> && HasOrder<int, Variable>));
  BOOST_TEST((HasEqual<Variable, Array> && HasUnequal<Variable, Array> && HasOrder<Variable, Array>));
  BOOST_TEST((HasEqual<Array, Variable> && HasUnequal<Array, Variable> && HasOrder<Array, Variable>));
  // No value decides a condition: `if (v)` asks whether there is a variable, and nothing converts by itself.
  BOOST_TEST(!(std::is_convertible_v<Variable, bool>));
  BOOST_TEST(!(std::is_convertible_v<Variable, double>));
  BOOST_TEST(IsCondition<Variable>);
  BOOST_TEST(bool(Variable(arrays::zeros({}))));
  BOOST_TEST(!Variable());
  // Identity is that of the object.
  const Variable x(arrays::ones({})), same = x, other(x.data());
  BOOST_TEST(x.is_same(same));
  BOOST_TEST(!x.is_same(other));
}

BOOST_AUTO_TEST_CASE(texts) {
  BOOST_TEST(Variable(arrays::ones({2, 3})).label() == "(2, 3), float32");
  BOOST_TEST(Variable(arrays::ones({1}, Dtype::float16)).label() == "(1), float16");
  BOOST_TEST(Variable(arrays::ones({})).label() == "float32");
  Variable x(arrays::ones({2}));
  BOOST_CHECK(x.repr().starts_with("<variable at 0x"));
  BOOST_CHECK(x.to_string().starts_with("<var@"));
  x.set_name("x");
  BOOST_TEST(x.repr() == "<variable x>");
}

BOOST_AUTO_TEST_CASE(a_variable_prints_its_values) {
  const auto text = [](const Variable& v) {
    std::ostringstream out;
    out << v;
    return out.str();
  };
  BOOST_TEST(text(Variable(array<float>({1, 2.5}, {2}))) == "variable([1.  2.5])");
  BOOST_TEST(text(Variable(array<float>({1, 2, 3, 4}, {2, 2}), {.name = "W"})) ==
             "variable W([[1. 2.]\n            [3. 4.]])");
  BOOST_TEST(text(Variable(array<float>({1, 2, 3, 4}, {2, 1, 2}))) == "variable([[[1. 2.]]\n\n          [[3. 4.]]])");
  BOOST_TEST(text(Variable(arrays::full({}, 3))) == "variable(3.0)");
  BOOST_TEST(text(Variable()) == "<null variable>");
}

BOOST_AUTO_TEST_CASE(debug_print_in_full) {
  Variable x(to_device(array<float>({1, 3}, {2}), Device{}), {.name = "x"});
  const std::string head =
      "<variable x>\n- device: CPU\n- volatile: AUTO\n- backend: " + std::string(x.data().backend().name()) +
      "\n- shape: (2,)\n- dtype: float32\n- statistics: mean=2.00000000, std=1.00000000\n- grad: ";
  BOOST_TEST(x.debug_print() == head + "None");
  x.set_grad(zeros_like(x.data()));
  BOOST_TEST(x.debug_print() == head + "0");
  x.set_grad(to_device(array<float>({0, 1}, {2}), Device{}));
  BOOST_TEST(x.debug_print() == head + "mean=0.50000000, std=0.50000000");
}

BOOST_AUTO_TEST_CASE(clearing_gradients) {
  Variable x(arrays::ones({2}), {.grad = arrays::full({2}, 3)});
  const Array g = x.grad();
  const WarningHandler previous =
      set_warning_handler([](std::string_view category, std::string_view) { last_warning = category; });
  x.zerograd();
  BOOST_TEST(last_warning == "DeprecationWarning");
  BOOST_CHECK(x.grad().get() == g.get());
  CHECK_VALUES(g, {0, 0});
  x.cleargrad();
  BOOST_CHECK(!x.grad());
  x.zerograd();
  CHECK_VALUES(x.grad(), {0, 0});
  set_warning_handler(previous);
}

// A leaf that shares its gradient with a function's result is not cleared through it.
BOOST_AUTO_TEST_CASE(zerograd_spares_shared_arrays) {
  Variable x(arrays::ones({2}));
  Variable y = identity(x);
  const Array g = arrays::full({2}, 2);
  y.set_grad(g);
  y.backward();
  BOOST_CHECK(x.grad().get() == g.get());
  const WarningHandler previous = set_warning_handler([](std::string_view, std::string_view) {});
  x.zerograd();
  set_warning_handler(previous);
  CHECK_VALUES(x.grad(), {0, 0});
  CHECK_VALUES(g, {2, 2});
}

BOOST_AUTO_TEST_CASE(copydata_and_addgrad) {
  Variable x(array<float>({1, 2}, {2})), y(array<float>({5, 6}, {2}));
  const Array own = x.data();
  x.copydata(y);
  BOOST_CHECK(x.data().get() == own.get());
  CHECK_VALUES(own, {5, 6});
  x.addgrad(y);  // nothing to add
  BOOST_CHECK(!x.grad());
  y.set_grad(array<float>({1, 2}, {2}));
  x.addgrad(y);
  BOOST_CHECK(x.grad().get() != y.grad().get());  // a copy
  const Array g = x.grad();
  x.addgrad(y);
  BOOST_CHECK(x.grad().get() == g.get());  // in place
  CHECK_VALUES(g, {2, 4});
  CHECK_VALUES(y.grad(), {1, 2});
}

BOOST_AUTO_TEST_CASE(between_devices) {
  Variable x(to_device(array<float>({1, 2}, {2}), Device{}), {.grad = to_device(array<float>({3, 4}, {2}), Device{})});
  if (!test::has_cuda()) {
    BOOST_CHECK_EXCEPTION(x.to_gpu(0), catena::RuntimeError,
                          [](const catena::RuntimeError& e) { return test::says_that_cuda_is_unavailable(e.what()); });
    BOOST_CHECK(x.device() == Device{});
    CHECK_VALUES(x.data(), {1, 2});
    CHECK_VALUES(x.grad(), {3, 4});
    return;
  }
  Variable y(to_device(arrays::zeros({2}), Device{}));
  const Array a = x.data();
  x.to_cpu();
  BOOST_CHECK(x.data().get() == a.get());  // already there
  x.to_gpu(0);
  BOOST_CHECK(x.device() == kCuda);
  BOOST_CHECK(x.grad().device() == kCuda);
  CHECK_VALUES(x.grad(), {3, 4});
  y.copydata(x);
  BOOST_CHECK(y.device() == Device{});
  CHECK_VALUES(y.data(), {1, 2});
  y.addgrad(x);
  y.addgrad(x);
  BOOST_CHECK(y.grad().device() == Device{});
  CHECK_VALUES(y.grad(), {6, 8});
  x.addgrad(y);
  BOOST_CHECK(x.grad().device() == kCuda);
  CHECK_VALUES(x.grad(), {9, 12});
  x.to_cpu();
  BOOST_CHECK(x.device() == Device{});
}

BOOST_AUTO_TEST_CASE(creators_and_ranks) {
  Variable x(arrays::ones({2}));
  const Variable y = x + 1, z = y * y;
  BOOST_TEST(y.rank() == 1);
  BOOST_TEST(z.rank() == 2);
  BOOST_TEST(z.creator()->rank() == 1);
  BOOST_TEST(z.creator()->num_inputs() == 2u);
  BOOST_CHECK(z.creator()->input(0).is_same(y));
  Variable other(arrays::ones({2}));
  other.set_creator(z.creator(), 0);
  BOOST_TEST(other.rank() == 2);
  other.unchain();
  BOOST_CHECK(other.creator() == nullptr);
  BOOST_TEST(other.rank() == 0);
}

BOOST_AUTO_TEST_CASE(shape_methods) {
  Variable x(array<float>({0, 1, 2, 3, 4, 5}, {2, 3}));
  BOOST_CHECK(x.reshape(3, 2).shape() == (Shape{3, 2}));
  BOOST_CHECK(x.reshape(Shape{-1}).shape() == (Shape{6}));
  BOOST_CHECK(x.transpose().shape() == (Shape{3, 2}));
  BOOST_CHECK(x.transpose(0, 1).shape() == (Shape{2, 3}));
  CHECK_VALUES(x.transpose(-1, 0).data(), {0, 3, 1, 4, 2, 5});
  BOOST_CHECK_THROW(x.reshape(4, 2), catena::InvalidType);
  BOOST_CHECK_THROW(x.reshape(-1, 4), catena::InvalidType);
  BOOST_CHECK_THROW(x.reshape(-1, -1), catena::AssertionError);
  BOOST_CHECK_THROW(x.transpose(0, 2), catena::InvalidType);
  BOOST_CHECK_THROW(x.transpose(0), catena::InvalidType);
  BOOST_TEST(x.transpose().creator()->label() == "Transpose");
}

BOOST_AUTO_TEST_CASE(keys_and_functions_as_members) {
  Variable x(array<float>({0, 1, 2, 3, 4, 5}, {2, 3}));
  CHECK_VALUES(x[1].data(), {3, 4, 5});
  CHECK_VALUES(x(-1, 2).data(), {5});
  CHECK_VALUES(x(_, Slice(1, {})).data(), {1, 2, 4, 5});
  CHECK_VALUES(x(ellipsis, 0).data(), {0, 3});
  BOOST_CHECK(x(newaxis).shape() == (Shape{1, 2, 3}));
  CHECK_VALUES(x({1, 1}).data(), {3, 4, 5, 3, 4, 5});
  CHECK_VALUES(x[{1}].data(), {3, 4, 5});
  CHECK_VALUES(x(_, std::vector<int>{2, 0}).data(), {2, 0, 5, 3});
  CHECK_VALUES(x(array<std::int64_t>({1, 0}, {2}), 1).data(), {4, 1});
  CHECK_VALUES(x.sum().data(), {15});
  CHECK_VALUES(x.sum(0).data(), {3, 5, 7});
  CHECK_VALUES(x.mean({0, 1}).data(), {2.5});
  CHECK_VALUES(x.max(1).data(), {2, 5});
  BOOST_CHECK(x.min(1, true).shape() == (Shape{2, 1}));
  CHECK_VALUES(x.T().data(), {0, 3, 1, 4, 2, 5});
  CHECK_VALUES(x.transpose({1, 0}).data(), {0, 3, 1, 4, 2, 5});
  BOOST_CHECK(x.astype(Dtype::float64).dtype() == Dtype::float64);
  BOOST_TEST(x(1, 1).item<int>() == 4);
  BOOST_TEST(double(x.sum()) == 15);
  BOOST_CHECK_THROW(x.item<float>(), catena::ValueError);
  BOOST_CHECK_THROW(Variable().sum(), catena::Error);
  BOOST_CHECK_THROW(x(2), catena::IndexError);
  (x[0] * x({1})(0)).sum().backward();
  CHECK_VALUES(x.grad(), {3, 4, 5, 0, 1, 2});
}

// ---- lifetime ----

BOOST_AUTO_TEST_CASE(intermediate_arrays_die_with_their_variables) {
  const Variable x(arrays::ones({2}));
  std::optional<Variable> h(x + 1);
  const auto refs = [](const Array& a) { return a->refs.load(); };
  const Array data = h->data();
  const Variable y = *h + 1;  // addition retains nothing
  h.reset();
  BOOST_TEST(refs(data) == 1u);
  std::optional<Variable> k(x + 1);
  const Array kept = k->data();
  const Variable z = square(*k);  // square retains its input
  k.reset();
  BOOST_TEST(refs(kept) == 2u);
}

BOOST_AUTO_TEST_CASE(unchain_backward_releases_the_graph) {
  Variable x(arrays::ones({2}));
  Variable h = square(x);
  const Array data = h.data();
  Variable y = square(h);
  h = Variable();
  BOOST_TEST(data->refs.load() == 2u);
  y.unchain_backward();
  BOOST_CHECK(y.creator() == nullptr);
  BOOST_TEST(y.rank() == 0);
  BOOST_TEST(data->refs.load() == 1u);
  y.backward();  // a root: nothing happens
  BOOST_CHECK(!x.grad());
}

BOOST_AUTO_TEST_CASE(unchaining_cuts_other_branches_too) {
  Variable x(arrays::ones({2}));
  Variable h = x + 1, a = h * 2, b = h * 3;
  a.unchain_backward();
  BOOST_CHECK(h.creator() == nullptr);
  BOOST_CHECK(b.creator() != nullptr);
  sum(b).backward();
  CHECK_VALUES(h.grad(), {3, 3});
  BOOST_CHECK(!x.grad());
}

BOOST_AUTO_TEST_CASE(very_deep_chains) {
  constexpr int kDepth = 1'000'000;
  const Variable x(arrays::ones({}));
  {
    Variable y = x;
    for (int i = 0; i < kDepth; ++i) y = identity(y);
    BOOST_TEST(y.rank() == kDepth);
  }  // destroyed without recursion
  // Fewer functions, because each of these computes; a recursion with 50 bytes per function would still need more than
  // a stack of 8 MB.
  Variable y = x;
  for (int i = 0; i < kDepth / 5; ++i) y = -y;
  y.backward();
  BOOST_TEST(floats(x.grad())[0] == 1);
  y.unchain_backward();
}

BOOST_AUTO_TEST_CASE(handles_may_be_dropped_on_other_threads) {
  constexpr int kThreads = 8, kLength = 400;
  Variable x(arrays::ones({8}));
  const std::uint32_t before = x.data()->refs;
  Arrays data;  // of every variable of the graph
  std::vector<Variables> own(kThreads);
  {
    // One chain, of which every thread has every eighth variable, and a branch of its own that begins in it.
    Variable y = x;
    for (int i = 0; i < kLength; ++i) {
      y = apply_node<Counted>({y})[0];
      own[std::size_t(i % kThreads)].push_back(y);
      data.push_back(y.data());
    }
    for (Variables& list : own) {
      list.push_back(square(apply_node<Counted>({y})[0] + x));
      data.push_back(list.back().data());
    }
  }
  BOOST_TEST(Counted::live == kLength + kThreads);
  for (const Array& a : data) BOOST_TEST(a->refs >= 2u);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (Variables& list : own)
    threads.emplace_back([&ready, mine = std::move(list)]() mutable {
      for (++ready; ready < kThreads;) std::this_thread::yield();
      mine.clear();
    });
  own.clear();
  for (std::thread& t : threads) t.join();
  BOOST_TEST(Counted::live == 0);
  for (const Array& a : data) BOOST_TEST(a->refs == 1u);
  BOOST_TEST(x.data()->refs == before);
  // The remaining variables are whole.
  Variable z = square(x + 1);
  z.set_grad(arrays::ones({8}));
  z.backward();
  CHECK_VALUES(x.grad(), {4, 4, 4, 4, 4, 4, 4, 4});
}

BOOST_AUTO_TEST_SUITE_END()
