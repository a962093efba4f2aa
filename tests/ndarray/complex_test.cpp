// Complex numbers from creation to files, against std::complex (whose mathematics are the C library's) and the texts of
// NumPy 1.26.
#include <complex>
#include <functional>
#include <sstream>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Slice;
using test::message_of;
using test::same_bits;
using namespace std::complex_literals;

using C64 = std::complex<float>;
using C128 = std::complex<double>;
constexpr nd::Dtype kComplex[] = {nd::complex64, nd::complex128};

Array random_complex(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  std::uniform_real_distribution<double> part(-3, 3);
  std::vector<C128> v(std::size_t(catena::size_of(shape)));
  for (C128& z : v) z = {part(random), part(random)};
  return nd::array(v, shape, {.dtype = dtype});
}

double tolerance(nd::Dtype t) { return t == nd::complex64 || t == nd::float32 ? 2e-6 : 4e-15; }

bool close_parts(double a, double e, double scale) {
  if (std::isnan(e)) return std::isnan(a);
  if (std::isinf(e)) return a == e;
  return std::abs(a - e) <= scale;
}

// The first element that is off by more than the tolerance of the dtype relative to its modulus; empty if there is
// none.
std::string off(const Array& actual, const nd::Shape& shape, nd::Dtype dtype, const std::vector<C128>& expected,
                double times = 1) {
  if (!(actual.shape() == shape)) return catena::concat("shape ", actual.shape(), " instead of ", shape);
  if (actual.dtype() != dtype) return catena::concat("dtype ", actual.dtype(), " instead of ", dtype);
  const auto a = actual.to_vector<C128>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double scale = times * tolerance(dtype) * std::max(1.0, std::abs(expected[i]));
    if (!close_parts(a[i].real(), expected[i].real(), scale) || !close_parts(a[i].imag(), expected[i].imag(), scale)) {
      std::ostringstream text;
      text << "element " << i << " is " << a[i] << " instead of " << expected[i];
      return text.str();
    }
  }
  return {};
}

std::vector<C128> each(const Array& a, const std::function<C128(C128)>& f) {
  std::vector<C128> v = a.to_vector<C128>();
  for (C128& z : v) z = f(z);
  return v;
}
std::vector<C128> each(const Array& a, const Array& b, const std::function<C128(C128, C128)>& f) {
  std::vector<C128> v = a.to_vector<C128>();
  const std::vector<C128> w = b.to_vector<C128>();
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = f(v[i], w[i]);
  return v;
}

