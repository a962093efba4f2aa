#include <catena/tests/support/framework_golden.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/gradient_check.h>

namespace test {

using namespace autograd;

Array to_array(const catena::NpyArray& a) {
  catena::check<catena::TypeError>(a.dtype.has_value(), "golden", "elements of kind ", a.descr, " are no array");
  return from_host(a.data.data(), a.shape, *a.dtype);
}

Variable GoldenCall::x(const std::string& name) const {
  const auto& names = json_["input_names"];
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return inputs_[i];
  return {};
}

Variables GoldenCall::list(const std::string& name) const {
  Variables v;
  const auto& names = json_["input_names"];
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].get<std::string>().starts_with(name + "[")) v.push_back(inputs_[i]);
  return v;
}

Array GoldenCall::array(const std::string& name) const {
  const Variable v = x(name);
  return v ? v.data() : Array();
}

double GoldenCall::number(const char* arg, double otherwise) const {
  if (!has(arg)) return otherwise;
  const auto& v = args()[arg];
  if (!v.is_string()) return v.get<double>();
  const std::string text = v.get<std::string>();
  return text == "inf" ? INFINITY : text == "-inf" ? -INFINITY : NAN;
}

Dims GoldenCall::dims(const char* arg) const {
  Dims d;
  if (args()[arg].is_array())
    for (const auto& v : args()[arg]) d.push_back(v.get<std::int64_t>());
  else d.push_back(args()[arg].get<std::int64_t>());
  return d;
}

Axes GoldenCall::axes(const char* arg) const { return has(arg) ? Axes(dims(arg)) : Axes(); }

namespace {

void compare(const std::string& what, const Array& actual, const Array& expected, double atol, double rtol) {
  BOOST_CHECK_MESSAGE(bool(actual), what << " is missing");
  if (!actual) return;
  BOOST_CHECK_MESSAGE(actual.dtype() == expected.dtype(),
                      what << " has dtype " << actual.dtype() << ", expected " << expected.dtype());
  BOOST_CHECK_MESSAGE(actual.shape() == expected.shape(),
                      what << " has shape " << actual.shape() << ", expected " << expected.shape());
  if (actual.shape() != expected.shape()) return;
  const std::vector<double> a = to_vector<double>(actual), e = to_vector<double>(expected);
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!close(a[i], e[i], atol, rtol) && wrong++ == 0) first = i;
  if (a.empty()) return;
  BOOST_CHECK_MESSAGE(wrong == 0, what << ": " << wrong << " of " << a.size()
                                       << " elements are wrong, the first is element " << first << ": " << a[first]
                                       << ", expected " << e[first]);
}

Variables load_inputs(const Golden& golden, const Json& c) {
  Variables v;
  for (const auto& key : c["inputs"])
    v.push_back(key.is_null() ? Variable() : Variable(to_array(golden.array(key.get<std::string>()))));
  return v;
}

// Returns deterministic weights in (-1, 1) for second derivatives.
Array weights_like(const Array& a, int seed) {
  std::vector<double> v(static_cast<std::size_t>(a.size()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(1.7 * double(i) + seed);
  return astype(array(v, a.shape()), a.dtype());
}

void check_twice(const Golden& golden, const Json& c, const GoldenFunction& f) {
  // Only inputs with a gradient are varied; the others are passed unchanged.
  const Variables all = load_inputs(golden, c);
  Arrays varied, weights, gy;
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i] || c["grad_inputs"][i].is_null()) continue;
    place.push_back(i);
    varied.push_back(all[i].data());
    weights.push_back(weights_like(all[i].data(), int(i)));
  }
  for (const auto& key : c["grad_outputs"])
    gy.push_back(key.is_null() ? Array() : to_array(golden.array(key.get<std::string>())));
  const auto call = [&](const Variables& in) {
    Variables inputs = all;
    for (std::size_t k = 0; k < place.size(); ++k) inputs[place[k]] = in[k];
    return f(GoldenCall(c, inputs));
  };
  gradient_check::check_double_backward(call, varied, gy, weights, {.eps = 1e-5, .atol = 1e-5, .rtol = 1e-4});
}

void run_case(const Golden& golden, const Json& c, const GoldenFunction& f, bool twice) {
  const std::string name = c["name"].get<std::string>();
  const double atol = c["tolerance"][0].get<double>(), rtol = c["tolerance"][1].get<double>();
  const Variables inputs = load_inputs(golden, c);
  const Variables outputs = f(GoldenCall(c, inputs));
  BOOST_REQUIRE_MESSAGE(outputs.size() == c["outputs"].size(), name << " has " << outputs.size() << " outputs");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    compare(name + " output " + std::to_string(k), outputs[k].data(),
            to_array(golden.array(c["outputs"][k].get<std::string>())), atol, rtol);
  if (c["grad_outputs"].empty()) return;

  Variables joined = identity(outputs);
  for (std::size_t k = 0; k < joined.size(); ++k)
    if (const auto& key = c["grad_outputs"][k]; !key.is_null())
      joined[k].set_grad(to_array(golden.array(key.get<std::string>())));
  joined[0].backward();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string what = name + " gradient of " + c["input_names"][i].get<std::string>();
    const auto& key = c["grad_inputs"][i];
    if (!inputs[i]) continue;
    if (key.is_null()) BOOST_CHECK_MESSAGE(!inputs[i].grad(), what << " is there and should be absent");
    else compare(what, inputs[i].grad(), to_array(golden.array(key.get<std::string>())), atol, rtol);
  }
  if (twice && c["dtype"] == "float64" && !c.value("has_nan", false)) check_twice(golden, c, f);
}

}  // namespace

void run_golden(const std::string& group, const GoldenFunctions& functions, const GoldenOptions& options) {
  const auto golden = Golden::open(group);
  golden.for_each([&](const Json& c) -> std::string {
    const std::string function = c["function"].get<std::string>();
    const auto at = functions.find(function);
    if (at == functions.end()) return function;
    if (const std::string option = options.lacks ? options.lacks(c) : ""; !option.empty())
      return function + " " + option;
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      try {
        run_case(golden, c, at->second, !options.once_only.contains(function));
      } catch (const catena::Error& e) {
        BOOST_ERROR(c["name"].get<std::string>() << " failed: " << e.what());
      }
    }
    return {};
  });
}

}  // namespace test
