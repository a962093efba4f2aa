// Fourier transforms against their definition, in long double: every kind, lengths of every kind of factor, norms,
// axes, padding, several axes, all dtypes. Names, defaults and errors are those of numpy.fft. On a GPU, cuFFT and the
// own kernels, which are used without it, have the same cases.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cuda/vendor/cufft.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

using namespace test;
using nd::Array;
using nd::Dtype;
using nd::Shape;
namespace fft = nd::fft;

namespace {

using Complex = std::complex<long double>;
using Signal = std::vector<Complex>;

Signal by_definition(const Signal& x, bool inverse) {
  const std::size_t n = x.size();
  Signal result(n), turns;
  for (std::size_t k = 0; k < n; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    turns.push_back(std::polar(1.0L, inverse ? angle : -angle));
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) {
      const Complex &a = x[j], &w = turns[j * k % n];
      result[k] += Complex(a.real() * w.real() - a.imag() * w.imag(), a.real() * w.imag() + a.imag() * w.real());
    }
  return result;
}
Signal rows_by_definition(const Signal& x, std::size_t n, bool inverse) {
  Signal result;
  for (std::size_t r = 0; r < x.size(); r += n) {
    const Signal row = by_definition(Signal(x.begin() + std::ptrdiff_t(r), x.begin() + std::ptrdiff_t(r + n)), inverse);
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

Signal signal_of(const Array& a) {
  Signal result;
  for (const std::complex<double> v : a.astype(Dtype::complex128).to_vector<std::complex<double>>())
    result.emplace_back(v.real(), v.imag());
  return result;
}
Array draw(const Shape& shape, Dtype dtype, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::complex<double>> values;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i) values.emplace_back(uniform(random), uniform(random));
  const Array a = nd::array(values).reshape(shape);
  return catena::is_complex_dtype(dtype) ? a.astype(dtype) : a.real().astype(dtype);
}

// The largest difference, relative to the root mean square of the expected numbers.
double error(const Array& got, const Signal& want) {
  const Signal values = signal_of(got);
  BOOST_REQUIRE_EQUAL(values.size(), want.size());
  long double worst = 0, squares = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::abs(values[i] - want[i]));
    squares += std::norm(want[i]);
  }
  return double(worst /
                std::max(1e-30L, std::sqrt(squares / static_cast<long double>(std::max<std::size_t>(1, want.size())))));
}
constexpr double kSingle = 2e-6, kDouble = 4e-15;

bool cpu_is_current() { return nd::current_device() == nd::cpu_device; }

void check_every_length() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  // Powers, products of small primes, long ones, with a large prime factor, and primes.
  for (const std::int64_t n : {81, 97, 125, 128, 210, 243, 256, 257, 262, 272, 343, 512, 600, 961, 1009, 1024, 1200})
    lengths.push_back(n);
  // A large prime p beside divisors that fill a vector: p - 1 has small factors, or a large one.
  for (const std::int64_t n : {592, 976, 1328, 107}) lengths.push_back(n);
  if (cpu_is_current()) {  // rows that are transformed beside others, or not
    for (const std::int64_t n : {349, 951, 1034}) lengths.push_back(n);
    // Odd lengths: real transforms are stages of real numbers, also before a stage of a large prime, or pairs of
    // columns.
    for (const std::int64_t n : {105, 111, 117, 185, 231, 253, 297, 323, 693, 713, 741, 899, 999}) lengths.push_back(n);
  }
  for (const std::int64_t n : lengths) BOOST_TEST_CONTEXT("n = " << n) {
      const auto length = std::size_t(n);
      for (const Dtype dtype : {Dtype::complex64, Dtype::complex128}) {
        const bool single = dtype == Dtype::complex64;
        const double bound = single ? kSingle : kDouble;
        const std::int64_t rows = n < 100 ? 19 : 2;
        const Array x = draw({rows, n}, dtype), real = draw({rows, n}, single ? Dtype::float32 : Dtype::float64);
        const Array forward = fft::fft(x);
        BOOST_REQUIRE(forward.dtype() == dtype);
        BOOST_REQUIRE(forward.shape() == x.shape());
        BOOST_TEST(error(forward, rows_by_definition(signal_of(x), length, false)) < bound);
        Signal inverse = rows_by_definition(signal_of(x), length, true);
        for (Complex& v : inverse) v /= static_cast<long double>(n);
        BOOST_TEST(error(fft::ifft(x), inverse) < bound);

        const Array half = fft::rfft(real);
        const Signal whole = rows_by_definition(signal_of(real), length, false);
        Signal first;
        for (std::size_t r = 0; r < std::size_t(rows); ++r)
          for (std::size_t k = 0; k <= length / 2; ++k) first.push_back(whole[r * length + k]);
        BOOST_REQUIRE(half.dtype() == dtype);
        BOOST_TEST(error(half, first) < bound);
        const Array back = fft::irfft(half, n);
        BOOST_REQUIRE(back.dtype() == real.dtype());
        BOOST_TEST(error(back, signal_of(real)) < bound);
      }
    }
}