// The product of two matrices, row by column.
std::vector<C128> product(const Array& a, const Array& b) {
  const std::vector<C128> x = a.to_vector<C128>(), y = b.to_vector<C128>();
  const std::int64_t m = a.shape(0), k = a.shape(1), n = b.shape(1);
  std::vector<C128> v(std::size_t(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t p = 0; p < k; ++p)
        v[std::size_t(i * n + j)] += x[std::size_t(i * k + p)] * y[std::size_t(p * n + j)];
  return v;
}

std::vector<std::string> warnings;
class Warnings {
 public:
  Warnings() {
    warnings.clear();
    previous_ = nd::set_warning_handler([](std::string_view category, std::string_view message) {
      warnings.push_back(catena::concat(category, ": ", message));
    });
  }
  ~Warnings() { nd::set_warning_handler(previous_); }

 private:
  nd::WarningHandler previous_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(complex)

BOOST_AUTO_TEST_CASE(arrays_are_made_of_std_complex) {
  const Array a = nd::array({1.0 + 2i, -3.0 + 0i, 0.5i});
  BOOST_TEST((a.dtype() == nd::complex128 && a.shape() == nd::Shape{3} && a.itemsize() == 16));
  BOOST_TEST((a(0).item<C128>() == 1.0 + 2i));
  BOOST_TEST((a.to_vector<C128>() == std::vector<C128>{1.0 + 2i, -3.0 + 0i, 0.5i}));
  const Array f = nd::array(std::vector<C64>{{1, 2}, {3, -4}, {0, 1}, {5, 0}}, {2, 2});
  BOOST_TEST((f.dtype() == nd::complex64 && f.itemsize() == 8));
  BOOST_TEST((f(1, 0).item<C64>() == C64(0, 1)));
  BOOST_TEST((nd::array({{C64(1, 2)}, {C64(3, 4)}}).shape() == nd::Shape{2, 1}));
  BOOST_TEST((nd::array(2.0 + 1i).ndim() == 0 && nd::array(2.0 + 1i).item<C128>() == 2.0 + 1i));
  BOOST_TEST((a(0).item().to<C128>() == 1.0 + 2i));
  BOOST_TEST((nd::full({2}, 1.0i, {.dtype = nd::complex64}).to_vector<C64>() == std::vector<C64>{{0, 1}, {0, 1}}));
  BOOST_TEST((nd::full({2}, 1.0i).dtype() == nd::complex128));
  BOOST_TEST((nd::full({2}, C64(0, 1)).dtype() == nd::complex64));
  for (nd::Dtype t : kComplex) {
    BOOST_TEST((nd::zeros({2, 3}, t).to_vector<C128>() == std::vector<C128>(6)));
    BOOST_TEST((nd::ones({2, 3}, t).to_vector<C128>() == std::vector<C128>(6, 1)));
    BOOST_TEST((nd::eye(2, {.dtype = t}).to_vector<C128>() == std::vector<C128>{1, 0, 0, 1}));
    BOOST_TEST(nd::zeros({0, 3}, t).size() == 0);
    BOOST_TEST((nd::zeros_like(nd::ones(2, t)).dtype() == t));
  }
  BOOST_TEST((nd::dtype_from_name("complex64") == nd::complex64 && nd::dtype_from_name("F") == nd::complex64));
  BOOST_TEST((nd::dtype_from_name("complex") == nd::complex128 && nd::dtype_from_name("D") == nd::complex128));
}

BOOST_AUTO_TEST_CASE(host_memory_is_wrapped_and_read) {
  C128 memory[3] = {1.0, 2i, 3.0};
  const Array a = nd::wrap(memory, {3}, {.device = nd::cpu_device});
  std::move(a(1)) = 5.0 + 5i;
  BOOST_TEST((memory[1] == 5.0 + 5i));
  const auto v = a.accessor<C128, 1>();
  BOOST_TEST((v(1) == 5.0 + 5i));
  // std::complex<double> is aligned like a double.
  alignas(16) double numbers[5] = {0, 1, 2, 3, 4};
  const Array odd = nd::wrap(reinterpret_cast<C128*>(numbers + 1), {2}, {.device = nd::cpu_device});
  BOOST_TEST((odd.sum().item<C128>() == 4.0 + 6i));
  BOOST_TEST(same_bits(nd::wrap(numbers + 1, {4}, {.device = nd::cpu_device}).view(nd::complex128), odd));
}

BOOST_AUTO_TEST_CASE(dtypes_promote_as_the_plan_says) {
  using nd::promote_types;
  for (nd::Dtype t : {nd::bool_, nd::int8, nd::uint8, nd::int16, nd::uint16, nd::float16, nd::bfloat16, nd::float32})
    BOOST_TEST((promote_types(t, nd::complex64) == nd::complex64 && promote_types(nd::complex64, t) == nd::complex64),
               t);
  for (nd::Dtype t : {nd::int32, nd::uint32, nd::int64, nd::uint64, nd::float64})
    BOOST_TEST((promote_types(t, nd::complex64) == nd::complex128 && promote_types(nd::complex64, t) == nd::complex128),
               t);
  BOOST_TEST((promote_types(nd::complex64, nd::complex128) == nd::complex128));
  const Array f = nd::ones(2, nd::complex64), d = nd::ones(2, nd::complex128);
  BOOST_TEST(((f + nd::ones(2, nd::float32)).dtype() == nd::complex64));
  BOOST_TEST(((f * nd::ones(2, nd::int32)).dtype() == nd::complex128));
  BOOST_TEST(((f - d).dtype() == nd::complex128));
  // Host scalars are weak.
  BOOST_TEST(((f + 1).dtype() == nd::complex64 && (f * 2.5).dtype() == nd::complex64));
  BOOST_TEST(((f / 2.0i).dtype() == nd::complex64 && (d + 1.0i).dtype() == nd::complex128));
  for (nd::Dtype t : {nd::float16, nd::bfloat16, nd::float32})
    BOOST_TEST(((nd::ones(2, t) * 1i).dtype() == nd::complex64), t);
  for (nd::Dtype t : {nd::bool_, nd::int8, nd::int32, nd::int64, nd::float64})
    BOOST_TEST(((nd::ones(2, t) * 1i).dtype() == nd::complex128), t);
  BOOST_TEST(((nd::ones(2, nd::float32) * 1.0i).to_vector<C64>() == std::vector<C64>(2, C64(0, 1))));
}

BOOST_AUTO_TEST_CASE(casts_keep_the_real_part_and_warn) {
  const Array z = nd::array({1.5 + 2i, -2.0 - 1i, 0.0 + 3i});
  {
    const Warnings scope;
    test::check_values<double>(z.astype(nd::float64), {1.5, -2, 0});
    test::check_values<int>(z.astype(nd::int32), {1, -2, 0});
    BOOST_TEST(warnings.size() == 2u);
    BOOST_TEST(warnings.at(0) == "ComplexWarning: astype: casting complex128 to float64 discards the imaginary part");
    warnings.clear();
    BOOST_TEST((z.astype(nd::bool_).to_vector<bool>() == std::vector<bool>{true, true, true}));
    BOOST_TEST((nd::zeros(1, nd::complex64).astype(nd::bool_).to_vector<bool>() == std::vector<bool>{false}));
    BOOST_TEST((z.astype(nd::complex64).to_vector<C128>() == z.to_vector<C128>()));
    BOOST_TEST(warnings.empty());
    const Array real = nd::zeros(3);
    real(Slice()) = z;
    BOOST_TEST(warnings.size() == 1u);
    test::check_values<double>(real, {1.5, -2, 0});
    BOOST_TEST(z(0).item<double>() == 1.5);
    BOOST_TEST(warnings.size() == 2u);
  }
  for (nd::Dtype t : test::kAllDtypes) {
    const Array x = nd::array({0, 1, 3}).astype(t);
    const auto values = x.astype(nd::float64).to_vector<double>();
    for (nd::Dtype c : kComplex) {
      BOOST_TEST((x.astype(c).to_vector<C128>() == std::vector<C128>(values.begin(), values.end())), t);
      BOOST_TEST(same_bits(x.astype(c).real().astype(t), x), t);
    }
  }
  BOOST_TEST((nd::can_cast(nd::float64, nd::complex64, nd::Casting::same_kind)));
  BOOST_TEST((!nd::can_cast(nd::complex64, nd::float64, nd::Casting::same_kind)));
  BOOST_CHECK_THROW(nd::add(z, z, {.out = nd::zeros(3)}), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(arithmetic_is_that_of_std_complex) {
  std::mt19937 random(3);
  using Binary = std::function<C128(C128, C128)>;
  const std::vector<std::pair<Array (*)(const nd::Operand&, const nd::Operand&, const nd::UfuncOptions&), Binary>> all =
      {{nd::add, [](C128 a, C128 b) { return a + b; }},
       {nd::subtract, [](C128 a, C128 b) { return a - b; }},
       {nd::multiply, [](C128 a, C128 b) { return a * b; }},
       {nd::true_divide, [](C128 a, C128 b) { return a / b; }}};
  for (nd::Dtype t : kComplex)
    for (const auto& [f, oracle] : all)
      for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{1}, nd::Shape{0, 2}, nd::Shape{5, 7}, nd::Shape{3, 1000}}) {
        const Array a = random_complex(shape, t, random), b = random_complex(shape, t, random);
        const auto expected = each(a, b, oracle);
        const Array y = f(a, b, {});
        BOOST_TEST(off(y, shape, t, expected) == "");
        BOOST_TEST(same_bits(f(test::scattered(a, random), test::scattered(b, random), {}), y));
        const Array out = nd::empty(shape, t);
        f(a, b, {.out = out});
        BOOST_TEST(same_bits(out, y));
        f(a, b, {.out = a});
        BOOST_TEST(same_bits(a, y));
      }
  Array z = nd::array({1.0 + 1i, 2.0 + 0i});
  const Array column = nd::array({{1i}, {2.0 + 0i}});
  BOOST_TEST(off(z * column, {2, 2}, nd::complex128, {-1.0 + 1i, 2i, 2.0 + 2i, 4.0}) == "");
  z *= 2.0i;
  BOOST_TEST((z.to_vector<C128>() == std::vector<C128>{-2.0 + 2i, 4i}));
  BOOST_TEST((1.0i - z).to_vector<C128>()[0] == 2.0 - 1i);
  // Dividing by 0 divides both parts by 0.
  const auto q = (nd::array({1.0 + 2i, 0i, -1i}) / nd::zeros(3, nd::complex128)).to_vector<C128>();
  BOOST_TEST(
      (std::isinf(q[0].real()) && std::isinf(q[0].imag()) && std::isnan(q[1].real()) && std::isnan(q[1].imag())));
  BOOST_TEST((std::isnan(q[2].real()) && q[2].imag() == -INFINITY));
  // No part of a quotient overflows on the way.
  BOOST_TEST((nd::array({1e300 + 1e300i}) / nd::array({2e300 + 2e300i})).item<C128>() == 0.5 + 0i);
}

BOOST_AUTO_TEST_CASE(functions_of_one_number) {
  std::mt19937 random(4);
  using Unary = std::function<C128(C128)>;
  const std::vector<std::pair<Array (*)(const nd::Operand&, const nd::UfuncOptions&), Unary>> all = {
      {nd::negative, [](C128 z) { return -z; }},     {nd::conjugate, [](C128 z) { return std::conj(z); }},
      {nd::square, [](C128 z) { return z * z; }},    {nd::reciprocal, [](C128 z) { return 1.0 / z; }},
      {nd::exp, [](C128 z) { return std::exp(z); }}, {nd::sqrt, [](C128 z) { return std::sqrt(z); }}};
  for (nd::Dtype t : kComplex)
    for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{0}, nd::Shape{257}, nd::Shape{3, 5}}) {
      const Array z = random_complex(shape, t, random);
      for (const auto& [f, oracle] : all) {
        const Array y = f(z, {});
        BOOST_TEST(off(y, shape, t, each(z, oracle), 4) == "");
        BOOST_TEST(same_bits(f(test::scattered(z, random), {}), y));
      }
      const nd::Dtype part = t == nd::complex64 ? nd::float32 : nd::float64;
      BOOST_TEST(off(nd::absolute(z), shape, part, each(z, [](C128 v) { return std::abs(v); }), 2) == "");
    }
  BOOST_TEST((nd::abs(nd::array({3.0 + 4i})).item<double>() == 5.0));
  BOOST_TEST((nd::conj(nd::array({1, 2})).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2}));
  BOOST_TEST((nd::array({1.0 + 1i}).conj().item<C128>() == 1.0 - 1i));
}

