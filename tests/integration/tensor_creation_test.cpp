// PyTorch's functions that make tensors, and those whose results have no gradient.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/catena.h>

using autograd::tensor;
using autograd::Variable;
using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;

namespace {

Doubles of(const Variable& v) { return nd::Array(v.data()).astype(nd::float64).to_vector<double>(); }
Doubles of(const autograd::Array& a) { return nd::Array(a).astype(nd::float64).to_vector<double>(); }
template <class A> void check(const A& a, const Doubles& expected) {
  BOOST_TEST(of(a) == expected, boost::test_tools::per_element());
}
void check_kind(const Variable& v, nd::Dtype dtype, const nd::Shape& shape, bool requires_grad = false) {
  BOOST_TEST(v.dtype() == dtype);
  BOOST_TEST(v.shape() == shape);
  BOOST_TEST(v.requires_grad() == requires_grad);
  BOOST_TEST((v.creator() == nullptr));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_creation)

BOOST_AUTO_TEST_CASE(kinds) {
  using autograd::TensorOptions;
  check_kind(autograd::randn({2, 3}), nd::float32, {2, 3});
  check_kind(autograd::randn(2, 3), nd::float32, {2, 3});
  check_kind(autograd::randn(4), nd::float32, {4});
  check_kind(autograd::rand({2}, nd::float64), nd::float64, {2});
  check_kind(autograd::rand(2, 3, 4, {.requires_grad = true}), nd::float32, {2, 3, 4}, true);
  check_kind(autograd::randn(1, 2, 3, 4, {.dtype = autograd::float16}), nd::float16, {1, 2, 3, 4});
  check_kind(autograd::ones({2}, {.dtype = autograd::long_}), nd::int64, {2});
  check_kind(autograd::ones({2}, {.dtype = autograd::int_}), nd::int32, {2});
  check_kind(autograd::ones({2}, {.dtype = autograd::float_}), nd::float32, {2});
  check_kind(autograd::zeros({2, 3}, {.dtype = nd::int64, .device = nd::Device()}), nd::int64, {2, 3});
  check_kind(autograd::ones(2, 3), nd::float32, {2, 3});
  check_kind(autograd::empty(2, 3, {.dtype = autograd::kDouble}), nd::float64, {2, 3});
  check_kind(autograd::full({2}, 7.0, {.requires_grad = true}), nd::float32, {2}, true);
  check_kind(autograd::randint(0, 10, {2, 3}), nd::int64, {2, 3});
  check_kind(autograd::randint(10, {4}), nd::int64, {4});
  check_kind(autograd::randint(0, 2, {4}, nd::float32), nd::float32, {4});
  check_kind(autograd::randperm(5), nd::int64, {5});
  check_kind(autograd::normal(0, 1, {2, 3}), nd::float32, {2, 3});
  check_kind(autograd::eye(3), nd::float32, {3, 3});
  check_kind(autograd::arange(0, 1, 0.25, {.requires_grad = true}), nd::float32, {4}, true);
  const Variable x = autograd::randn({2, 3}, nd::float64);
  check_kind(autograd::randn_like(x), nd::float64, {2, 3});
  check_kind(autograd::rand_like(x, nd::float32), nd::float32, {2, 3});
  check_kind(autograd::zeros_like(x, {.requires_grad = true}), nd::float64, {2, 3}, true);
  check_kind(autograd::empty_like(x), nd::float64, {2, 3});
  check_kind(autograd::randint_like(x, 0, 3), nd::float64, {2, 3});
  const autograd::Array plain = autograd::arrays::zeros({2});
  const autograd::Array same_shape = autograd::zeros_like(plain);
  check(same_shape, {0, 0});
  const autograd::using_config scope({.dtype = nd::float64});
  check_kind(autograd::rand(2, 2), nd::float64, {2, 2});
}

BOOST_AUTO_TEST_CASE(values) {
  check(autograd::ones({2}, {.requires_grad = true}), {1, 1});
  check(autograd::full({2}, 7.5, {.dtype = nd::float64}), {7.5, 7.5});
  check(autograd::full_like(tensor({1.0, 2.0}), 3), {3, 3});
  check(autograd::ones_like(tensor({1.0, 2.0})), {1, 1});
  check(autograd::eye(2, 3), {1, 0, 0, 0, 1, 0});
  check(autograd::arange(2, 5), {2, 3, 4});
  check(autograd::arange(5, 0, -2), {5, 3, 1});
  check(autograd::arrays::arange(3.0), {0, 1, 2});
  check(autograd::arange(0, 1, 0.25), {0, 0.25, 0.5, 0.75});
  check(autograd::linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1});
  check(autograd::logspace(0, 3, 4), {1, 10, 100, 1000});
  check(autograd::logspace(0, 2, 3, 2), {1, 2, 4});
  check(autograd::normal(2, 0, {2}), {2, 2});
  check(autograd::normal(tensor({1.0, 5.0}), tensor({0.0, 0.0})), {1, 5});
  check(autograd::bernoulli(tensor({0.0, 1.0})), {0, 1});
  check(autograd::bernoulli(tensor({5.0, 5.0}), 1), {1, 1});
  check(autograd::poisson(tensor({0.0, 0.0})), {0, 0});
  check(autograd::scalar_tensor(3), {3});
  check_kind(autograd::scalar_tensor(3), nd::float32, {});
  const std::int64_t large = (std::int64_t(1) << 53) + 1;
  BOOST_TEST(autograd::scalar_tensor(large, {.dtype = nd::int64}).item<std::int64_t>() == large);
  const nd::complex128_t z(1, 2);
  check_kind(autograd::scalar_tensor(z), nd::complex64, {});
  BOOST_TEST((autograd::scalar_tensor(z, {.dtype = nd::complex128}).item<nd::complex128_t>() == z));
  check_kind(autograd::full({2}, z), nd::complex64, {2});
  {
    const autograd::using_config scope({.dtype = nd::float64});
    check_kind(autograd::full({2}, z), nd::complex128, {2});
    check_kind(autograd::scalar_tensor(z), nd::complex128, {});
    check_kind(autograd::scalar_tensor(3), nd::float64, {});
  }
}