// Rows that fill the lanes of several groups, of a few numbers or of hundreds, with a last group that is not full; rows
// that are prefetched; too few rows for that. The same as columns, of one matrix or of two. Some of them are compared.
void check_many_rows() {
  const std::pair<std::int64_t, std::int64_t> shapes[] = {
      {300, 1},  {1000, 2},  {131, 6},   {135, 7},   {11000, 8}, {2100, 80}, {70, 256}, {66, 500},  {67, 512},
      {37, 999}, {65, 1000}, {70, 1026}, {70, 2048}, {66, 692},  {8, 512},   {33, 563}, {16, 1123}, {19, 1034}};
  for (const auto& [rows, n] : shapes)
    for (const Dtype dtype : {Dtype::complex64, Dtype::complex128}) BOOST_TEST_CONTEXT(rows << " rows of " << n) {
        const bool single = dtype == Dtype::complex64;
        const double bound = single ? kSingle : kDouble;
        const Array x = draw({rows, n}, dtype), real = draw({rows, n}, single ? Dtype::float32 : Dtype::float64);
        const Array forward = fft::fft(x), inverse = fft::ifft(x, {.norm = "forward"}), half = fft::rfft(real);
        const Array columns = nd::ascontiguousarray(x.T()), by_column = fft::fft(columns, {.axis = 0});
        const Array two = nd::stack({columns, 2 * columns}),
                    inverse_of_two = fft::ifft(two, {.axis = 1, .norm = "forward"});
        BOOST_TEST((by_column.shape() == columns.shape() && inverse_of_two.shape() == two.shape()));
        for (const std::int64_t row : {std::int64_t(0), rows / 2, rows - 1}) {
          const Signal want = by_definition(signal_of(x(row)), false), back = by_definition(signal_of(x(row)), true);
          BOOST_TEST(error(forward(row), want) < bound);
          BOOST_TEST(error(by_column(nd::ellipsis, row), want) < bound);
          BOOST_TEST(error(inverse(row), back) < bound);
          BOOST_TEST(error(inverse_of_two(0, nd::ellipsis, row), back) < bound);
          BOOST_TEST(error(inverse_of_two(1, nd::ellipsis, row) / 2, back) < bound);
          Signal first = by_definition(signal_of(real(row)), false);
          first.resize(std::size_t(n / 2 + 1));
          BOOST_TEST(error(half(row), first) < bound);
        }
        BOOST_TEST(error(fft::irfft(half, n), signal_of(real)) < bound);
      }
}