// The C library follows annex G of C99.
BOOST_AUTO_TEST_CASE(special_values_of_exp_sqrt_and_absolute) {
  const double parts[] = {0.0, -0.0, 1.5, -1.5, 1e-310, 1e300, 709.9, -745.0, INFINITY, -INFINITY, NAN};
  std::vector<C128> v;
  for (double re : parts)
    for (double im : parts) v.emplace_back(re, im);
  const Array z = nd::array(v);
  const auto e = nd::exp(z).to_vector<C128>(), s = nd::sqrt(z).to_vector<C128>();
  const auto m = nd::absolute(z).to_vector<double>();
  const auto same = [](double a, double b) {
    if (std::isnan(b)) return std::isnan(a);
    if (std::isinf(b) || b == 0) return a == b && std::signbit(a) == std::signbit(b);
    return std::abs(a - b) <= 4e-15 * std::abs(b) + 1e-320;
  };
  for (std::size_t i = 0; i < v.size(); ++i) {
    const C128 root = std::sqrt(v[i]), power = std::exp(v[i]);
    // Annex G leaves the sign of the infinite part open where the other one is NaN, and that of zeros of e^-inf.
    const bool open = std::isnan(v[i].imag()) || std::isinf(v[i].imag());
    BOOST_TEST(
        (same(s[i].real(), root.real()) && (same(s[i].imag(), root.imag()) || (open && std::isinf(s[i].imag())))),
        "sqrt" << v[i] << " is " << s[i] << " instead of " << root);
    BOOST_TEST(((same(e[i].real(), power.real()) && same(e[i].imag(), power.imag())) ||
                (open && std::abs(e[i].real()) == std::abs(power.real()))),
               "exp" << v[i] << " is " << e[i] << " instead of " << power);
    BOOST_TEST(same(m[i], std::abs(v[i])), "abs" << v[i] << " is " << m[i]);
  }
}