BOOST_AUTO_TEST_CASE(random_numbers_follow_the_seed) {
  const auto draw = [] {
    autograd::manual_seed(7);
    Doubles all = of(autograd::randn({3}));
    for (const Variable& v : {autograd::rand({3}), autograd::randint(0, 1000, {3}), autograd::randperm(4),
                              autograd::multinomial(tensor({1.0, 2.0, 3.0}), 2)})
      for (const double x : of(v)) all.push_back(x);
    return all;
  };
  const Doubles first = draw();
  BOOST_TEST(first == draw(), boost::test_tools::per_element());
  const Variable z = autograd::randn({20000});
  BOOST_TEST(std::abs(z.mean().item()) < 0.05);
  BOOST_TEST(z.std().item() == 1, boost::test_tools::tolerance(0.05));
  const Variable i = autograd::randint(-2, 2, {1000});
  check(autograd::unique(i), {-2, -1, 0, 1});
  check(autograd::sort(autograd::randperm(6)).values, {0, 1, 2, 3, 4, 5});
}

BOOST_AUTO_TEST_CASE(samples_of_weights) {
  autograd::manual_seed(1);
  const Variable w = tensor({0.0, 3.0, 1.0, 0.0});
  check(autograd::sort(autograd::multinomial(w, 2)).values, {1, 2});
  const Variable many = autograd::multinomial(w, 4000, {.replacement = true});
  BOOST_TEST(many.shape() == (nd::Shape{4000}));
  const Doubles counts = of(autograd::bincount(many, {.minlength = 4}));
  BOOST_TEST(counts[0] == 0);
  BOOST_TEST(counts[3] == 0);
  BOOST_TEST(counts[1] == 3000, boost::test_tools::tolerance(0.1));
  BOOST_TEST(autograd::multinomial(tensor({{1.0, 0.0}, {0.0, 1.0}}), 1).shape() == (nd::Shape{2, 1}));
  check(autograd::sort(autograd::multinomial(w, {.num_samples = 2})).values, {1, 2});
  BOOST_TEST(autograd::multinomial(w, {.num_samples = 5, .replacement = true}).shape() == (nd::Shape{5}));
  check(autograd::multinomial(tensor({{1.0, 0.0}, {0.0, 1.0}}), 3, true), {0, 0, 0, 1, 1, 1});
  BOOST_CHECK_THROW(autograd::multinomial(w, 3), catena::ValueError);
  BOOST_CHECK_THROW(autograd::multinomial(tensor({-1.0, 2.0}), 1), catena::ValueError);
  BOOST_CHECK_THROW(autograd::multinomial(tensor({0.0, 0.0}), 1, true), catena::ValueError);
  BOOST_CHECK_THROW(autograd::multinomial(tensor({{{1.0}}}), 1), catena::ValueError);
}