void check_several_axes() {
  const Array x = draw({3, 8, 6}, Dtype::complex128), real = x.real();
  const auto along = [](Array a, std::vector<int> axes) {
    for (const int axis : axes) a = fft::fft(a, {.axis = axis});
    return a;
  };
  BOOST_TEST(error(fft::fftn(x), signal_of(along(x, {2, 1, 0}))) < kDouble);
  BOOST_TEST(error(fft::fft2(x), signal_of(along(x, {2, 1}))) < kDouble);
  BOOST_TEST(error(fft::fftn(x, {.axes = {0, 2}}), signal_of(along(x, {2, 0}))) < kDouble);
  BOOST_TEST(error(fft::fftn(x, {.s = Shape{4, 5}}), signal_of(fft::fft(fft::fft(x, 5), 4, 1))) < kDouble);
  BOOST_TEST(error(fft::fftn(x, {.s = Shape{-1, 5}, .axes = {0, 1}}),
                   signal_of(fft::fft(fft::fft(x, 5, 1), {.axis = 0}))) < kDouble);
  BOOST_TEST(error(fft::ifftn(fft::fftn(x)), signal_of(x)) < kDouble);
  BOOST_TEST(error(fft::ifft2(fft::fft2(x, {.norm = "ortho"}), {.norm = "ortho"}), signal_of(x)) < kDouble);
  BOOST_TEST(error(fft::rfftn(real), signal_of(fft::fftn(real)(nd::ellipsis, nd::Slice(0, 4)))) < kDouble);
  BOOST_TEST(error(fft::rfft2(real), signal_of(fft::fft2(real)(nd::ellipsis, nd::Slice(0, 4)))) < kDouble);
  BOOST_TEST(error(fft::irfftn(fft::rfftn(real)), signal_of(real)) < kDouble);
  const Array planes = fft::rfftn(real, {.axes = {1, 0}, .norm = "ortho"});
  BOOST_TEST(error(planes, signal_of(fft::fftn(real, {.axes = {0, 1}, .norm = "ortho"})(nd::Slice(0, 2)))) < kDouble);
  BOOST_TEST(error(fft::irfft2(fft::rfft2(real), {.s = Shape{8, 6}}), signal_of(real)) < kDouble);
  BOOST_TEST(fft::irfftn(fft::rfftn(real), {.s = Shape{3, 8, 5}}).shape() == Shape({3, 8, 5}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transforms)

BOOST_AUTO_TEST_CASE(every_length_of_every_kind) { check_every_length(); }
BOOST_AUTO_TEST_CASE(every_length_of_every_kind_without_a_library) {
  if (nd::current_device() == nd::cpu_device) return;  // the CPU has one way only
  const nd::cuda::OwnTransforms own;
  check_every_length();
}

// The parts that irfft ignores, and the Hermitian transforms, which are defined by it.
BOOST_AUTO_TEST_CASE(hermitian_transforms) {
  for (const std::int64_t n : {1, 2, 5, 8, 9, 300, 301}) BOOST_TEST_CONTEXT("n = " << n) {
      const Array x = draw({3, n / 2 + 1}, Dtype::complex128);
      Signal whole;
      const Signal given = signal_of(x);
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t at = std::min(k, n - k);
          Complex v = given[std::size_t(r * (n / 2 + 1) + at)];
          if (k == 0 || 2 * k == n) v = v.real();
          whole.push_back(2 * k > n ? std::conj(v) : v);
        }
      Signal inverse = rows_by_definition(whole, std::size_t(n), true);
      const Signal forward = rows_by_definition(whole, std::size_t(n), false);
      BOOST_TEST(error(fft::hfft(x, n), forward) < kDouble);
      for (Complex& v : inverse) v /= static_cast<long double>(n);
      BOOST_TEST(error(fft::irfft(x, n), inverse) < kDouble);
      const Array real = draw({3, n}, Dtype::float64);
      BOOST_TEST(error(fft::hfft(fft::ihfft(real), n), signal_of(real)) < kDouble);
    }
  BOOST_TEST(fft::irfft(nd::ones({5})).shape() == Shape({8}));
  BOOST_TEST(fft::hfft(nd::ones({5})).shape() == Shape({8}));
}

BOOST_AUTO_TEST_CASE(norms_axes_and_lengths) {
  const Array x = draw({4, 6, 5}, Dtype::complex128);
  const Array expected = fft::fft(x);
  BOOST_TEST(error(fft::fft(x, {.norm = "ortho"}), signal_of(expected / std::sqrt(5.0))) < kDouble);
  BOOST_TEST(error(fft::fft(x, {.norm = "forward"}), signal_of(expected / 5)) < kDouble);
  BOOST_TEST(error(fft::ifft(expected), signal_of(x)) < kDouble);
  BOOST_TEST(error(fft::ifft(fft::fft(x, {.norm = "ortho"}), {.norm = "ortho"}), signal_of(x)) < kDouble);
  BOOST_TEST(error(fft::ifft(fft::fft(x, {.norm = "forward"}), {.norm = "forward"}), signal_of(x)) < kDouble);
  const Array real = x.real();
  BOOST_TEST(error(fft::irfft(fft::rfft(real, {.norm = "ortho"}), {.n = 5, .norm = "ortho"}), signal_of(real)) <
             kDouble);
  // Another axis is the same transform of the transposed array; views need no copy of the user.
  for (const int axis : {0, 1, -2}) {
    const Array moved = nd::moveaxis(x, axis, -1).copy();
    const Array got = fft::fft(x, {.axis = axis});
    BOOST_TEST(got.is_c_contiguous());
    BOOST_TEST(error(nd::moveaxis(got, axis, -1),
                     rows_by_definition(signal_of(moved), std::size_t(moved.shape(2)), false)) < kDouble);
  }
  BOOST_TEST(error(fft::fft(x(nd::_, nd::Slice({}, {}, -1))),
                   signal_of(fft::fft(x(nd::_, nd::Slice({}, {}, -1)).copy()))) == 0);
  // n cuts, or pads by zeros.
  BOOST_TEST(error(fft::fft(x, 3), rows_by_definition(signal_of(x(nd::ellipsis, nd::Slice(0, 3))), 3, false)) <
             kDouble);
  const Array padded = nd::zeros({4, 6, 9}, Dtype::complex128);
  padded(nd::ellipsis, nd::Slice(0, 5)) = x;
  BOOST_TEST(error(fft::fft(x, 9), rows_by_definition(signal_of(padded), 9, false)) < kDouble);
  BOOST_TEST(error(fft::fft(x, 9, 2, "forward"), signal_of(fft::fft(padded) / 9)) < kDouble);
  BOOST_TEST(error(fft::rfft(real, 4), signal_of(fft::rfft(real(nd::ellipsis, nd::Slice(0, 4))))) == 0);
  BOOST_TEST(error(fft::irfft(x, 4), signal_of(fft::irfft(x(nd::ellipsis, nd::Slice(0, 3)), 4))) == 0);
  BOOST_TEST(fft::irfft(x, {.n = 20, .axis = 1}).shape() == Shape({4, 20, 5}));
  const Array first = x(nd::_, nd::Slice(0, 4));
  BOOST_TEST(error(fft::ifft(x, {.n = 4, .axis = 1}), signal_of(fft::ifft(first, {.axis = 1}))) == 0);
  BOOST_TEST(error(fft::fft(fft::ifft(x, {.axis = 1}), {.axis = 1}), signal_of(x)) < kDouble);
  const Array half = fft::rfft(real, {.n = 4, .axis = 1});
  BOOST_TEST(error(half, signal_of(fft::fft(first.real(), {.axis = 1})(nd::_, nd::Slice(0, 3)))) < kDouble);
}

BOOST_AUTO_TEST_CASE(dtypes) {
  const Signal ramp = by_definition({0, 1, 2, 3, 4, 5, 6}, false);
  for (const Dtype dtype :
       {Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::int64, Dtype::float64, Dtype::complex128}) {
    const Array got = fft::fft(nd::arange(7).astype(dtype));
    BOOST_TEST((got.dtype() == Dtype::complex128));
    BOOST_TEST(error(got, ramp) < kDouble);
  }
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::complex64}) {
    const Array got = fft::fft(nd::arange(7).astype(dtype));
    BOOST_TEST((got.dtype() == Dtype::complex64));
    BOOST_TEST(error(got, ramp) < kSingle);
  }
  BOOST_TEST((fft::rfft(nd::ones({4}, Dtype::bool_)).dtype() == Dtype::complex128));
  BOOST_TEST((fft::irfft(nd::ones({4}, Dtype::float16)).dtype() == Dtype::float32));
}