BOOST_AUTO_TEST_CASE(comparison_and_truth) {
  const Array a = nd::array({1.0 + 2i, 1.0 - 2i, C128(NAN, 0), 0i}),
              b = nd::array({1.0 + 2i, 1.0 + 2i, C128(NAN, 0), 0i});
  BOOST_TEST(((a == b).to_vector<bool>() == std::vector<bool>{true, false, false, true}));
  BOOST_TEST(((a != b).to_vector<bool>() == std::vector<bool>{false, true, true, false}));
  BOOST_TEST(((a == 0).to_vector<bool>() == std::vector<bool>{false, false, false, true}));
  BOOST_TEST((nd::array({2i}) && !nd::array({0i})));
  const Array wild = nd::array({C128(1, NAN), C128(-INFINITY, 0), C128(NAN, INFINITY), 1.0 + 1i});
  BOOST_TEST((nd::isnan(wild).to_vector<bool>() == std::vector<bool>{true, false, true, false}));
  BOOST_TEST((nd::isinf(wild).to_vector<bool>() == std::vector<bool>{false, true, true, false}));
  BOOST_TEST((nd::isfinite(wild).to_vector<bool>() == std::vector<bool>{false, false, false, true}));
  BOOST_TEST((nd::nonzero(a)[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2}));
  const Array mask = nd::array({true, false, true, false});
  BOOST_TEST((nd::where(mask, b, 7).to_vector<C128>()[1] == 7.0));
  BOOST_TEST((nd::where(mask, nd::ones(4, nd::complex64), 1i).dtype() == nd::complex64));
}

