// torch.fft on variables, and parts of complex variables: PyTorch's values and gradients, errors.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/catena.h>

using autograd::tensor;
using autograd::Variable;
namespace fft = autograd::fft;
using Doubles = std::vector<double>;

namespace {

// Real numbers, or the parts of complex ones.
Doubles of(const Variable& v) {
  if (v.is_complex()) return of(autograd::view_as_real(v.detach()));
  return nd::Array(v.data()).astype(nd::float64).to_vector<double>();
}
void check(const Variable& v, const Doubles& expected, double tolerance = 1e-12) {
  const Doubles values = of(v);
  BOOST_TEST_REQUIRE(values.size() == expected.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    BOOST_TEST(std::abs(values[k] - expected[k]) <= tolerance * (1 + std::abs(expected[k])),
               "element " << k << ": " << values[k] << " is not " << expected[k]);
}
Variable signal() { return Variable(nd::array({1.0, 2.0, -3.0, 4.0, 0.5})); }
Variable matrix() {
  const nd::Array a = nd::arange(12.0);
  return Variable((a * a % 7).reshape({3, 4}));
}
Variable complex_signal() {
  const nd::Array re = nd::array({1.0, 2.0, -3.0, 4.0, 0.5});
  return Variable(nd::Array(autograd::complex(Variable(re), Variable(nd::flip(re))).data()));
}
void backward(const Variable& y) { autograd::sum(y).backward(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_fft)

BOOST_AUTO_TEST_CASE(along_one_axis) {
  const Variable x = signal();
  check(fft::fft(x), {4.5, 0.0, 0.9635254915624213, 2.687911991604582, -0.713525491562421, -7.539073492504785,
                      -0.713525491562421, 7.539073492504785, 0.9635254915624213, -2.687911991604582});
  check(fft::fft(x, {.n = 4, .norm = "forward"}), {1, 0, 1, 0.5, -2, 0, 1, -0.5});
  check(fft::ifft(x, 4, -1, "forward"), {4, 0, 4, -2, -8, 0, 4, 2});
  check(fft::rfft(x, {.n = 7, .norm = "ortho"}),
        {1.7008401285415224, 0.0, -0.43081052070454745, -0.059518940666679336, 2.2918136027376987, -0.19468831062241992,
         -1.388547490771617, -2.504207251289099});
  check(fft::ihfft(x, 4, 0, "forward"), {4, 0, 4, -2, -8, 0});
  check(fft::ihfft(x), {0.9, 0, 0.19270509831248425, -0.5375823983209165, -0.14270509831248415, 1.507814698500957});
  check(fft::irfft(x), {0.9375, -0.2910533905932738, 0.9375, 0.4160533905932738, -2.0625, 0.4160533905932738, 0.9375,
                        -0.2910533905932738});
  check(fft::irfft(x, 4, -1, "forward"), {2, 4, -6, 4});
  check(fft::hfft(x, {.n = 7, .norm = "ortho"}),
        {2.6457513110645903, -0.8990512910638643, 3.9700057380800065, -3.070954447016142, -3.070954447016142,
         3.9700057380800065, -0.8990512910638643});
  check(fft::hfft(x, 4), {2, 4, -6, 4});
  check(fft::fft(autograd::cast(x, nd::float32)).abs(), of(fft::fft(x).abs()), 1e-6);
  BOOST_TEST(fft::fft(autograd::cast(x, nd::float32)).dtype() == nd::complex64);
  BOOST_TEST(fft::rfft(x, {}, 0).shape() == nd::Shape{3});
}

BOOST_AUTO_TEST_CASE(along_several_axes) {
  const Variable x = matrix();
  check(fft::rfft2(x), {23.0, 0.0, -4.0, -5.0, -3.0, 0.0, -1.0, 1.7320508075688772, -5.732050807568877,
                        2.267949192431123, 3.0, -1.7320508075688772, -1.0, -1.7320508075688772, -2.267949192431123,
                        5.732050807568877, 3.0, 1.7320508075688772});
  check(fft::irfft2(x, {2, 5}), {2.2, -0.3, -0.3, -0.3, -0.3, -0.2, -0.870820393249937, 0.47082039324993685,
                                 0.47082039324993685, -0.870820393249937});
  check(fft::irfft2(x),
        {2.1666666666666665, 0.055555555555555615, -0.5, -0.2777777777777778, -0.5, 0.055555555555555615,
         -0.08333333333333337, -0.36111111111111105, -0.08333333333333333, 0.47222222222222215, 0.08333333333333333,
         -0.5277777777777777, -0.08333333333333337, -0.5277777777777777, 0.08333333333333333, 0.47222222222222215,
         -0.08333333333333333, -0.36111111111111105});
  check(fft::hfft2(x),
        {39.0, 1.0, -9.0, -5.0, -9.0, 1.0, -1.5, -6.5, -1.5, 8.5, 1.5, -9.5, -1.5, -9.5, 1.5, 8.5, -1.5, -6.5});
  check(fft::hfftn(x, {4, 3}, {1, 0}, "ortho"),
        {6.062177826491071, -0.5773502691896258, -0.2886751345948129, -0.5773502691896258, 0.0, -3.4433756729740645,
         0.5773502691896258, 0.5566243270259356, 0.0, 0.5566243270259356, 0.5773502691896258, -3.4433756729740645});
  check(fft::ihfft2(x), {1.9166666666666665, 0, -0.3333333333333333, 0.41666666666666663, -0.25, 0,
                         -0.08333333333333333, -0.14433756729740643, -0.4776709006307397, -0.18899576603592688, 0.25,
                         0.14433756729740643, -0.08333333333333333, 0.14433756729740643, -0.18899576603592688,
                         -0.4776709006307397, 0.25, -0.14433756729740643});
  // The transforms of two axes are those of one after the other, and the inverses bring x back.
  check(fft::fft2(x), of(fft::fft(fft::fft(x), {.dim = 0})));
  check(fft::fftn(x, {.s = nd::Shape{-1, 3}}), of(fft::fft(fft::fft(x, 3), {}, 0)));
  check(autograd::real(fft::ifft2(fft::fft2(x))), of(x));
  check(autograd::real(fft::ifftn(fft::fftn(x, {.norm = "ortho"}), {.norm = "ortho"})), of(x));
  check(fft::irfftn(fft::rfftn(x)), of(x));
  check(autograd::real(fft::fftn(fft::ifftn(x))), of(x));
  check(fft::ihfftn(x), of(fft::ihfft2(x)));
}

BOOST_AUTO_TEST_CASE(gradients) {
  Variable x = signal();
  const Variable weights = tensor(nd::array({1.0, -2.0, 3.0, 0.5}));
  backward(autograd::abs(fft::rfft(x, 6)) * weights);
  check(x.grad(), {3.7218386899545846, 4.134811054272738, -1.356649744227323, 2.7218386899545846, -0.8651889457272617});
  x = signal();
  const Variable z = fft::ifft(fft::fft(x)(nd::Slice(0, 4)), {.norm = "ortho"}), im = autograd::imag(z);
  backward(autograd::real(z) * weights + im * im);
  check(x.grad(), {2.0, 4.624193540671731, -28.898996558901864, 30.34859002796407, -1.8237870097339424});
  x = signal();
  backward(fft::irfft(fft::rfft(x)(nd::Slice(0, 2)), 5) * tensor(nd::array({1.0, -2.0, 3.0, 0.5, 2.0})));
  check(x.grad(), {0.1673762078750738, -0.2145898033750312, 0.9437694101250947, 2.041640786499874, 1.5618033988749893});
  Variable c = complex_signal();
  backward(fft::irfft(c, 8).pow(2));
  check(Variable(c.grad()), {0.25, 0, 1, 2, -1.5, -1.5, 2, 1, 0.125, 0});
  c = complex_signal();
  backward(fft::hfft(c, 7, -1, "forward").pow(2));
  check(Variable(c.grad()), {0.2857142857142858, 0, 1.1428571428571428, 2.2857142857142856, -1.714285714285714,
                             -1.7142857142857144, 2.285714285714285, 1.142857142857143, 0, 0});
  x = matrix();
  backward(autograd::abs(fft::rfft2(x)).pow(2) * tensor(nd::arange(9.0).reshape({3, 3})));
  check(x.grad(), {-37.60769515458673, -172.39230484541326, 133.60769515458674, 4.392304845413253, 54.588457268119896,
                   65.4115427318801, -114.5884572681199, -77.4115427318801, -76.98076211353316, 172.98076211353316,
                   -31.019237886466847, 79.01923788646684});
}

// The sum of squares of the parts of all results is quadratic: its second derivative is that of PyTorch's norm.
BOOST_AUTO_TEST_CASE(gradients_of_gradients) {
  Variable x = signal();
  const auto parts = autograd::view_as_real(fft::rfft(x));
  const Variable g = autograd::grad(autograd::sum(parts * parts * parts), x, {.create_graph = true})[0];
  backward(g * g);
  const Doubles given = of(x.grad()), at = of(signal());
  const double h = 1e-4;
  const auto value = [](const Doubles& values) {
    Variable v(nd::array(values));
    const auto p = autograd::view_as_real(fft::rfft(v));
    autograd::sum(p * p * p).backward();
    double total = 0;
    for (const double d : of(v.grad())) total += d * d;
    return total;
  };
  for (std::size_t k = 0; k < at.size(); ++k) {
    Doubles up = at, down = at;
    up[k] += h;
    down[k] -= h;
    const double numerical = (value(up) - value(down)) / (2 * h);
    BOOST_TEST(std::abs(given[k] - numerical) <= 1e-5 * std::abs(numerical));
  }
}

BOOST_AUTO_TEST_CASE(parts_of_complex_variables) {
  Variable c = complex_signal();
  const Variable weights = tensor(nd::array({1.0, 2.0, 3.0, 4.0, 5.0}));
  backward(autograd::angle(c) * weights);
  check(Variable(c.grad()), {-0.4, 0.8, -0.4, 0.2, 0.5, -0.5, -0.4, 0.8, -4, 2});
  Variable re(nd::array({3.0, 0.0})), im(nd::array({4.0, 0.0}));
  backward(autograd::abs(autograd::conj(autograd::complex(re, im))));
  check(Variable(re.grad()), {0.6, 0});
  check(Variable(im.grad()), {0.8, 0});
  Variable r(nd::array({2.0})), a(nd::array({0.5}));
  backward(autograd::imag(autograd::polar(r, a)));
  check(Variable(r.grad()), {std::sin(0.5)});
  check(Variable(a.grad()), {2 * std::cos(0.5)});
  Variable pairs(nd::array({{3.0, 4.0}}));
  backward(autograd::view_as_complex(pairs).abs());
  check(Variable(pairs.grad()), {0.6, 0.8});
}

BOOST_AUTO_TEST_CASE(frequencies_and_errors) {
  check(fft::fftfreq(5, 0.5), {0, 0.4, 0.8, -0.8, -0.4}, 1e-7);
  check(fft::rfftfreq(6, {.dtype = nd::float64}), {0, 1 / 6.0, 1 / 3.0, 0.5});
  BOOST_TEST(fft::fftfreq(4).dtype() == nd::float32);
  check(fft::fftshift(autograd::arange(5.0)), {3, 4, 0, 1, 2});
  check(fft::ifftshift(matrix(), 1), {4, 2, 0, 1, 1, 0, 2, 4, 2, 2, 1, 4});
  check(fft::ifftshift(fft::fftshift(matrix())), of(matrix()));
  const Variable x = signal();
  BOOST_CHECK_THROW(fft::fft(x, 0), catena::ValueError);
  BOOST_CHECK_THROW(fft::fft(x, {.norm = "other"}), catena::ValueError);
  BOOST_CHECK_THROW(fft::fft(x, {.dim = 1}), catena::AxisError);
  BOOST_CHECK_THROW(fft::rfft(fft::fft(x)), catena::TypeError);
  BOOST_CHECK_THROW(fft::fftn(x, {.dim = {0, -1}}), catena::ValueError);
  BOOST_CHECK_THROW(fft::fftn(x, {.s = nd::Shape{2, 2}}), catena::ValueError);
  // Chainer's functions of pairs are those of nn.
  const auto [real, imag] = nn::fft({x});
  check(real, of(autograd::real(fft::fft(x))));
  check(nn::functions::fft({x}).imag, of(autograd::imag(fft::fft(x))));
  check(nn::irfft(nn::rfft(x), 5), of(x));
}

BOOST_AUTO_TEST_SUITE_END()
