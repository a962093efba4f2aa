// autograd::testing: what user tests are written with.
#include <catena/autograd/testing.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include <catena/autograd/function.h>
#include <catena/autograd/functions/math.h>
#include <catena/tests/support/attributes.h>
#include <catena/tests/support/run_self.h>

using namespace autograd;
using namespace autograd::testing;

namespace {

template <class E, class F> std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no such error";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// A cube with a label, a gradient and a dtype that can be wrong.
struct Faults {
  const char* label = "cube";
  double factor = 3;
  bool wide = false;
};
struct CubeNode final : FunctionNode {
  explicit CubeNode(Faults f) : faults(f) {}
  std::string label() const override { return faults.label; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    const Array y = x[0] * x[0] * x[0];
    return {faults.wide ? astype(y, Dtype::float64) : y};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    return {gy[0] * square(retained_input(0)) * faults.factor};
  }
  Faults faults;
};
auto cube(Faults f) {
  return [f](const Variable& x) { return apply_node<CubeNode>({x}, f)[0]; };
}
double cubed(double x) { return x * x * x; }

}  // namespace

BOOST_AUTO_TEST_SUITE(testing_helpers)

BOOST_AUTO_TEST_CASE(unary_functions) {
  seed(1);
  unary_math_function_unittest(autograd::exp);
  unary_math_function_unittest(autograd::sin);
  unary_math_function_unittest(autograd::tanh, {.label_expected = "Tanh"});
  unary_math_function_unittest(autograd::log, {.make_data = [](const Shape& shape, Dtype dtype) {
                                 return Arrays{random_uniform(shape, 1, 2, dtype, default_generator()),
                                               random_uniform(shape, -1, 1, dtype, default_generator())};
                               }});
  unary_math_function_unittest(cube({}), {.func_expected = cubed});
}

BOOST_AUTO_TEST_CASE(wrong_unary_functions) {
  const auto failure = [](const Faults& f, const UnaryMathFunction& expected) {
    seed(2);
    return message_of<catena::AssertionError>([&] { unary_math_function_unittest(cube(f), expected); });
  };
  BOOST_TEST(failure({}, {.func_expected = cubed}) == "no such error");
  BOOST_TEST(has(failure({}, {.func_expected = [](double x) { return x * x; }}), "elements differ"));
  const std::string gradient = failure({.factor = 3.5}, {.func_expected = cubed});
  BOOST_TEST(has(gradient, "the gradient of input 0 is wrong"), gradient);
  BOOST_TEST(gradient.starts_with("{device: "), gradient);
  BOOST_TEST(has(gradient, "dtype: float16, shape: (3, 2)}: Fail: 3, Success: 0"), gradient);
  BOOST_TEST(has(failure({.wide = true}, {.func_expected = cubed}), "the result has dtype float64"));
  BOOST_TEST(has(failure({.label = "Cube"}, {.func_expected = cubed}), "the label is Cube, not cube"));
  BOOST_TEST(has(failure({}, {.func_expected = cubed, .label_expected = "Cube"}), "the label is cube, not Cube"));
  BOOST_TEST(has(message_of<catena::ValueError>([] { unary_math_function_unittest(cube({})); }),
                 "no function of <cmath> is called cube: give func_expected"));
}