BOOST_AUTO_TEST_CASE(sums_products_and_means) {
  std::mt19937 random(5);
  for (nd::Dtype t : kComplex) {
    const Array z = random_complex({4, 300, 3}, t, random);
    const auto v = z.to_vector<C128>();
    C128 total;
    for (C128 x : v) total += x;
    BOOST_TEST(off(nd::sum(z), {}, t, {total}, 40) == "");
    BOOST_TEST(off(nd::mean(z), {}, t, {total / double(v.size())}, 40) == "");
    std::vector<C128> middle(12);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 300; ++j)
        for (std::size_t k = 0; k < 3; ++k) middle[i * 3 + k] += v[(i * 300 + j) * 3 + k];
    BOOST_TEST(off(nd::sum(z, {.axis = 1}), {4, 3}, t, middle, 40) == "");
    BOOST_TEST(off(nd::sum(test::scattered(z, random), {.axis = 1, .keepdims = true}), {4, 1, 3}, t, middle, 40) == "");
    const Array few = random_complex({2, 6}, t, random);
    const auto w = few.to_vector<C128>();
    std::vector<C128> products(2, 1.0), running(12), powers(12);
    for (std::size_t i = 0; i < 12; ++i) {
      products[i / 6] *= w[i];
      running[i] = (i % 6 ? running[i - 1] : 0) + w[i];
      powers[i] = (i % 6 ? powers[i - 1] : 1.0) * w[i];
    }
    BOOST_TEST(off(nd::prod(few, {.axis = 1}), {2}, t, products, 40) == "");
    BOOST_TEST(off(nd::cumsum(few, {.axis = 1}), {2, 6}, t, running, 40) == "");
    BOOST_TEST(off(nd::cumprod(few, {.axis = 1}), {2, 6}, t, powers, 40) == "");
    double distance[2] = {0, 0};
    for (std::size_t i = 0; i < 12; ++i) {
      C128 mean;
      for (std::size_t k = 0; k < 6; ++k) mean += w[i / 6 * 6 + k] / 6.0;
      distance[i / 6] += std::norm(w[i] - mean);
    }
    const nd::Dtype part = t == nd::complex64 ? nd::float32 : nd::float64;
    BOOST_TEST(off(nd::var(few, {.axis = 1}), {2}, part, {distance[0] / 6, distance[1] / 6}, 40) == "");
    const Array out = nd::empty(2, part);
    nd::std(few, {.axis = 1, .out = out, .ddof = 1});
    BOOST_TEST(off(out, {2}, part, {std::sqrt(distance[0] / 5), std::sqrt(distance[1] / 5)}, 40) == "");
    BOOST_CHECK_THROW(nd::var(few, {.axis = 1, .out = nd::empty(3, part)}), nd::ValueError);
    BOOST_TEST((nd::sum(nd::zeros({0}, t)).item<C128>() == 0.0 && nd::prod(nd::zeros({0}, t)).item<C128>() == 1.0));
  }
  BOOST_TEST((nd::sum(nd::ones(3, nd::complex64), {.dtype = nd::complex128}).dtype() == nd::complex128));
  BOOST_TEST((nd::sum(nd::ones(3), {.dtype = nd::complex64}).item<C64>() == C64(3)));
  const Warnings scope;
  BOOST_TEST(nd::sum(nd::array({1.0 + 2i, 3i}), {.dtype = nd::float64}).item<double>() == 1.0);
  BOOST_TEST((nd::add(nd::array({1.0 + 2i}), 1, {.dtype = nd::float64}).dtype() == nd::float64));
  BOOST_TEST((warnings == std::vector<std::string>{
                              "ComplexWarning: sum: casting complex128 to float64 discards the imaginary part",
                              "ComplexWarning: add: casting complex128 to float64 discards the imaginary part"}));
}