BOOST_AUTO_TEST_CASE(many_rows) {
  if (cpu_is_current()) check_many_rows();
  else BOOST_TEST_MESSAGE("these numbers of rows have a meaning on the CPU only");
}
BOOST_AUTO_TEST_CASE(several_axes) { check_several_axes(); }
BOOST_AUTO_TEST_CASE(several_axes_without_a_library) {
  if (nd::current_device() == nd::cpu_device) return;
  const nd::cuda::OwnTransforms own;
  check_several_axes();
}

// As printed by NumPy 2.4.
BOOST_AUTO_TEST_CASE(frequencies_and_shifts) {
  check_values<double>(fft::fftfreq(5, 0.1), {0, 2, 4, -4, -2});
  check_values<double>(fft::fftfreq(4), {0, 0.25, -0.5, -0.25});
  check_values<double>(fft::fftfreq(1), {0});
  check_values<double>(fft::rfftfreq(5, 0.1), {0, 2, 4});
  check_values<double>(fft::rfftfreq(4), {0, 0.25, 0.5});
  check_values<std::int64_t>(fft::fftshift(nd::arange(5)), {3, 4, 0, 1, 2});
  check_values<std::int64_t>(fft::ifftshift(nd::arange(5)), {2, 3, 4, 0, 1});
  check_values<std::int64_t>(fft::fftshift(nd::arange(4)), {2, 3, 0, 1});
  const Array grid = nd::arange(6).reshape(2, 3);
  check_values<std::int64_t>(fft::fftshift(grid), {5, 3, 4, 2, 0, 1});
  check_values<std::int64_t>(fft::fftshift(grid, 1), {2, 0, 1, 5, 3, 4});
  check_values<std::int64_t>(fft::fftshift(grid, {0}), {3, 4, 5, 0, 1, 2});
  for (const std::int64_t n : {1, 2, 7, 8})
    check_values<std::int64_t>(fft::ifftshift(fft::fftshift(nd::arange(n))), nd::arange(n).to_vector<std::int64_t>());
}