BOOST_AUTO_TEST_CASE(named_parameters) {
  std::vector<std::string> texts;
  const auto sets = product({{"shape", {Shape{3, 2}, Shape{}}}, {"dtype", {Dtype::float16, Dtype::float32}}});
  for (const ParameterSet& p : sets) texts.push_back(p.to_string());
  BOOST_TEST(texts == (std::vector<std::string>{"{dtype: float16, shape: (3, 2)}", "{dtype: float16, shape: ()}",
                                                "{dtype: float32, shape: (3, 2)}", "{dtype: float32, shape: ()}"}),
             boost::test_tools::per_element());
  const std::vector<ParameterSet> small{{{"n", 1}, {"name", "one"}}, {{"n", 2}, {"name", "two"}}};
  const std::vector<ParameterSet> modes{{{"train", true}}, {{"train", false}, {"n", 5}}};
  texts.clear();
  for (const ParameterSet& p : product_dict({small, modes})) texts.push_back(p.to_string());
  BOOST_TEST(texts == (std::vector<std::string>{"{n: 1, name: one, train: true}", "{n: 5, name: one, train: false}",
                                                "{n: 2, name: two, train: true}", "{n: 5, name: two, train: false}"}),
             boost::test_tools::per_element());
  int runs = 0;
  parameterize(sets, [&](const ParameterSet& p) {
    BOOST_CHECK(p.get<Dtype>("dtype") == (runs < 2 ? Dtype::float16 : Dtype::float32));
    BOOST_TEST(p.get<Shape>("shape").size() == (runs % 2 == 0 ? 2 : 0));
    ++runs;
  });
  BOOST_TEST(runs == 4);
  // A failure names its parameters.
  BOOST_TEST(message_of<catena::ValueError>([&] {
               parameterize(sets, [](const ParameterSet& p) {
                 if (p.get<Dtype>("dtype") == Dtype::float32) throw catena::ValueError("not that one");
               });
             }) == "{dtype: float32, shape: (3, 2)}: not that one");
  BOOST_TEST(message_of<catena::ValueError>([&] {
               parameterize(product(std::vector{1, 2}, std::vector{"a", "b"}), [](int n, const std::string& s) {
                 if (n == 2 && s == "a") throw catena::ValueError("stop");
               });
             }) == "parameter set 2: stop");
  const ParameterSet p{{"n", 3}, {"x", 0.5}, {"f", cubed}, {"text", std::string("t")}};
  BOOST_TEST(p.get<int>("n") == 3);
  BOOST_TEST(p.get<std::int64_t>("n") == 3);
  BOOST_TEST(p.get<double>("n") == 3.0);
  BOOST_TEST(p.get<float>("x") == 0.5f);
  BOOST_TEST(p.get<std::string>("text") == "t");
  BOOST_TEST(p.get<double (*)(double)>("f")(2) == 8);
  BOOST_TEST(p.contains("x"));
  BOOST_TEST(!p.contains("y"));
  BOOST_CHECK_THROW(p.get<int>("y"), catena::KeyError);
  BOOST_CHECK_THROW(p.get<std::string>("n"), catena::TypeError);
  BOOST_CHECK_THROW(p.get<int>("x"), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(repetition) {
  int runs = 0;
  const auto fails_in = [&runs](std::set<int> numbers) {
    runs = 0;
    return [&runs, numbers] {
      if (numbers.contains(++runs)) throw catena::ValueError(catena::concat("run ", runs));
    };
  };
  condition::repeat(4, fails_in({}));
  BOOST_TEST(runs == 4);
  BOOST_CHECK_THROW(condition::repeat(4, fails_in({2})), catena::AssertionError);
  BOOST_TEST(runs == 2);
  condition::retry(3, fails_in({1, 2}));
  BOOST_TEST(runs == 3);
  BOOST_TEST(message_of<catena::AssertionError>([&] {
               condition::retry(3, fails_in({1, 2, 3, 4}));
             }) == "Fail: 3, Success: 0\n\nThe first error message:\nrun 1");
  condition::repeat_with_success_at_least(5, 3, fails_in({1, 3}));
  BOOST_TEST(runs == 5);
  BOOST_CHECK_THROW(condition::repeat_with_success_at_least(5, 3, fails_in({1, 2, 3})), catena::AssertionError);
  BOOST_TEST(runs == 3);
  BOOST_CHECK_THROW(condition::repeat_with_success_at_least(2, 3, [] {}), catena::ValueError);
}

// ---- attributes ---------------------------------------------------------------------------------
// Cases with needs, which the following ones run in children.
BOOST_AUTO_TEST_CASE(with_a_gpu, *test::gpu()) { BOOST_TEST(attr::gpu()); }
BOOST_AUTO_TEST_CASE(with_cudnn, *test::cudnn()) { BOOST_TEST(attr::cudnn()); }
BOOST_AUTO_TEST_CASE(with_two_gpus, *test::multi_gpu(2)) { BOOST_TEST(attr::multi_gpu(2)); }
BOOST_AUTO_TEST_CASE(with_time, *test::slow()) { BOOST_TEST(attr::slow()); }
BOOST_AUTO_TEST_CASE(with_very_many_gpus, *test::multi_gpu(1000)) { BOOST_FAIL("there are not so many"); }

BOOST_AUTO_TEST_CASE(attributes_select_cases) {
  const std::string here = "--source=autograd/testing_test.cpp --log_level=test_suite --run_test=";
  const auto runs = [&](const std::string& selection, const std::string& environment = "") {
    const test::Run child = test::run_self(here + selection, environment);
    BOOST_TEST(child.status == 0, child.output);
    return child;
  };
  const auto entered = [](const test::Run& run, const std::string& name) {
    return run.says("Entering test case \"" + name + "\"");
  };
  const test::Run timed = runs("@slow");
  BOOST_TEST(entered(timed, "with_time"), timed.output);
  BOOST_TEST(!entered(timed, "with_a_gpu"), timed.output);
  const test::Run on_gpus = runs("@gpu");  // cudnn is among them
  BOOST_TEST(on_gpus.says("Running 2 test cases"), on_gpus.output);
  BOOST_TEST(entered(on_gpus, "with_a_gpu") == attr::gpu(), on_gpus.output);
  const test::Run several = runs("@multi_gpu");
  BOOST_TEST(several.says("Running 2 test cases"), several.output);
  BOOST_TEST(entered(several, "with_two_gpus") == attr::multi_gpu(2), several.output);
  BOOST_TEST(several.says("skipped: 1000 CUDA devices are needed, there are "), several.output);
  const test::Run others = runs("'testing_helpers/with_*' --run_test='!@slow'");
  BOOST_TEST(!entered(others, "with_time"), others.output);
  BOOST_TEST(entered(others, "with_a_gpu") == attr::gpu(), others.output);
  // By the environment, in any program.
  const test::Run skipped = runs("'testing_helpers/with_*'", "CATENA_TEST_SKIP=slow,gpu");
  for (const char* name : {"with_a_gpu", "with_cudnn", "with_two_gpus", "with_time"})
    BOOST_TEST(!entered(skipped, name), skipped.output);
  BOOST_TEST(skipped.says("skipped: CATENA_TEST_SKIP names slow"), skipped.output);
  BOOST_TEST(skipped.says("skipped: CATENA_TEST_SKIP names gpu"), skipped.output);
}

BOOST_AUTO_TEST_CASE(requirements) {
  BOOST_TEST(with_requires({"catena", "cpu", "catena>=0.0.1", "catena<1000"}));
  BOOST_TEST(!with_requires({"cpu", "catena>=1000"}));
  BOOST_TEST(!with_requires({"theano"}));
  BOOST_TEST(with_requires({"cuda"}) == attr::gpu());
  BOOST_TEST(with_requires({"cudnn"}) == attr::cudnn());
  for (const char* wrong : {"", ">=1", "catena=>1", "cudnn>=9"})
    BOOST_CHECK_THROW(with_requires({wrong}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