// An infinite number times 1 + 0i has a part that is 0 * inf, so products must not begin with a factor 1.
BOOST_AUTO_TEST_CASE(products_with_infinite_parts) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (nd::Dtype t : kComplex)
    for (std::int64_t n : {1, 2, 300, 5000}) {
      const Array z = nd::ones({n, 3}, t);
      z(n - 1) = nd::array({C128(inf, 1), C128(-2, inf), C128(3, -4)});
      const Array part = z(nd::Slice(n - 1, {}));  // the factors that are not 1
      for (const Array& a : {part, part.T(), Array(nd::broadcast_to(part, {1, 1, 3}))}) {
        const auto v = nd::prod(a, {.axis = a.ndim() == 2 && a.shape()[0] == 3 ? 1 : a.ndim() - 2}).to_vector<C128>();
        BOOST_TEST((v == std::vector<C128>{{inf, 1}, {-2, inf}, {3, -4}}), t << " " << n);
      }
      const auto running = nd::cumprod(part, {.axis = 0}).to_vector<C128>();
      BOOST_TEST((running == std::vector<C128>{{inf, 1}, {-2, inf}, {3, -4}}), t << " " << n);
      for (const Array& all : {nd::prod(z, {.axis = 0}), nd::prod(z.T().copy(), {.axis = 1})})
        BOOST_TEST((all.to_vector<C128>() == std::vector<C128>{{inf, 1}, {-2, inf}, {3, -4}}), t << " " << n);
    }
}

// The mean square distance of numbers that count as complex is a real number.
BOOST_AUTO_TEST_CASE(variances_in_a_complex_dtype) {
  const Array x = nd::array({1, 2, 4, 9}), z = x * C128(1, 2);
  for (const auto& [t, part] : {std::pair(nd::complex64, nd::float32), std::pair(nd::complex128, nd::float64)}) {
    BOOST_TEST(test::same_bits(nd::var(x, {.dtype = t}), nd::var(x, {.dtype = part})), t);
    BOOST_TEST(test::same_bits(nd::std(z, {.dtype = t}), nd::std(z, {.dtype = part})), t);
    BOOST_TEST(nd::var(z, {.dtype = t}).item<double>() == 47.5, t);
  }
}

BOOST_AUTO_TEST_CASE(matrix_products) {
  std::mt19937 random(6);
  for (nd::Dtype t : kComplex) {
    for (const auto& [m, k, n] : {std::tuple(1, 1, 1), std::tuple(2, 3, 4), std::tuple(17, 5, 33),
                                  std::tuple(3, 64, 70), std::tuple(70, 40, 2), std::tuple(130, 67, 90)}) {
      const Array a = random_complex({m, k}, t, random), b = random_complex({k, n}, t, random);
      const auto expected = product(a, b);
      const double times = 20 * k;
      BOOST_TEST(off(nd::matmul(a, b), {m, n}, t, expected, times) == "");
      const Array at = a.T().copy(), bt = b.T().copy();
      BOOST_TEST(off(nd::matmul(at.T(), b), {m, n}, t, expected, times) == "");
      BOOST_TEST(off(nd::matmul(a, bt.T()), {m, n}, t, expected, times) == "");
      BOOST_TEST(off(nd::matmul(test::scattered(a, random), test::scattered(b, random)), {m, n}, t, expected, times) ==
                 "");
    }
    const Array a = random_complex({3, 2, 4}, t, random), b = random_complex({4, 5}, t, random);
    const Array y = nd::matmul(a, b);
    for (int i = 0; i < 3; ++i) BOOST_TEST(off(y(i), {2, 5}, t, product(a(i), b), 80) == "");
    BOOST_TEST((nd::matmul(nd::zeros({2, 0}, t), nd::zeros({0, 3}, t)).to_vector<C128>() == std::vector<C128>(6)));
  }
  const Array i = nd::array({{0i, 1i}, {1i, 0i}});
  BOOST_TEST((nd::matmul(i, nd::array({{1, 2}, {3, 4}})).to_vector<C128>() == std::vector<C128>{3i, 4i, 1i, 2i}));
  BOOST_TEST((nd::dot(nd::array({1i, 2i}), nd::array({1i, 1.0 + 0i})).item<C128>() == -1.0 + 2i));
}

