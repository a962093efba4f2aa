#include <catena/autograd/testing.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/gradient_check.h>
#include <catena/autograd/nn_extension.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/base/version.h>

namespace autograd::testing {

using catena::check;
using catena::concat;
using catena::testing::skip_unless;

// ---- requirements of tests ----------------------------------------------------------------------
namespace {

bool is_asked_to_skip(std::string_view attribute) {
  const char* const text = std::getenv("CATENA_TEST_SKIP");
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == attribute) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}
bool skip_if_asked(std::string_view attribute) {
  return skip_unless(!is_asked_to_skip(attribute), concat("CATENA_TEST_SKIP names ", attribute));
}

constexpr Device cuda_device(int id) { return {Device::Kind::cuda, static_cast<std::int16_t>(id)}; }

// Returns the reason why arrays cannot be on a CUDA device; empty if they can.
std::string missing_device(int id) {
  try {
    arrays::full({1}, 0, Dtype::float32, cuda_device(id));
    return {};
  } catch (const catena::Error& e) {
    return e.what();
  }
}

bool has_cudnn() {
  return missing_device(0).empty() && default_backend().extension<NnExtension>(cuda_device(0)) != nullptr;
}

}  // namespace

bool attr::multi_gpu(int count) {
  if (!skip_if_asked("gpu") || (count > 1 && !skip_if_asked("multi_gpu"))) return false;
  for (int id = 0; id < count; ++id)
    if (const std::string why = missing_device(id); !why.empty())
      return skip_unless(false, concat(count, " CUDA devices are needed, there are ", id, ": ", why));
  return true;
}
bool attr::gpu() { return multi_gpu(1); }
bool attr::cudnn() {
  return gpu() && skip_if_asked("cudnn") && skip_unless(has_cudnn(), "cuDNN is needed: it is not found, or disabled");
}
bool attr::slow() { return skip_if_asked("slow"); }

bool with_requires(const std::vector<std::string_view>& requirements) {
  using catena::testing::Requirement;
  return catena::testing::with_requires(requirements, [](std::string_view name) -> std::optional<Requirement> {
    if (name == "catena") return Requirement{true, std::string(catena::version())};
    if (name == "cpu") return Requirement{true};
    if (name == "cuda") return Requirement{missing_device(0).empty()};
    if (name == "cudnn") return Requirement{has_cudnn()};
    return std::nullopt;
  });
}

// ---- functions ----------------------------------------------------------------------------------
namespace {

using Unary = double (*)(double);
struct NamedFunction {
  std::string_view name;
  Unary function;
};
constexpr NamedFunction kFunctions[] = {
    {"exp", std::exp},     {"expm1", std::expm1},   {"log", std::log},       {"log2", std::log2},
    {"log10", std::log10}, {"log1p", std::log1p},   {"sqrt", std::sqrt},     {"sin", std::sin},
    {"cos", std::cos},     {"tan", std::tan},       {"arcsin", std::asin},   {"arccos", std::acos},
    {"arctan", std::atan}, {"sinh", std::sinh},     {"cosh", std::cosh},     {"tanh", std::tanh},
    {"floor", std::floor}, {"ceil", std::ceil},     {"absolute", std::fabs}, {"arcsinh", std::asinh},
    {"cbrt", std::cbrt},   {"arccosh", std::acosh}, {"arctanh", std::atanh}};

constexpr const char* kUnary = "unary_math_function_unittest";

std::string label_of(const catena::Function<Variable(const Variable&)>& func) {
  const Variable y = func(Variable(arrays::full({1}, 0.5)));
  check<catena::AssertionError>(y.creator() != nullptr, kUnary, "func made no graph");
  return y.creator()->label();
}

catena::Function<double(double)> function_named(const std::string& name) {
  for (const NamedFunction& f : kFunctions)
    if (f.name == name) return f.function;
  catena::fail<catena::ValueError>(kUnary, "no function of <cmath> is called ", name, ": give func_expected");
}

Arrays uniform_data(const Shape& shape, Dtype dtype) {
  Arrays data;
  for (int k = 0; k < 2; ++k) data.push_back(random_uniform(shape, -1, 1, dtype, default_generator()));
  return data;
}

class UnaryTest {
 public:
  UnaryTest(const catena::Function<Variable(const Variable&)>& func, const UnaryMathFunction& given)
      : func_(func), expected_(given) {
    const std::string label = label_of(func);
    if (expected_.label_expected.empty()) expected_.label_expected = catena::lower_case(label);
    check<catena::AssertionError>(label == expected_.label_expected, kUnary, "the label is ", label, ", not ",
                                  expected_.label_expected);
    if (!expected_.func_expected) expected_.func_expected = function_named(catena::lower_case(label));
    if (!expected_.make_data) expected_.make_data = uniform_data;
  }