// x % y has the sign of y, and integers stay integers.
BOOST_AUTO_TEST_CASE(remainders) {
  const Variable i = tensor({-7, 7, 12});
  check(i % 5, {3, 2, 2});
  BOOST_TEST((i % 5).dtype() == nd::int64);
  check(i % tensor({2, -4, 5}), {1, -1, 2});
  check(tensor({5.5, -1.0}) % 2.0, {1.5, 1});
  check(i % nd::array({4, 4, 5}), {1, 3, 2});
}

BOOST_AUTO_TEST_CASE(devices_by_their_names) {
  BOOST_TEST((autograd::randn({2}, {.device = "cpu"}).device() == nd::Device()));
  const std::string name = "cpu";
  BOOST_TEST((tensor({1, 2}, {.device = name}).device() == nd::Device()));
  BOOST_CHECK_THROW(autograd::zeros({2}, {.device = "gpu"}), catena::ValueError);
  BOOST_TEST(autograd::cuda::is_available() == (autograd::cuda::device_count() > 0));
  BOOST_TEST(autograd::cuda::is_available() == nd::is_available(nd::Device::Kind::cuda));
  const bool before = autograd::is_debug();
  {
    const autograd::detect_anomaly scope;
    BOOST_TEST(autograd::is_debug());
    autograd::set_detect_anomaly(false);
    BOOST_TEST(!autograd::is_debug());
  }
  BOOST_TEST(autograd::is_debug() == before);
}