BOOST_AUTO_TEST_CASE(indexing_and_assignment) {
  std::mt19937 random(7);
  for (nd::Dtype t : kComplex) {
    const Array z = random_complex({37, 29}, t, random);
    const auto v = z.to_vector<C128>();
    const auto at = [&](std::int64_t i, std::int64_t j) { return v[std::size_t(i * 29 + j)]; };
    BOOST_TEST((z(3, -1).item<C128>() == at(3, 28)));
    const Array view = z(Slice(30, 2, -7), Slice(1, 20, 3));
    for (int i = 0; i < view.shape(0); ++i)
      for (int j = 0; j < view.shape(1); ++j) BOOST_TEST((view(i, j).item<C128>() == at(30 - 7 * i, 1 + 3 * j)));
    const auto turned = z.T().copy().to_vector<C128>();
    for (std::int64_t i = 0; i < 37; ++i)
      for (std::int64_t j = 0; j < 29; ++j) BOOST_TEST((turned[std::size_t(j * 37 + i)] == at(i, j)));
    const Array rows = nd::array({5, -1, 5});
    const Array taken = z(rows);
    BOOST_TEST((same_bits(taken(0), z(5)) && same_bits(taken(1), z(36)) && same_bits(taken(2), z(5))));
    BOOST_TEST(same_bits(nd::take(z, rows, {.axis = 1}), Array(z.T()(rows)).T().copy()));
    const Array w = z.copy();
    w(rows) = 1.0i;
    BOOST_TEST((w(36, 4).item<C128>() == 1i && w(4, 4).item<C128>() == at(4, 4)));
    const Array large = nd::abs(z).astype(t == nd::complex64 ? nd::float32 : nd::float64) > 2.0;
    w(large) = 0;
    BOOST_TEST((Array(w(large)).to_vector<C128>() == std::vector<C128>(std::size_t(nd::count_nonzero(large)))));
    const Array counts = nd::zeros(3, t);
    nd::scatter_add(counts, nd::array({0, 2, 0}), nd::array({1.0 + 1i, 2i, 3.0 + 0i}));
    BOOST_TEST((counts.to_vector<C128>() == std::vector<C128>{4.0 + 1i, 0, 2i}));
    w(2, Slice()) = nd::ones(29, nd::int32);
    BOOST_TEST((w(2, 7).item<C128>() == 1.0));
    BOOST_TEST(same_bits(nd::concatenate({z, w})(Slice(37, 74)), w));
    BOOST_TEST(same_bits(nd::broadcast_to(z(0), {2, 29}).copy()(1), z(0)));
  }
}

BOOST_AUTO_TEST_CASE(real_and_imag_are_views) {
  for (nd::Dtype t : kComplex) {
    const nd::Dtype part = t == nd::complex64 ? nd::float32 : nd::float64;
    const Array z = nd::array({{1.0 + 2i, 3.0 + 4i}, {5.0 + 6i, 7.0 + 8i}}, {.dtype = t});
    BOOST_TEST((z.real().dtype() == part && z.real().shares_memory(z) && nd::imag(z).shares_memory(z)));
    test::check_values<double>(z.real(), {1, 3, 5, 7});
    test::check_values<double>(z.T().imag(), {2, 6, 4, 8});
    z.imag() += 10;
    z.real()(0) = 0;
    BOOST_TEST((z.to_vector<C128>() == std::vector<C128>{12i, 14i, 5.0 + 16i, 7.0 + 18i}));
    BOOST_TEST(nd::real(nd::zeros({0, 2}, t)).size() == 0);
  }
  const Array x = nd::ones(3, nd::int16);
  BOOST_TEST((nd::real(x).get() == x.get()));
  BOOST_TEST((x.imag().dtype() == nd::int16 && !x.imag().shares_memory(x)));
  test::check_values<int>(nd::imag(x), {0, 0, 0});
}

BOOST_AUTO_TEST_CASE(texts_are_those_of_numpy) {
  const auto str = [](const Array& a) { return nd::array_str(a); };
  const auto repr = [](const Array& a) { return nd::array_repr(a); };
  BOOST_TEST(str(nd::array({1.0 + 2i, 3.0 - 4.5i})) == "[1.+2.j  3.-4.5j]");
  BOOST_TEST(repr(nd::array({1.0 + 2i, 3.0 - 4.5i})) == "array([1.+2.j , 3.-4.5j])");
  const Array b = nd::array({1.0 + 2i, -3.0 - 0.25i, 0.1i}, {.dtype = nd::complex64});
  BOOST_TEST(str(b) == "[ 1.+2.j   -3.-0.25j  0.+0.1j ]");
  BOOST_TEST(repr(b) == "array([ 1.+2.j  , -3.-0.25j,  0.+0.1j ], dtype=complex64)");
  BOOST_TEST(str(nd::array({{1e10 + 1i, 2.0 - 3e-5i}})) == "[[1.e+10+1.e+00j 2.e+00-3.e-05j]]");
  const Array special = nd::array({C128(NAN, 1), C128(INFINITY, -INFINITY), C128(-1, NAN)});
  BOOST_TEST(str(special) == "[nan +1.j inf-infj -1.+nanj]");
  BOOST_TEST(repr(special) == "array([nan +1.j, inf-infj, -1.+nanj])");
  BOOST_TEST((str(nd::array(1.0 + 2i)) == "(1+2j)" && repr(nd::array(1.0 + 2i)) == "array(1.+2.j)"));
  BOOST_TEST((str(nd::array(2i)) == "2j" && repr(nd::array(2i)) == "array(0.+2.j)"));
  BOOST_TEST(str(nd::array(C64(1.1f, 0))) == "(1.1+0j)");
  BOOST_TEST(repr(nd::array(C64(1.1f, 0))) == "array(1.1+0.j, dtype=complex64)");
  BOOST_TEST((str(nd::array(C128(-0.0, 1))) == "(-0+1j)" && str(nd::array(C128(NAN, NAN))) == "(nan+nanj)"));
  BOOST_TEST((str(nd::array(1e20 + 1i)) == "(1e+20+1j)" && str(nd::array(C128(INFINITY, -INFINITY))) == "(inf-infj)"));
  BOOST_TEST((str(nd::array(C128(1, -NAN))) == "(1+nanj)" && str(nd::zeros({0}, nd::complex128)) == "[]"));
  BOOST_TEST(str(nd::array({-1i, C128(-0.0, 0)})) == "[-0.-1.j -0.+0.j]");
  BOOST_TEST(str(nd::arange(1200) * 1i) ==
             "[0.+0.000e+00j 0.+1.000e+00j 0.+2.000e+00j ... 0.+1.197e+03j 0.+1.198e+03j\n 0.+1.199e+03j]");
}