  void run(const Shape& shape, Dtype dtype, Device device) const {
    Arrays data = expected_.make_data(shape, dtype);
    check<catena::ValueError>(data.size() == 2, kUnary, "make_data returned ", data.size(), " arrays, not 2");
    for (Array& a : data) a = to_device(a, device);
    forward(data[0]);
    const bool narrow = dtype == Dtype::float16;
    const double tolerance = narrow ? 0.0625 : 1e-4;
    gradient_check::Options options{.eps = narrow ? tolerance : 1e-3, .atol = tolerance, .rtol = tolerance};
    if (narrow) options.dtype = Dtype::float64;
    gradient_check::check_backward(func_, {data[0]}, {data[1]}, options);
  }

 private:
  void forward(const Array& x) const {
    const Variable y = func_(Variable(x));
    check<catena::AssertionError>(y.dtype() == x.dtype(), kUnary, "the result has dtype ", y.dtype());
    check<catena::AssertionError>(y.shape() == x.shape(), kUnary, "the result has shape ", y.shape());
    std::vector<double> values = to_vector<double>(x);
    for (double& v : values) v = expected_.func_expected(v);
    assert_allclose(y.data(), array(values, x.shape()), 1e-4, x.dtype() == Dtype::float16 ? 1e-3 : 1e-4);
  }

  const catena::Function<Variable(const Variable&)>& func_;
  UnaryMathFunction expected_;
};

}  // namespace

void unary_math_function_unittest(const UnaryFunction& func, const UnaryMathFunction& expected) {
  const UnaryTest test(func, expected);
  std::vector<catena::testing::Parameter> devices{Device()};
  if (missing_device(0).empty()) devices.push_back(cuda_device(0));
  parameterize(product({{"device", devices},
                        {"dtype", {Dtype::float16, Dtype::float32, Dtype::float64}},
                        {"shape", {Shape{3, 2}, Shape{}}}}),
               [&](const ParameterSet& p) {
                 condition::retry(
                     3, [&] { test.run(p.get<Shape>("shape"), p.get<Dtype>("dtype"), p.get<Device>("device")); });
               });
}

// ---- assertions ---------------------------------------------------------------------------------
namespace {

// True for equal numbers, two NaN, or numbers within the tolerance; an infinity equals only itself.
bool near(double a, double b, double atol, double rtol) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::fabs(a - b) <= atol + rtol * std::fabs(b);
}

}  // namespace

void assert_allclose(const Array& x, const Array& y, double atol, double rtol, bool verbose) {
  catena::check<catena::AssertionError>(x && y, "assert_allclose", x ? "the second" : "the first", " array is null");
  const bool broadcast = x.size() == 1 || y.size() == 1;
  catena::check<catena::AssertionError>(x.shape() == y.shape() || broadcast, "assert_allclose", "the shapes ",
                                        x.shape(), " and ", y.shape(), " differ");
  const std::vector<double> a = to_vector<double>(x), b = to_vector<double>(y);
  const std::size_t n = std::max(a.size(), b.size());
  if (a.empty() || b.empty()) return;
  std::size_t wrong = 0, worst = 0;
  double largest = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = a[a.size() == 1 ? 0 : i], q = b[b.size() == 1 ? 0 : i];
    if (near(p, q, atol, rtol)) continue;
    ++wrong;
    const double difference = std::isnan(p - q) ? INFINITY : std::fabs(p - q);
    if (difference > largest) largest = difference, worst = i;
  }
  if (wrong == 0) return;
  const double p = a[a.size() == 1 ? 0 : worst], q = b[b.size() == 1 ? 0 : worst];
  std::string text =
      catena::concat(wrong, " of ", n, " elements differ by more than atol ", atol, " + rtol ", rtol,
                     "; the largest difference, ", largest, ", is at element ", worst, ": ", p, " and ", q);
  if (verbose) text += "\nx: " + to_string(x) + "\ny: " + to_string(y);
  catena::fail<catena::AssertionError>("assert_allclose", text);
}

}  // namespace autograd::testing