BOOST_AUTO_TEST_CASE(from_data) {
  const nd::Array a = nd::arange(3, nd::float32);
  const Variable shared = autograd::from_numpy(a);
  a(0) = 5;
  check(shared, {5, 1, 2});
  float memory[4] = {1, 2, 3, 4};
  const Variable blob = autograd::from_blob(memory, {2, 2});
  memory[3] = 9;
  check(blob, {1, 2, 3, 9});
  BOOST_TEST(!blob.requires_grad());
  check(autograd::as_tensor(a), {5, 1, 2});
  a(1) = 7;
  check(autograd::as_tensor(a), {5, 7, 2});
  check(autograd::as_tensor({1.0, 2.0}, {.dtype = nd::int32}), {1, 2});
  check(autograd::as_tensor(std::vector<float>{1, 2}), {1, 2});
  BOOST_TEST(autograd::as_tensor(blob).is_same(blob));
  BOOST_TEST((autograd::as_tensor(blob, nd::float64).dtype() == nd::float64));
  // The graph stays, also of another dtype.
  const Variable w = tensor({1.0, 2.0}, {.requires_grad = true});
  BOOST_TEST(autograd::as_tensor(w).is_same(w));
  (autograd::as_tensor(w * 3, nd::float64) * 2).sum().backward();
  BOOST_TEST(autograd::to_vector<double>(w.grad()) == (std::vector<double>{6, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_default_dtype) {
  BOOST_TEST((autograd::get_default_dtype() == nd::float32));
  autograd::set_default_dtype(nd::float64);
  BOOST_TEST((autograd::randn({2}).dtype() == nd::float64));
  autograd::set_default_dtype(nd::float32);
  BOOST_TEST((autograd::randn({2}).dtype() == nd::float32));
  BOOST_CHECK_THROW(autograd::set_default_dtype(nd::int32), catena::TypeError);
  // Other entries of the configuration stay as they are.
  {
    const auto scope = autograd::train_mode(false);
    autograd::set_default_dtype(nd::float64);
    BOOST_TEST(!autograd::config().train);
    autograd::set_default_dtype(nd::float32);
    BOOST_TEST(!autograd::config().train);
  }
  BOOST_TEST(autograd::config().train);
}

BOOST_AUTO_TEST_CASE(errors) {
  BOOST_CHECK_THROW(autograd::zeros({2}, {.dtype = nd::int64, .requires_grad = true}), catena::TypeError);
  BOOST_CHECK_THROW(autograd::randn({2}, nd::int64), catena::TypeError);
  BOOST_CHECK_THROW(autograd::randint(3, 3, {2}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::randperm(-1), catena::ValueError);
  BOOST_CHECK_THROW(autograd::normal(0, -1, {2}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::arange(0, 1, 0), catena::ValueError);
  BOOST_CHECK_THROW(autograd::bernoulli(tensor({1.0}), 2), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(comparisons_and_tests) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Variable x = tensor({1.0, nan, inf, -inf, 0.0}), y = tensor({1, 2, 3});
  check(autograd::isnan(x), {0, 1, 0, 0, 0});
  check(x.isinf(), {0, 0, 1, 1, 0});
  check(autograd::isfinite(x), {1, 0, 0, 0, 1});
  check(autograd::isneginf(x), {0, 0, 0, 1, 0});
  check(autograd::isposinf(x), {0, 0, 1, 0, 0});
  check(autograd::signbit(tensor({-1.0, 2.0})), {1, 0});
  check(autograd::isreal(y), {1, 1, 1});
  check(autograd::gt(y, 1), {0, 1, 1});
  check(autograd::le(y, y), {1, 1, 1});
  check(autograd::eq(nd::array({1, 0, 3}), y), {1, 0, 1});
  check(autograd::ne(y, 2), {1, 0, 1});
  check(autograd::less(2, y), {0, 0, 1});
  check(autograd::logical_and(y > 1, y < 3), {0, 1, 0});
  check(autograd::logical_or(y > 2, y < 2), {1, 0, 1});
  check(autograd::logical_xor(y > 1, y < 3), {1, 0, 1});
  check(autograd::logical_not(y > 1), {1, 0, 0});
  check(y.bitwise_and(2), {0, 2, 2});
  check(autograd::bitwise_or(y, 4), {5, 6, 7});
  check(autograd::bitwise_xor(y, y), {0, 0, 0});
  check(autograd::bitwise_not(y), {-2, -3, -4});
  check(autograd::bitwise_left_shift(y, 1), {2, 4, 6});
  check(autograd::bitwise_right_shift(y, 1), {0, 1, 1});
  check(autograd::gcd(y, 6), {1, 2, 3});
  check(autograd::lcm(y, 2), {2, 2, 6});
  check(autograd::heaviside(tensor({-1.0, 0.0, 2.0}), 0.5), {0, 0.5, 1});
  check(autograd::nextafter(tensor({1.0}, nd::float64), 2.0), {std::nextafter(1.0, 2.0)});
  BOOST_TEST(autograd::equal(y, tensor({1, 2, 3})));
  BOOST_TEST(!autograd::equal(y, tensor({1, 2})));
  BOOST_TEST(autograd::allclose(tensor({1.0}), tensor({1.0 + 1e-6})));
  BOOST_TEST(!autograd::allclose(tensor({1.0}), tensor({1.1})));
  BOOST_TEST(autograd::allclose(tensor({1.0}), tensor({1.1}), 0.2));
  BOOST_TEST(autograd::allclose(tensor({1.0}), tensor({1.1}), {.atol = 0.2}));
  BOOST_TEST(!autograd::allclose(x, x));
  BOOST_TEST(x.allclose(x, 1e-5, 1e-8, true));
  check(autograd::isclose(x, x, {.equal_nan = true}), {1, 1, 1, 1, 1});
  check(autograd::isclose(y, 2, 0.6), {1, 1, 1});
  check(autograd::isin(y, tensor({3, 1})), {1, 0, 1});
  check(autograd::isin(y, tensor({3, 1}), {.invert = true}), {0, 1, 0});
  if (!(y > 2).any()) BOOST_ERROR("a comparison that holds somewhere");
  BOOST_CHECK_THROW(autograd::bitwise_and(x, 1), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(reductions_of_truth) {
  const Variable x = tensor({{0, 2}, {0, 0}});
  check(autograd::any(x), {1});
  check(autograd::any(x, 1), {1, 0});
  check(x.any({.dim = 0}), {0, 1});
  check(x.all(), {0});
  check(autograd::all(x + 1, {.dim = 1}), {1, 1});
  BOOST_TEST(autograd::any(x, {.dim = 1, .keepdim = true}).shape() == (nd::Shape{2, 1}));
  check(autograd::count_nonzero(x), {1});
  check(autograd::count_nonzero(x, 0), {0, 1});
}

BOOST_AUTO_TEST_CASE(positions) {
  const Variable x = tensor({{0, 2}, {3, 0}});
  check(autograd::nonzero(x), {0, 1, 1, 0});
  check(x.argwhere(), {0, 1, 1, 0});
  const auto rows = autograd::nonzero(x, {.as_tuple = true});
  check(rows[0], {0, 1});
  check(rows[1], {1, 0});
  check(autograd::where(x > 0)[1], {1, 0});
  check(autograd::where(x > 0, 1, -1), {-1, 1, 1, -1});
  check_kind(autograd::where(x > 0, 1, -1), nd::int64, {2, 2});
  check_kind(autograd::where(x > 0, 1.0, 0.0), nd::float32, {2, 2});
  const Variable sorted = tensor({1.0, 3.0, 5.0});
  check(autograd::searchsorted(sorted, tensor({3.0, 6.0})), {1, 3});
  check(autograd::searchsorted(sorted, tensor({3.0, 6.0}), {.right = true}), {2, 3});
  check(autograd::searchsorted(tensor({{1.0, 3.0}, {0.0, 9.0}}), tensor({{2.0}, {2.0}})), {1, 1});
  check(autograd::bucketize(tensor({{0.0, 3.0}}), sorted), {0, 1});
  check(autograd::bucketize(4.0, sorted), {2});
  const auto coordinates = autograd::unravel_index(tensor({5, 0}), {2, 3});
  check(coordinates[0], {1, 0});
  check(coordinates[1], {2, 0});
  BOOST_CHECK_THROW(autograd::unravel_index(tensor({6}), {2, 3}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::searchsorted(tensor({{1.0}}), tensor({1.0})), catena::ValueError);
  BOOST_CHECK_THROW(autograd::bucketize(1.0, tensor({{1.0}})), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(distinct_elements_and_counts) {
  const Variable x = tensor({3, 1, 1, 3, 2});
  check(autograd::unique(x), {1, 2, 3});
  const auto [values, inverse, counts] = autograd::unique(x, {.return_inverse = true, .return_counts = true});
  check(values, {1, 2, 3});
  check(inverse, {2, 0, 0, 2, 1});
  check(counts, {2, 1, 2});
  const Variable alone = autograd::unique(tensor({{1, 2}, {1, 2}}), {.dim = 0});
  check(alone, {1, 2});
  check(autograd::unique_consecutive(x), {3, 1, 3, 2});
  const auto runs = autograd::unique_consecutive(x, {.return_inverse = true, .return_counts = true});
  check(runs.inverse_indices, {0, 1, 1, 2, 3});
  check(runs.counts, {1, 2, 1, 1});
  BOOST_TEST(autograd::unique_consecutive(autograd::arrays::zeros({0})).size() == 0);
  check(autograd::bincount(x), {0, 2, 1, 2});
  check(autograd::bincount(x, {.minlength = 6}), {0, 2, 1, 2, 0, 0});
  check(autograd::bincount(x, tensor({1.0, 2.0, 3.0, 4.0, 5.0})), {0, 5, 5, 5});
  check(autograd::histc(tensor({1.0, 2.0, 1.0}), {.bins = 4, .min = 0, .max = 3}), {0, 2, 1, 0});
  check(autograd::histc(tensor({1.0, 2.0, 4.0}), 3), {1, 1, 1});
  BOOST_CHECK_THROW(autograd::bincount(x, {.minlength = -1}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::histc(x), catena::TypeError);
  BOOST_CHECK_THROW(autograd::histc(tensor({1.0}), 0), catena::ValueError);
  BOOST_CHECK_THROW(autograd::histc(tensor({1.0}), 3, 2, 1), catena::ValueError);
  BOOST_CHECK_THROW(autograd::unique_consecutive(x, {.dim = 0}), catena::ValueError);
  // The confusion matrix of predicting class 0.
  const Variable y = tensor({0, 1, 1});
  check(autograd::bincount(y * 2 + autograd::zeros_like(y), {.minlength = 4}).reshape({2, 2}), {1, 0, 2, 0});
}

BOOST_AUTO_TEST_CASE(complex_numbers) {
  const Variable z = autograd::complex(tensor({3.0, 0.0}), tensor({4.0, -1.0}));
  BOOST_TEST(z.is_complex());
  check(autograd::real(z), {3, 0});
  check(autograd::imag(z), {4, -1});
  check(autograd::imag(autograd::conj(z)), {-4, 1});
  check(autograd::view_as_real(z), {3, 4, 0, -1});
  BOOST_TEST(autograd::view_as_real(z).shape() == (nd::Shape{2, 2}));
  check(autograd::imag(autograd::view_as_complex(autograd::view_as_real(z))), {4, -1});
  const Variable p = autograd::polar(tensor({2.0}, nd::float64), tensor({0.5}, nd::float64));
  BOOST_TEST(of(autograd::real(p))[0] == 2 * std::cos(0.5), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(of(autograd::angle(p))[0] == 0.5, boost::test_tools::tolerance(1e-12));
  BOOST_CHECK_THROW(autograd::complex(tensor({1.0}), tensor({1.0}, nd::float64)), catena::TypeError);
  BOOST_CHECK_THROW(autograd::complex(tensor({1}), tensor({1})), catena::TypeError);
  BOOST_CHECK_THROW(autograd::imag(tensor({1.0})), catena::TypeError);
  BOOST_CHECK_THROW(autograd::view_as_complex(tensor({1.0})), catena::ValueError);
  BOOST_CHECK_THROW(autograd::view_as_real(tensor({1.0})), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(modes_and_exits) {
  const Variable x = autograd::ones({2}, {.requires_grad = true});
  {
    const autograd::set_grad_enabled off(false);
    BOOST_TEST(!autograd::is_grad_enabled());
    BOOST_TEST(((x * x).creator() == nullptr));
    const autograd::enable_grad on;
    BOOST_TEST(autograd::is_grad_enabled());
    const autograd::inference_mode inference;
    BOOST_TEST(!autograd::is_grad_enabled());
  }
  BOOST_TEST(autograd::is_grad_enabled());
  const autograd::AutoGradMode same(true);
  BOOST_TEST(((x * x).creator() != nullptr));
  check(autograd::Array(x.numpy()), {1, 1});
  check(x.new_tensor({1.0, 2.0}), {1, 2});
  if (x.device().kind == autograd::Device::Kind::cpu) BOOST_TEST(x.data_ptr<const float>()[1] == 1);
  // Functions of variables take arrays.
  const nd::Array a = nd::arange(6, nd::float32);
  BOOST_TEST(autograd::transpose(autograd::reshape(a, {2, 3}), {1, 0}).shape() == (nd::Shape{3, 2}));
  BOOST_TEST(autograd::transpose(a.reshape({2, 3}), {1, 0}).shape() == (nd::Shape{3, 2}));
  BOOST_TEST(autograd::squeeze(autograd::expand_dims(a, 0)).shape() == (nd::Shape{6}));
  BOOST_TEST(autograd::broadcast_to(a, {2, 6}).shape() == (nd::Shape{2, 6}));
  BOOST_TEST(autograd::swapaxes(a.reshape({2, 3}), 0, 1).shape() == (nd::Shape{3, 2}));
  BOOST_TEST(autograd::squeeze(a.reshape({1, 6})).shape() == (nd::Shape{6}));
  BOOST_TEST(autograd::transpose(a.reshape({2, 3})).shape() == (nd::Shape{3, 2}));
  BOOST_TEST((autograd::promote_types(nd::int32, nd::float16) == nd::promote_types(nd::int32, nd::float16)));
  BOOST_TEST(autograd::is_tensor(x));
  BOOST_TEST(!autograd::is_tensor(3.0));
  BOOST_TEST(autograd::is_floating_point(x));
  BOOST_TEST(autograd::is_nonzero(tensor(2.0)));
  BOOST_TEST(!autograd::is_complex(x));
}

BOOST_AUTO_TEST_CASE(autocast_with_a_device_and_options) {
  {
    const autograd::autocast guard("cpu", {.dtype = nd::bfloat16});
    BOOST_TEST((autograd::autocast_dtype() == nd::bfloat16));
  }
  BOOST_TEST(!autograd::autocast_dtype().has_value());
  BOOST_CHECK_THROW(autograd::autocast("cpu", {.device_type = "cpu"}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