BOOST_AUTO_TEST_CASE(npy_files) {
  for (nd::Dtype t : kComplex) {
    const Array z = nd::array({{1.0 + 2i, -0.5i}, {3.0 + 0i, 1e-3 + 1e3i}}, {.dtype = t});
    std::ostringstream out;
    nd::save(out, z);
    const std::string text = out.str();
    BOOST_TEST(text.find(t == nd::complex64 ? "'descr': '<c8'" : "'descr': '<c16'") != std::string::npos);
    std::istringstream in(text);
    BOOST_TEST(same_bits(nd::load(in), z));
  }
  // {'descr': '>c8'}: both parts are swapped by themselves.
  std::string header = "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }";
  header += std::string(64 - 10 - header.size() - 1 + 64, ' ') + "\n";
  std::string file = std::string("\x93NUMPY\x01\0", 8) + char(header.size()) + '\0' + header;
  file += std::string("\x3f\x80\0\0\xc0\0\0\0", 8);  // 1, -2
  std::istringstream in(file);
  BOOST_TEST((nd::load(in).item<C64>() == C64(1, -2)));
}

BOOST_AUTO_TEST_CASE(user_kernels_and_fusion) {
  std::mt19937 random(8);
  const auto conj_product = nd::ElementwiseKernel("T x, T y", "T z", "z = x * conj(y) + T(1)", "complex_conj_product");
  const auto modulus =
      nd::ElementwiseKernel("complex64 x", "float32 y", "y = x.re * x.re + x.im * x.im", "complex_modulus");
  for (nd::Dtype t : kComplex) {
    const Array a = random_complex({40}, t, random), b = random_complex({40}, t, random);
    BOOST_TEST(off(conj_product(a, b), {40}, t, each(a, b, [](C128 x, C128 y) { return x * std::conj(y) + 1.0; }), 4) ==
               "");
    const auto scaled = nd::ElementwiseKernel("T x, T s, int32 k", "T y", "y = x * s + T(k)", "complex_scaled");
    BOOST_TEST(off(scaled(a, 2.0 - 1i, 3), {40}, t, each(a, [](C128 x) { return x * (2.0 - 1i) + 3.0; }), 4) == "");
    const auto fused = nd::fuse([](const auto& x, const auto& y) { return nd::exp(x * y) + x; });
    BOOST_TEST(same_bits(fused(a, b), nd::exp(a * b) + a));
  }
  const Array z = random_complex({9}, nd::complex64, random);
  BOOST_TEST(off(modulus(z), {9}, nd::float32, each(z, [](C128 x) { return std::norm(x); }), 4) == "");
}

BOOST_AUTO_TEST_CASE(functions_of_real_numbers) {
  const Array z = nd::array({1.0 + 2i, 3i});
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::floor(z); }).find("floor: no loop for (complex128,)") == 0);
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::arctan2(z, z); }) == "arctan2: no loop for (complex128, complex128)");
  BOOST_TEST(message_of<nd::TypeError>([&] { z % 2; }) == "remainder: no loop for (complex128, int64)");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::arange(3, {.dtype = nd::complex64}); }) ==
             "arange: there is no range of complex64 numbers");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::arange(nd::Scalar(2i)); }) ==
             "arange: the complex number 2j is no bound of a range");
  BOOST_CHECK_THROW(nd::random::standard_normal({2}, {.dtype = nd::complex64}), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