// The same bits for one row and many, one thread and several.
BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_division_of_work) {
  const nd::cuda::OwnTransforms own;  // a library may choose another kernel for more rows
  const auto bits = [](const Array& a) { return a.to_host().copy().view(Dtype::uint64).to_vector<std::uint64_t>(); };
  for (const std::int64_t n : {12, 97, 100, 500, 1024, 1009, 1034, 1328, 40000}) BOOST_TEST_CONTEXT("n = " << n) {
      const Array x = draw({n > 2000 ? 3 : 40, n}, Dtype::complex128);
      const int threads = catena::max_threads();
      catena::set_max_threads(1);
      const auto one = bits(fft::fft(x));
      catena::set_max_threads(3);
      const auto three = bits(fft::fft(x));
      const auto row = bits(fft::fft(x(2)));
      catena::set_max_threads(threads);
      BOOST_TEST((one == three));
      BOOST_TEST((row == std::vector(one.begin() + 4 * n, one.begin() + 6 * n)));
    }
}

// Nor do real transforms depend on it; and no row, whatever its numbers are, has an effect on another one.
BOOST_AUTO_TEST_CASE(real_rows_do_not_depend_on_other_rows) {
  const nd::cuda::OwnTransforms own;
  const auto bits = [](const Array& a) { return a.to_host().copy().view(Dtype::uint32).to_vector<std::uint32_t>(); };
  const std::vector<std::int64_t> lengths =
      cpu_is_current() ? std::vector<std::int64_t>{7, 12, 15, 105, 111, 185, 297, 349, 1023, 1024, 40001}
                       : std::vector<std::int64_t>{12, 105};
  for (const std::int64_t n : lengths)
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) BOOST_TEST_CONTEXT("n = " << n << ", " << dtype) {
        const std::int64_t rows = n > 2000 ? 3 : 40;
        const Array x = draw({rows, n}, dtype), other = x.copy();
        other(0) = nd::nan;
        other(rows - 1) = 1e30;
        const Array y = fft::rfft(x), z = fft::rfft(other), back = fft::irfft(y, n);
        const int threads = catena::max_threads();
        catena::set_max_threads(3);
        BOOST_TEST((bits(fft::rfft(x)) == bits(y)));
        BOOST_TEST((bits(fft::irfft(y, n)) == bits(back)));
        catena::set_max_threads(threads);
        BOOST_TEST((bits(z(1)) == bits(y(1))));
        BOOST_TEST((bits(fft::rfft(x(1))) == bits(y(1))));
        BOOST_TEST((bits(fft::irfft(z, n)(1)) == bits(back(1))));
        BOOST_TEST((bits(fft::irfft(y(1), n)) == bits(back(1))));
      }
}

