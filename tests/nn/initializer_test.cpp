// Initializers: fans, distributions, dtypes, reproducibility.
#include <catena/nn/initializer.h>

#include <cmath>

#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace init = nn::initializers;

namespace {

using Make = std::function<nn::Initializer(const test::Json& args)>;

template <class F> Make scaled(F make, double otherwise) {
  return [make, otherwise](const test::Json& a) { return make(a.value("scale", otherwise), init::Options{}); };
}

const std::map<std::string, Make>& makers() {
  static const std::map<std::string, Make> all = {
      {"Normal", scaled(init::Normal, 0.05)},
      {"GlorotNormal", scaled(init::GlorotNormal, 1.0)},
      {"HeNormal", scaled(init::HeNormal, 1.0)},
      {"Uniform", scaled(init::Uniform, 0.05)},
      {"LeCunUniform", scaled(init::LeCunUniform, 1.0)},
      {"GlorotUniform", scaled(init::GlorotUniform, 1.0)},
      {"HeUniform", scaled(init::HeUniform, 1.0)},
      {"Orthogonal", scaled(init::Orthogonal, 1.1)},
      {"Identity", scaled(init::Identity, 1.0)},
      {"Constant", [](const test::Json& a) { return init::Constant(a["fill_value"].get<double>()); }},
      {"Zero", [](const test::Json&) { return init::Zero(); }},
      {"One", [](const test::Json&) { return init::One(); }},
  };
  return all;
}

struct Sample {
  double mean = 0, deviation = 0, largest = 0;
};
Sample sample_of(const std::vector<double>& v) {
  Sample s;
  for (const double x : v) s.mean += x / double(v.size());
  for (const double x : v) s.deviation += (x - s.mean) * (x - s.mean) / double(v.size());
  s.deviation = std::sqrt(s.deviation);
  for (const double x : v) s.largest = std::max(s.largest, std::fabs(x));
  return s;
}

// Within 5 standard errors of the mean and 5 % of the deviation, inside the bound.
void check_distribution(const test::Json& c, const std::vector<double>& v) {
  const Sample s = sample_of(v);
  const double deviation = c["std"].get<double>();
  BOOST_TEST(std::fabs(s.mean - c["mean"].get<double>()) <= 5 * deviation / std::sqrt(double(v.size())));
  BOOST_TEST(std::fabs(s.deviation - deviation) <= 0.05 * deviation);
  if (c["bound"].is_null()) {
    BOOST_TEST(s.largest > 3 * deviation);  // a normal distribution has tails
  } else {
    BOOST_TEST(s.largest <= c["bound"].get<double>() * (1 + 1e-6));
    BOOST_TEST(s.largest > 0.99 * c["bound"].get<double>());
  }
}

void check_orthogonal(const test::Json& c, const std::vector<double>& q, std::size_t rows) {
  const std::size_t cols = q.size() / rows;
  double worst = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      double dot = 0;
      for (std::size_t k = 0; k < cols; ++k) dot += q[i * cols + k] * q[j * cols + k];
      worst = std::max(worst, std::fabs(dot - (i == j ? c["gram"].get<double>() : 0.0)));
    }
  }
  BOOST_TEST(worst < 1e-5);
}

void check_identity(const test::Json& c, const std::vector<double>& v, std::size_t rows) {
  const double value = c["value"];
  BOOST_REQUIRE(v.size() == rows * rows);
  for (std::size_t i = 0; i < v.size(); ++i) BOOST_REQUIRE(v[i] == (i / rows == i % rows ? value : 0.0));
}

