// The steps of a call of a function around forward and backward: outputs, the current device, checks of gradients.
#include <catena/autograd/function.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/current_device.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/hooks.h>
#include <catena/tests/support/attributes.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;

namespace {

Device current() { return default_backend().default_device(); }
Device cuda_device(int id) { return {Device::Kind::cuda, std::int16_t(id)}; }

// Notes the device that is current, and makes arrays there without naming one.
struct Watcher : Function {
  static inline Device forward_device, backward_device;
  explicit Watcher(bool fails = false) : fails(fails) {}
  Arrays forward(const Arrays& x) override {
    forward_device = current();
    catena::check<catena::RuntimeError>(!fails, "Watcher", "failed as it was told to");
    return {x[0] + arrays::ones(x[0].shape(), x[0].dtype())};
  }
  Arrays backward(const Arrays& x, const Arrays& gy) override {
    backward_device = current();
    Arrays gx(x.size());
    gx[0] = gy[0] + arrays::zeros(x[0].shape(), x[0].dtype());
    return gx;
  }
  bool fails;
};

struct SumAndProduct final : Function {
  Arrays forward(const Arrays& x) override { return {x[0] + x[1], x[0] * x[1]}; }
  Arrays backward(const Arrays& x, const Arrays& gy) override {
    Arrays gx(2);
    for (int i = 0; i < 2; ++i) {
      gx[std::size_t(i)] = zeros_like(x[0]);
      if (gy[0]) gx[std::size_t(i)] += gy[0];
      if (gy[1]) gx[std::size_t(i)] += gy[1] * x[std::size_t(1 - i)];
    }
    return gx;
  }
};

// Returns a gradient on another device.
struct Misplaced final : Function {
  explicit Misplaced(Device to) : to(to) {}
  Arrays forward(const Arrays& x) override { return {x[0] * 2}; }
  Arrays backward(const Arrays&, const Arrays& gy) override { return {to_device(gy[0], to)}; }
  Device to;
};

struct DeviceHook final : FunctionHook {
  std::string name() const override { return "DeviceHook"; }
  void backward_postprocess(const FunctionNode&, const Arrays&, const Arrays&) override { after = current(); }
  Device after;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(function_call)

BOOST_AUTO_TEST_CASE(one_output_is_the_variable_itself) {
  const Variable x(array<float>({1, 2}, {2})), z(array<float>({3, 4}, {2}));
  Variable y = make_function<Watcher>()(x);
  BOOST_TEST(to_vector<float>(y.data()) == (std::vector<float>{2, 3}), boost::test_tools::per_element());
  const Variable doubled = make_function<Watcher>()({x}) * 2;
  BOOST_TEST(to_vector<float>(doubled.data()) == (std::vector<float>{4, 6}), boost::test_tools::per_element());
  const Variable again = make_function<Watcher>()(make_function<Watcher>()(x));
  BOOST_TEST(to_vector<float>(again.data()) == (std::vector<float>{3, 4}), boost::test_tools::per_element());
  const Variables list = make_function<SumAndProduct>()(x, z);
  BOOST_REQUIRE(list.size() == 2u);
  BOOST_TEST(to_vector<float>(list[1].data()) == (std::vector<float>{3, 8}), boost::test_tools::per_element());
  const Variables given{x, z};
  BOOST_TEST(make_function<SumAndProduct>()(given).size() == 2u);
  BOOST_CHECK_EXCEPTION(Variable(make_function<SumAndProduct>()(x, z)), catena::ValueError, [](const auto& e) {
    return std::string(e.what()) == "Function: the result is a list of 2 outputs, not one; take an output by its index";
  });
  // An array beside a variable.
  const Variable mixed = make_function<SumAndProduct>()(x, array<float>({1, 1}, {2}))[0];
  BOOST_TEST(to_vector<float>(mixed.data()) == (std::vector<float>{2, 3}), boost::test_tools::per_element());
}

// auto y = f(x) has the members of a Variable.
BOOST_AUTO_TEST_CASE(members_of_the_only_output) {
  Variable x(array<float>({1, 2, 3, 4}, {2, 2}));
  auto y = make_function<Watcher>()(x);
  const Variable same = y;
  BOOST_TEST(to_vector<float>(y.data()) == (std::vector<float>{2, 3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(y.shape() == (Shape{2, 2}));
  BOOST_TEST(y.shape(1) == 2);
  BOOST_TEST(y.ndim() == 2);
  BOOST_TEST(y.size() == 4);
  BOOST_TEST(y.len() == 4);
  BOOST_TEST(y.num_outputs() == 1u);
  BOOST_CHECK(y.dtype() == Dtype::float32);
  BOOST_CHECK(y.device() == x.device());
  BOOST_TEST(y.label() == "(2, 2), float32");
  BOOST_TEST(y.creator() == same.creator());
  BOOST_TEST(y.rank() == 1);
  BOOST_CHECK(y.requires_grad());
  BOOST_CHECK(y.volatile_flag() == OFF || y.volatile_flag() == AUTO);
  BOOST_TEST(y.is_same(same));
  BOOST_TEST(y.id() == same.id());
  y.set_name("y");
  BOOST_TEST(same.name() == "y");
  BOOST_TEST(y.name() == "y");
  BOOST_TEST(y.repr() == "<variable y>");
  BOOST_TEST(y.to_string() == "y");
  BOOST_CHECK(y.debug_print().starts_with("<variable y>"));
  BOOST_TEST(catena::concat(y) == catena::concat(same));
  BOOST_TEST(to_vector<float>(y.reshape({4}).data()) == to_vector<float>(y.reshape(4).data()));
  BOOST_TEST(y.transpose().data().shape() == (Shape{2, 2}));
  BOOST_TEST(to_vector<float>(y.T().data()) == to_vector<float>(y.transpose({1, 0}).data()));
  BOOST_TEST(to_vector<float>(y.transpose(1, 0).data()) == (std::vector<float>{2, 4, 3, 5}),
             boost::test_tools::per_element());
  BOOST_CHECK(y.astype(Dtype::float64).dtype() == Dtype::float64);
  BOOST_TEST(y.sum().item<float>() == 14);
  BOOST_TEST(to_vector<float>(y.max({0}, true).data()) == (std::vector<float>{4, 5}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<float>(y(1).data()) == (std::vector<float>{4, 5}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<float>(y({1, 0}).data()) == (std::vector<float>{4, 5, 2, 3}), boost::test_tools::per_element());
  // As a list it is one of one.
  BOOST_CHECK(y[0].is_same(same));
  BOOST_CHECK_THROW(y[1], catena::IndexError);
  std::size_t count = 0;
  for (const Variable& v : y) count += v.is_same(same);
  BOOST_TEST(count == 1u);
  BOOST_TEST(Variables(y).size() == 1u);
  BOOST_TEST(std::span<const Variable>(y).size() == 1u);

  y.set_grad(arrays::full({2, 2}, 3));
  BOOST_TEST(to_vector<float>(y.grad()) == to_vector<float>(same.grad()));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{3, 3, 3, 3}), boost::test_tools::per_element());
  y.cleargrad();
  BOOST_CHECK(!same.grad());
  auto loss = make_function<Watcher>()(sum(y * 2));
  x.cleargrad();
  loss.backward({.retain_grad = true});
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{2, 2, 2, 2}), boost::test_tools::per_element());
  BOOST_TEST(double(loss) == 29);
  BOOST_TEST(to_vector<float>(y.grad()) == (std::vector<float>{2, 2, 2, 2}), boost::test_tools::per_element());
  loss.unchain_backward();
  BOOST_CHECK(loss.creator() == nullptr);
}

BOOST_AUTO_TEST_CASE(several_outputs_have_no_members_of_one) {
  Variable x(array<float>({1, 2}, {2})), z(array<float>({3, 4}, {2}));
  auto ys = make_function<SumAndProduct>()(x, z);
  const auto fails = [](const auto& call) {
    BOOST_CHECK_EXCEPTION(call(), catena::ValueError, [](const auto& e) {
      return std::string(e.what()) ==
             "Function: the result is a list of 2 outputs, not one; take an output by its index";
    });
  };
  fails([&] { ys.backward(); });
  fails([&] { ys.data(); });
  fails([&] { ys.shape(); });
  fails([&] { ys.grad(); });
  fails([&] { ys.cleargrad(); });
  fails([&] { ys.reshape({2, 1}); });
  fails([&] { ys.sum(); });
  fails([&] { ys(0); });
  fails([&] { static_cast<void>(ys * 2); });
  BOOST_TEST(ys.size() == 2);
  BOOST_TEST(ys.num_outputs() == 2u);
  BOOST_CHECK_THROW(ys[2], catena::IndexError);
  ys[1].set_grad(arrays::ones({2}));
  ys[1].backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_device_of_the_input_is_current, *test::gpu()) {
  const Device before = current();
  Variable x(arrays::ones({3}, Dtype::float32, test::kCuda));
  for (const Device caller : {test::kCpu, test::kCuda}) {
    default_backend().exchange_default_device(caller);
    Watcher::forward_device = Watcher::backward_device = Device();
    const Variable y = make_function<Watcher>()(x);
    BOOST_CHECK(Watcher::forward_device == test::kCuda);
    BOOST_CHECK(current() == caller);
    BOOST_CHECK(y.device() == test::kCuda);
    x.cleargrad();
    sum(y).backward();
    BOOST_CHECK(Watcher::backward_device == test::kCuda);
    BOOST_CHECK(current() == caller);
    BOOST_CHECK(x.grad().device() == test::kCuda);
    BOOST_CHECK_THROW(make_function<Watcher>(true)(x), catena::RuntimeError);
    BOOST_CHECK(current() == caller);
  }
  // Host arrays leave the current device as it is.
  default_backend().exchange_default_device(test::kCuda);
  BOOST_CHECK_THROW(make_function<Watcher>(true)(arrays::ones({3}, Dtype::float32, test::kCpu)), catena::RuntimeError);
  BOOST_CHECK(Watcher::forward_device == test::kCuda);
  default_backend().exchange_default_device(before);
}

BOOST_AUTO_TEST_CASE(scopes_of_the_current_device) {
  using internal::DefaultDeviceScope;
  const auto other = test::other_device();
  if (!other) {
    std::cout << "not run: there is one device only\n";
    return;
  }
  const Device before = current();
  try {
    const DefaultDeviceScope outer(default_backend(), *other);
    BOOST_CHECK(current() == *other);
    {
      const DefaultDeviceScope inner(default_backend(), before), nothing;
      BOOST_CHECK(current() == before);
    }
    BOOST_CHECK(current() == *other);
    throw catena::RuntimeError("an exception leaves the scope");
  } catch (const catena::RuntimeError&) {
    BOOST_CHECK(current() == before);
  }
  // Of arrays, the first one counts that is not in host memory.
  const Arrays arrays{Array(), arrays::ones({1}, Dtype::float32, test::kCpu),
                      arrays::ones({1}, Dtype::float32, test::kCuda)};
  for (const Device caller : {test::kCpu, test::kCuda}) {
    const DefaultDeviceScope scope(default_backend(), caller);
    {
      const DefaultDeviceScope all = internal::scope_of(arrays);
      BOOST_CHECK(current() == test::kCuda);
    }
    const DefaultDeviceScope host = internal::scope_of({arrays[1]});
    BOOST_CHECK(current() == caller);
  }
  BOOST_CHECK(current() == before);
}

BOOST_AUTO_TEST_CASE(a_graph_over_two_devices, *test::multi_gpu(2)) {
  const Device before = current();
  default_backend().exchange_default_device(cuda_device(0));
  Variable x(array<float>({1, 2}, {2}, cuda_device(0)));
  const Variable first = make_function<Watcher>()(x);
  BOOST_CHECK(Watcher::forward_device == cuda_device(0));
  const Variable moved = copy(first, cuda_device(1));
  const Variable second = make_function<Watcher>()(moved);
  BOOST_CHECK(Watcher::forward_device == cuda_device(1));
  BOOST_CHECK(second.device() == cuda_device(1));
  BOOST_CHECK(current() == cuda_device(0));
  BOOST_TEST(to_vector<float>(second.data()) == (std::vector<float>{3, 4}), boost::test_tools::per_element());
  DeviceHook hook;
  {
    const HookScope scope(hook);
    Variable loss = sum(square(second));
    loss.backward();
  }
  BOOST_CHECK(Watcher::backward_device == cuda_device(0));  // that of the first function, which comes last
  BOOST_CHECK(hook.after == cuda_device(0));
  BOOST_CHECK(x.grad().device() == cuda_device(0));
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{6, 8}), boost::test_tools::per_element());
  BOOST_CHECK(current() == cuda_device(0));
  default_backend().exchange_default_device(before);
}

BOOST_AUTO_TEST_CASE(a_gradient_on_another_device_is_an_error) {
  const auto other = test::other_device();
  if (!other) return;
  const auto message_of = [&](Variable x, const Variable& y) {
    try {
      sum(y).backward();
    } catch (const catena::TypeError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string expected = catena::concat(
      "Function `Misplaced` (Misplaced) has a bug.\nDevice of data and grad "
      "mismatch\n",
      test::default_device(), " != ", *other);
  Variable x(arrays::ones({2}));
  BOOST_TEST(message_of(x, make_function<Misplaced>(*other)(x)).starts_with(expected));
  BOOST_CHECK(!x.grad());
  // Where the data are gone, the device that they were on counts.
  Variable behind = exp(x);
  const Variable y = make_function<Misplaced>(*other)(behind);
  behind = {};
  BOOST_TEST(message_of(x, y).starts_with(expected));
  BOOST_CHECK(!x.grad());
}

BOOST_AUTO_TEST_SUITE_END()