BOOST_AUTO_TEST_CASE(empty_and_wrong) {
  BOOST_TEST(fft::fft(nd::zeros({0, 4})).shape() == Shape({0, 4}));
  BOOST_TEST(fft::rfft(nd::zeros({0, 4})).shape() == Shape({0, 3}));
  BOOST_TEST(fft::irfft(nd::zeros({0, 4})).shape() == Shape({0, 6}));
  check_values<double>(fft::fft(nd::zeros({2, 0}), 2).real(), {0, 0, 0, 0});
  const auto message = [](auto&& f) { return message_of<catena::Error>(f); };
  BOOST_CHECK_THROW(fft::fft(nd::zeros({0})), catena::ValueError);
  BOOST_CHECK_THROW(fft::fft(nd::ones({3}), 0), catena::ValueError);
  BOOST_CHECK_THROW(fft::irfft(nd::ones({1})), catena::ValueError);
  BOOST_CHECK_THROW(fft::fft(nd::array(1.0)), catena::ValueError);
  BOOST_CHECK_THROW(fft::fft(nd::ones({3}), {.axis = 1}), catena::ValueError);
  BOOST_CHECK_THROW(fft::fft(Array()), catena::TypeError);
  BOOST_CHECK_THROW(fft::fftfreq(0), catena::ValueError);
  BOOST_CHECK_THROW(fft::rfftfreq(-1), catena::ValueError);
  BOOST_CHECK_THROW(fft::fftn(nd::ones({3, 3}), {.s = Shape{2}, .axes = {0, 1}}), catena::ValueError);
  BOOST_CHECK_THROW(fft::rfftn(nd::array(1.0)), catena::ValueError);
  const std::string norm = message([] { fft::fft(nd::ones({3}), {.norm = "none"}); });
  BOOST_TEST(contains(norm, "fft: norm \"none\" is none of \"backward\", \"ortho\" and \"forward\""), norm);
  const std::string complex = message([] { fft::rfft(nd::ones({3}, Dtype::complex64)); });
  BOOST_TEST(contains(complex, "rfft: the numbers are complex64; real ones are needed"), complex);
}

BOOST_AUTO_TEST_SUITE_END()