// Links by the text of the case, which is how the reference was called.
std::unique_ptr<nn::Link> make_link(const std::string& call) {
  if (call == "Linear(100, 200)") return std::make_unique<nn::Linear>(100, 200);
  if (call == "Linear(100, 200, wscale=4)")
    return std::make_unique<nn::Linear>(100, 200, nn::LinearOptions{.wscale = 4.0});
  if (call == "Linear(50, 80, bias=0.5)")
    return std::make_unique<nn::Linear>(50, 80, nn::LinearOptions{.initial_bias = 0.5});
  if (call == "Convolution2D(16, 32, 3)") return std::make_unique<nn::Convolution2D>(16, 32, 3);
  if (call == "DilatedConvolution2D(16, 32, 3)")
    return std::make_unique<nn::DilatedConvolution2D>(16, 32, 3, nn::Convolution2DOptions{.dilate = 2});
  if (call == "Deconvolution2D(16, 32, 3)") return std::make_unique<nn::Deconvolution2D>(16, 32, 3);
  if (call == "DepthwiseConvolution2D(16, 8, 3)") return std::make_unique<nn::DepthwiseConvolution2D>(16, 8, 3);
  if (call == "ConvolutionND(3, 8, 16, 3)") return std::make_unique<nn::ConvolutionND>(3, 8, 16, 3);
  if (call == "DeconvolutionND(3, 8, 16, 3)") return std::make_unique<nn::DeconvolutionND>(3, 8, 16, 3);
  if (call == "Inception(8, 4, 4, 4, 4, 4, 4)") return std::make_unique<nn::Inception>(8, 4, 4, 4, 4, 4, 4);
  if (call == "BatchNormalization(5)") return std::make_unique<nn::BatchNormalization>(5);
  if (call == "LayerNormalization(5)") return std::make_unique<nn::LayerNormalization>(5);
  if (call == "EmbedID(100, 50)") return std::make_unique<nn::EmbedID>(100, 50);
  if (call == "Bilinear(20, 30, 40)") return std::make_unique<nn::Bilinear>(20, 30, 40);
  if (call == "Highway(60)") return std::make_unique<nn::Highway>(60);
  if (call == "Maxout(40, 30, 3)") return std::make_unique<nn::Maxout>(40, 30, 3);
  if (call == "PReLU((3,))") return std::make_unique<nn::PReLU>(Shape{3});
  if (call == "CRF1d(4)") return std::make_unique<nn::CRF1d>(4);
  if (call == "Scale(1, (3,), True)") return std::make_unique<nn::Scale>(1, Shape{3}, true);
  if (call == "NegativeSampling(20, [1, 2, 3], 2)")
    return std::make_unique<nn::NegativeSampling>(20, std::vector<int>{1, 2, 3}, 2);
  if (call == "BinaryHierarchicalSoftmax(50, tree of 64 leaves)") {
    std::vector<std::pair<std::int64_t, double>> counts;
    for (int k = 0; k < 64; ++k) counts.emplace_back(k, 1.0);
    return std::make_unique<nn::BinaryHierarchicalSoftmax>(50, nn::create_huffman_tree(counts));
  }
  if (call == "LSTM(60, 80)") return std::make_unique<nn::LSTM>(60, 80);
  if (call == "LSTM(3, 2, bias_init=1, forget_bias_init=5)")
    return std::make_unique<nn::LSTM>(3, 2, nn::LSTMOptions{.bias_init = 1.0, .forget_bias_init = 5.0});
  if (call == "GRU(60)") return std::make_unique<nn::GRU>(60);
  if (call == "NStepLSTM(2, 50, 60, 0.0)") return std::make_unique<nn::NStepLSTM>(2, 50, 60, 0.0);
  if (call == "NStepGRU(1, 50, 60, 0.0)") return std::make_unique<nn::NStepGRU>(1, 50, 60, 0.0);
  if (call == "StatefulPeepholeLSTM(60, 50)") return std::make_unique<nn::StatefulPeepholeLSTM>(60, 50);
  if (call == "StatefulZoneoutLSTM(60, 50)") return std::make_unique<nn::StatefulZoneoutLSTM>(60, 50);
  return nullptr;
}

// The parameters of a link that was just built: the shapes, what is constant, the deviation of what is random. Returns
// the name of a link that is not there.
std::string check_fresh_link(const test::Json& c) {
  const std::string call = c["link"];
  const std::unique_ptr<nn::Link> link = make_link(call);
  if (!link) return call.substr(0, call.find('('));
  BOOST_TEST_CONTEXT(call) {
    BOOST_TEST(link->namedparams().size() == c["params"].size());
    for (const nn::NamedParam& p : link->namedparams()) BOOST_TEST_CONTEXT(p.path) {
        BOOST_REQUIRE(c["params"].contains(p.path.substr(1)));
        const test::Json& expected = c["params"][p.path.substr(1)];
        BOOST_TEST(p.param.shape() == Shape(expected["shape"].get<std::vector<std::int64_t>>()));
        const std::vector<double> v = values(p.param.data());
        if (expected["constant"].get<bool>()) {
          for (const double x : v) BOOST_REQUIRE(x == expected["sample_mean"].get<double>());
          continue;
        }
        if (p.param.ndim() == 1) {  // biases that differ from gate to gate
          BOOST_TEST(v == expected["values"].get<std::vector<double>>(), boost::test_tools::per_element());
          continue;
        }
        // Of few numbers, both deviations are uncertain: five times that of their quotient.
        const double deviation = expected["sample_std"],
                     tolerance = v.size() > 500 ? 0.15 : 5 / std::sqrt(double(v.size()));
        BOOST_TEST(std::fabs(sample_of(v).deviation - deviation) <= tolerance * deviation);
        BOOST_TEST(std::fabs(sample_of(v).mean) <= 5 * deviation / std::sqrt(double(v.size())));
      }
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(initializer_suite)

BOOST_AUTO_TEST_CASE(golden_distributions) {
  const auto golden = Golden::open("initializers");
  autograd::seed(7);
  golden.for_each([&](const test::Json& c) -> std::string {
    if (c.contains("link")) return check_fresh_link(c);
    const std::string name = c["initializer"];
    const auto maker = makers().find(name);
    if (maker == makers().end()) return name;
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      const Shape shape(c["shape"].get<std::vector<std::int64_t>>());
      const Array a = nn::generate_array(maker->second(c["args"]), shape);
      BOOST_TEST((a.dtype() == Dtype::float32));
      if (shape.size() >= 2) {
        BOOST_TEST(nn::get_fans(shape).fan_in == c["fan_in"].get<std::int64_t>());
        BOOST_TEST(nn::get_fans(shape).fan_out == c["fan_out"].get<std::int64_t>());
      }
      const std::vector<double> v = values(a);
      const std::string distribution = c["distribution"];
      if (distribution == "normal" || distribution == "uniform") check_distribution(c, v);
      else if (distribution == "orthogonal") check_orthogonal(c, v, std::size_t(shape[0]));
      else if (distribution == "constant")
        for (const double x : v) BOOST_REQUIRE(x == c["value"].get<double>());
      else if (distribution == "identity") check_identity(c, v, std::size_t(shape[0]));
      else BOOST_ERROR("an unknown distribution: " << distribution);
    }
    return {};
  });
}

BOOST_AUTO_TEST_CASE(fans_need_two_axes) {
  BOOST_TEST(nn::get_fans({5, 3, 2, 2}).fan_in == 12);
  BOOST_TEST(nn::get_fans({5, 3, 2, 2}).fan_out == 5);
  BOOST_TEST(has(message_of<catena::ValueError>([] { nn::get_fans({5}); }), "(5"));
  BOOST_CHECK_THROW(nn::generate_array(init::HeNormal(), {5}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(identity_and_orthogonal_shapes) {
  BOOST_TEST(
      values(nn::generate_array(init::Identity(2.0), {3, 3})) == (std::vector<double>{2, 0, 0, 0, 2, 0, 0, 0, 2}),
      boost::test_tools::per_element());
  BOOST_CHECK_THROW(nn::generate_array(init::Identity(), {2, 3}), catena::ValueError);
  BOOST_CHECK_THROW(nn::generate_array(init::Identity(), {2, 2, 2}), catena::ValueError);
  BOOST_CHECK_THROW(nn::generate_array(init::Orthogonal(), {3, 2}), catena::ValueError);
  BOOST_CHECK_THROW(nn::generate_array(init::Orthogonal(), {0, 2}), catena::ValueError);
  BOOST_TEST(values(nn::generate_array(init::Orthogonal(1.5), {})) == std::vector<double>{1.5},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(init_weight_defaults_and_scale) {
  autograd::seed(3);
  Array a = autograd::arrays::empty({200, 400});
  nn::init_weight(a);  // HeNormal(1 / sqrt 2): deviation 1 / sqrt(fan in)
  BOOST_TEST(std::fabs(sample_of(values(a)).deviation - 0.05) < 0.0005);
  nn::init_weight(a, 3.0, 0.5);
  BOOST_TEST(values(a) == std::vector<double>(80000, 1.5), boost::test_tools::per_element());
  Array b = autograd::arrays::empty({2, 2});
  nn::init_weight(b, nn::Initializer(floats({1, 2}, {2})));  // broadcast
  BOOST_TEST(values(b) == (std::vector<double>{1, 2, 1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_seed_gives_the_same_values) {
  autograd::seed(11);
  const Array a = nn::generate_array(init::HeNormal(), {30, 20}), b = nn::generate_array(init::HeNormal(), {30, 20});
  autograd::seed(11);
  BOOST_TEST(same_bits(a, nn::generate_array(init::HeNormal(), {30, 20})));
  BOOST_TEST(!same_bits(a, b));
}

BOOST_AUTO_TEST_CASE(the_dtype_is_checked) {
  for (const nn::Initializer& i :
       {init::Normal(1.0, {.dtype = Dtype::float16}), init::Zero({.dtype = Dtype::float16}),
        init::Orthogonal(1.0, {.dtype = Dtype::float16}), nn::Initializer([](const Array&) {}, Dtype::float16)}) {
    Array half = autograd::arrays::full({2, 2}, 7, Dtype::float16), single = autograd::arrays::full({2, 2}, 7);
    BOOST_CHECK_NO_THROW(i(half));
    BOOST_TEST(
        has(message_of<catena::AssertionError>([&] { i(single); }), "for arrays of float16, this one is float32"));
    BOOST_CHECK_THROW(nn::init_weight(single, i), catena::AssertionError);
    BOOST_TEST(values(single) == std::vector<double>(4, 7), boost::test_tools::per_element());
  }
  Array any = autograd::arrays::empty({2, 2}, Dtype::float64);
  BOOST_CHECK_NO_THROW(init::Normal()(any));  // without a dtype it takes every one
}

BOOST_AUTO_TEST_CASE(dtypes) {
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
    const Array a = nn::generate_array(init::Uniform(0.5, {.dtype = t}), {40, 40});
    BOOST_TEST((a.dtype() == t));
    const Sample s = sample_of(values(a));
    BOOST_TEST(s.largest <= 0.5);
    BOOST_TEST(std::fabs(s.deviation - 0.5 / std::sqrt(3.0)) < 0.02);
  }
}

// Each with a scale and a dtype of its own, on (30, 20): the fans are 20 and 30.
BOOST_AUTO_TEST_CASE(arrays_of_a_given_dtype) {
  for (const Dtype t : {Dtype::float16, Dtype::float32, Dtype::float64}) {
    const Array a = init::generate_array(init::Constant(0.5), {2, 3}, t);
    BOOST_TEST(a.dtype() == t);
    BOOST_TEST(a.shape() == (Shape{2, 3}));
    BOOST_TEST(values(a) == std::vector<double>(6, 0.5), boost::test_tools::per_element());
  }
  BOOST_TEST(nn::generate_array(init::One({.dtype = Dtype::float64}), {1}, Dtype::float64).dtype() == Dtype::float64);
  const std::string said = message_of<catena::ValueError>(
      [] { nn::generate_array(init::One({.dtype = Dtype::float64}), {1}, Dtype::float32); });
  BOOST_TEST(has(said, "float64"));
  BOOST_TEST(has(said, "float32"));
}

BOOST_AUTO_TEST_CASE(scales_and_dtypes) {
  autograd::seed(2);
  const auto drawn = [](const nn::Initializer& i) {
    const Array a = nn::generate_array(i, {30, 20});
    BOOST_TEST((a.dtype() == Dtype::float64));
    return sample_of(values(a));
  };
  const struct {
    const char* name;
    nn::Initializer initializer;
    double deviation;
  } normals[] = {{"Normal", init::Normal(0.5, {.dtype = Dtype::float64}), 0.5},
                 {"GlorotNormal", init::GlorotNormal(3.0, {.dtype = Dtype::float64}), 3 * std::sqrt(2.0 / 50)},
                 {"HeNormal", init::HeNormal(3.0, {.dtype = Dtype::float64}), 3 * std::sqrt(2.0 / 20)}};
  for (const auto& n : normals)  // five standard errors of the deviation of 600 numbers
    BOOST_TEST(std::fabs(drawn(n.initializer).deviation / n.deviation - 1) < 5 / std::sqrt(1200.0), n.name);
  const struct {
    const char* name;
    nn::Initializer initializer;
    double bound;
  } uniforms[] = {{"Uniform", init::Uniform(0.5, {.dtype = Dtype::float64}), 0.5},
                  {"LeCunUniform", init::LeCunUniform(3.0, {.dtype = Dtype::float64}), 3 * std::sqrt(3.0 / 20)},
                  {"GlorotUniform", init::GlorotUniform(3.0, {.dtype = Dtype::float64}), 3 * std::sqrt(6.0 / 50)},
                  {"HeUniform", init::HeUniform(3.0, {.dtype = Dtype::float64}), 3 * std::sqrt(6.0 / 20)}};
  for (const auto& u : uniforms) {
    const double largest = drawn(u.initializer).largest;
    BOOST_TEST(largest <= u.bound, u.name);
    BOOST_TEST(largest > 0.95 * u.bound, u.name);  // missed by one of 5e13 drawings of 600 numbers
  }
  const nn::Initializer constants[] = {init::Constant(0.5, {.dtype = Dtype::float64}),
                                       init::Zero({.dtype = Dtype::float64}), init::One({.dtype = Dtype::float64}),
                                       init::Identity(0.5, {.dtype = Dtype::float64}),
                                       init::Orthogonal(0.5, {.dtype = Dtype::float64})};
  const double squares[] = {2.25, 0, 9, 0.75, 0.75};  // of all nine elements
  for (std::size_t i = 0; i < 5; ++i) {
    const Array a = nn::generate_array(constants[i], {3, 3});
    BOOST_TEST((a.dtype() == Dtype::float64));
    double sum = 0;
    for (const double v : values(a)) sum += v * v;
    BOOST_TEST(std::fabs(sum - squares[i]) < 1e-12);
  }
}

BOOST_AUTO_TEST_SUITE_END()
