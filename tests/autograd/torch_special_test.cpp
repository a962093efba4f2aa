// The functions of torch.special: values of PyTorch and SciPy, derivatives, errors.
#include <catena/autograd/functions/torch_special.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;
using Doubles = std::vector<double>;

namespace {

Variable numbers(const Doubles& values) {
  return Variable(array<double>(values, {std::int64_t(values.size())}), {.requires_grad = false});
}
const Doubles kAt = {0.5, 1.5, 3.0, 8.0};
void check(const char* name, const Variable& y, const Doubles& expected, double rtol = 1e-12) {
  BOOST_TEST_CONTEXT(name)
  BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), array<double>(expected, y.shape()), 1e-14, rtol));
}

struct Row {
  const char* name;
  Variable (*function)(const Variable&);
  Doubles expected;  // at kAt
  double low, high;  // where derivatives are tested
};
const Row kRows[] = {
    {"bessel_j0",
     special::bessel_j0,
     {0.938469807240813, 0.5118276717359184, -0.2600519549019335, 0.1716508071375539},
     -2,
     2},
    {"bessel_j1",
     special::bessel_j1,
     {0.24226845767487387, 0.5579365079100997, 0.33905895852593654, 0.2346363468539146},
     -2,
     2},
    {"bessel_y0",
     special::bessel_y0,
     {-0.4445187335067066, 0.3824489237977592, 0.3768500100127906, 0.22352148938756622},
     0.5,
     3},
    {"bessel_y1",
     special::bessel_y1,
     {-1.4714723926702433, -0.41230862697391135, 0.3246744247918001, -0.15806046173124746},
     0.5,
     3},
    {"i0", i0, {1.0634833707413236, 1.6467231897728907, 4.880792585865024, 427.56411572180474}, -2, 2},
    {"i0e", special::i0e, {0.6450352704491501, 0.36743360905415834, 0.24300035416182536, 0.1434317818568503}, 0.2, 2},
    {"i1", special::i1, {0.25789430539089636, 0.9816664285779075, 3.9533702174026093, 399.8731367825599}, -2, 2},
    {"i1e", special::i1e, {0.15642080318487173, 0.21903938742092566, 0.19682671329730084, 0.13414249329269812}, 0.2, 2},
    {"k0",
     special::modified_bessel_k0,
     {0.924419071227666, 0.21380556264752565, 0.03473950438627925, 0.00014647070522281542},
     0.5,
     3},
    {"k1",
     special::modified_bessel_k1,
     {1.6564411200033007, 0.27738780045684397, 0.04015643112819419, 0.00015536921180500112},
     0.5,
     3},
    {"scaled k0",
     special::scaled_modified_bessel_k0,
     {1.5241093857739099, 0.9582100532948961, 0.6977615980438517, 0.43662301860158614},
     0.5,
     3},
    {"scaled k1",
     special::scaled_modified_bessel_k1,
     {2.7310097082117855, 1.2431658735525537, 0.806563480128787, 0.46314909287049605},
     0.5,
     3},
    {"spherical_bessel_j0",
     special::spherical_bessel_j0,
     {0.958851077208406, 0.6649966577360363, 0.0470400026866224, 0.12366978082792272},
     -2,
     2},
    {"erfcx",
     special::erfcx,
     {0.6156903441929258, 0.3215854164543176, 0.17900115118138998, 0.06998516620088094},
     -1,
     3},
};

// The rules are the same on every device, so others than the CPU check fewer dtypes and derivatives.
bool on_cpu() { return test::default_device().kind == Device::Kind::cpu; }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_special)

BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  const test::DerivativeOptions o{
      .twice = on_cpu(), .atol32 = 1e-4, .rtol32 = 1e-3, .atol16 = 2e-2, .rtol16 = 3e-2, .narrow = on_cpu()};
  for (const Row& row : kRows) {
    check(row.name, row.function(numbers(kAt)), row.expected);
    for (const Shape& shape : {Shape{4}, Shape{}, Shape{0, 2}})
      test::check_derivatives(
          row.name, [&](const Variables& v) { return Variables{row.function(v[0])}; },
          {spread(shape, row.low, row.high)}, o);
  }
  // The limits of the quotients at 0.
  for (const auto f : {&special::bessel_j1, &special::i1, &special::i1e}) {
    Variable x(arrays::zeros({}, Dtype::float64));
    f(x).backward();
    // Exactly on the CPU; device functions may round once.
    BOOST_TEST(std::abs(item(x.grad()).to<double>() - 0.5) <= (x.device() == Device() ? 0 : 0x1p-52));
  }
}

BOOST_AUTO_TEST_CASE(large_and_negative_operands) {
  check("erfcx", special::erfcx(numbers({-1, -5, 20, 1e5})),
        {5.008980080762283, 144009798674.66104, 0.028174348741051323, 5.6418958351954685e-06});
  check("k0", special::scaled_modified_bessel_k0(numbers({1.99, 2.01, 50, 700})),
        {0.843493973378993, 0.8396557490908679, 0.17680715585742932, 0.04736236945461357});
  check("k1", special::scaled_modified_bessel_k1(numbers({1.99, 2.01, 50, 700})),
        {1.0367396067608632, 1.0302428743356034, 0.17856655855881556, 0.04739618765349455});
  check("airy_ai", special::airy_ai(numbers(kAt)),
        {0.23169360648083345, 0.07174949700810533, 0.00659113935746072, 4.692207616099224e-08}, 1e-10);
  check("airy_ai", special::airy_ai(numbers({-0.5, -1.5, -3, -8})),
        {0.4757280916105395, 0.46425657774886947, -0.37881429367765806, -0.05270505035638643}, 1e-10);
}

BOOST_AUTO_TEST_CASE(gamma_and_zeta_functions) {
  check("zeta", special::zeta(numbers({2, 3.5, 4, 1.5}), numbers(kAt)),
        {4.93480220054468, 0.30709616445713417, 0.019823233711138193, 0.7298928428027668});
  check("igamma", igamma(numbers(kAt), numbers({0.2, 3, 2.5, 9})),
        {0.47291074313446185, 0.8883897749052874, 0.45618688411667035, 0.6761030356871038});
  check("igammac", igammac(numbers(kAt), numbers({0.2, 3, 2.5, 30})),
        {0.5270892568655381, 0.11161022509471251, 0.5438131158833297, 5.233734167070711e-07});
  check("igamma", special::gammainc(numbers({200, 50, 0, 2}), numbers({190, 70, 1, 0})),
        {0.24334742710062393, 0.994859497541494, 1, 0}, 1e-11);
  check("mvlgamma", mvlgamma(numbers({2.5, 3.5, 5, 10}), 3),
        {1.8809954616117743, 3.895898482154039, 9.140644699192542, 36.81285863239809});
  BOOST_TEST(std::isnan(item(igamma(numbers({-1}), 1).data()).to<double>()));
  const test::DerivativeOptions o{.twice = on_cpu(), .narrow = false};
  const Variable order = numbers({0.7, 2, 3.5});
  using Two = Variable (*)(const Variable&, const Variable&);
  for (const Two f : {Two(special::gammainc), Two(special::gammaincc), Two(special::zeta)})
    test::check_derivatives(
        "the second operand", [&](const Variables& v) { return Variables{f(order + 1, v[0])}; },
        {spread({2, 3}, 0.5, 3)}, o);
  Variable a(arrays::full({2}, 2.0, Dtype::float64));
  BOOST_CHECK_THROW(igamma(a, 1).sum().backward(), catena::NotImplementedError);
  BOOST_CHECK_THROW(special::zeta(a, 1).sum().backward(), catena::NotImplementedError);
  BOOST_CHECK_THROW(mvlgamma(a, 0), catena::ValueError);
  BOOST_CHECK_THROW(igamma(Variable(arrays::ones({2}, Dtype::int32)), 1), catena::InvalidType);
  BOOST_CHECK_THROW(igamma(a, Variable(arrays::ones({2}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(polynomials) {
  using namespace special;
  const Variable x = numbers({-0.7, 0.3, 0.9, 1.4});
  check("t", chebyshev_polynomial_t(x, 3), {0.728, -0.792, 0.216, 6.776});
  check("u", chebyshev_polynomial_u(x, 3), {0.056, -0.984, 2.232, 16.352}, 1e-11);
  check("v", chebyshev_polynomial_v(x, 3), {-0.904, -0.344, -0.008, 9.512}, 1e-11);
  check("w", chebyshev_polynomial_w(x, 3), {1.016, -1.624, 4.472, 23.192});
  check("h", hermite_polynomial_h(x, 3), {5.656, -3.384, -4.968, 5.152});
  check("he", hermite_polynomial_he(x, 3), {1.757, -0.873, -1.971, -1.456});
  check("l", laguerre_polynomial_l(x, 3), {3.8921666666666668, 0.2305, -0.6065, -0.7173333333333334});
  check("p", legendre_polynomial_p(x, 3), {0.1925, -0.3825, 0.4725, 4.76});
  check("shifted t", shifted_chebyshev_polynomial_t(x, 3), {-48.096, 0.944, -0.352, 17.928}, 1e-11);
  check("shifted u", shifted_chebyshev_polynomial_u(x, 1), {-4.8, -0.8, 1.6, 3.6});
  check("shifted v", shifted_chebyshev_polynomial_v(x, 1), {-5.8, -1.8, 0.6, 2.6});
  check("shifted w", shifted_chebyshev_polynomial_w(x, 3), {-78.952, 0.728, 2.456, 51.416});
  // The degrees broadcast; below 0 the polynomial is 0.
  check("degrees", legendre_polynomial_p(0.5, numbers({-1, 0, 1, 2})), {0, 1, 0.5, -0.125});
  check("integer degrees", legendre_polynomial_p(numbers({0.5, 0.5}), astype(numbers({1, 2}).data(), Dtype::int32)),
        {0.5, -0.125});
}

BOOST_AUTO_TEST_CASE(unusual_degrees) {
  using namespace special;
  using Two = Variable (*)(const Variable&, const Variable&);
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Two f : {Two(chebyshev_polynomial_t), Two(chebyshev_polynomial_u), Two(chebyshev_polynomial_v),
                      Two(chebyshev_polynomial_w), Two(shifted_chebyshev_polynomial_t), Two(hermite_polynomial_h),
                      Two(hermite_polynomial_he), Two(laguerre_polynomial_l), Two(legendre_polynomial_p)}) {
    const std::vector<double> y =
        to_vector<double>(f(numbers({0.3, 0.3, 0.3, 0.3, 0.3, 0.3}), numbers({-0.5, 0.9, -1, inf, -inf, nan})).data());
    check("rounded", Variable(slice(array<double>(y, {6}), 0, 0, 3), {.requires_grad = false}), {1, 1, 0});
    for (int k = 3; k < 6; ++k) BOOST_TEST(std::isnan(y[k]));
  }
  check("l", laguerre_polynomial_l(numbers({0.3, 1, -1, 1.5}), 2.7), {0.445, -0.5, 3.5, -0.875});
  // At 1 and -1, and by the angle for high degrees.
  const Variable at = numbers({1, -1, 0.9999, -0.3});
  check("t", chebyshev_polynomial_t(at, 7), {1, -1, 0.9951039188241685, 0.8461632}, 1e-11);
  check("u", chebyshev_polynomial_u(at, 7), {8, -8, 7.983210077360355, 0.6785664}, 1e-11);
  check("v", chebyshev_polynomial_v(at, 7), {1, -15, 0.9944050383202648, 0.1199104}, 1e-11);
  check("w", chebyshev_polynomial_w(at, 7), {15, -1, 14.972015116400446, 1.2372224}, 1e-11);
  check("t", chebyshev_polynomial_t(at, 1000003), {1, -1, 0.40462994970087257, 0.07851944626271785}, 1e-8);
  check("u", chebyshev_polynomial_u(at, 1000003), {1000004, -1000004, -64.25405719692394, -0.23499505663611192}, 1e-8);
  check("v", chebyshev_polynomial_v(at, 1000003), {1, -2000007, 0.4110964650664588, -1.2800434001632435}, 1e-8);
  check("w", chebyshev_polynomial_w(at, 1000003), {2000007, -1, -128.91921085898198, 0.8100532867510183}, 1e-8);
  check("shifted t", shifted_chebyshev_polynomial_t(numbers({0.3, 1, 0}), 1000003), {0.7571402970120902, 1, -1}, 1e-8);
  check("p", legendre_polynomial_p(numbers({1, -1}), 1e15 + 1), {1, -1});
  BOOST_TEST(std::isnan(to_vector<double>(chebyshev_polynomial_t(numbers({1.5}), 1e9).data())[0]));
  BOOST_CHECK_THROW(legendre_polynomial_p(numbers({0.5}), 2e6), catena::ValueError);
  BOOST_CHECK_THROW(laguerre_polynomial_l(numbers({0.5}), 2e6), catena::ValueError);
}

// As those of functions with kernels.
BOOST_AUTO_TEST_CASE(integers_are_converted) {
  const Variable x = as_variable(astype(numbers({1, 2}).data(), Dtype::int64));
  BOOST_TEST((special::erfcx(x).dtype() == special::i1(x).dtype()));
  const using_config scope({.dtype = Dtype::float64});
  check("erfcx", special::erfcx(x), {0.427583576155807, 0.255395676310505}, 1e-9);
  check("k0", special::modified_bessel_k0(x), {0.421024438240708, 0.113893872749533}, 1e-9);
  check("airy_ai", special::airy_ai(x), {0.135292416312881, 0.034924130423274}, 1e-9);
  BOOST_CHECK_THROW(igamma(x, x), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(other_names) {
  const Variable x = numbers({1, 2, 3});
  check("softmax", special::softmax(x, 0), {0.09003057317038045, 0.2447284710547976, 0.6652409557748218});
  check("log_softmax", exp(special::log_softmax(x, 0)), {0.09003057317038045, 0.2447284710547976, 0.6652409557748218});
  check("xlogy", special::xlogy(x, 2.0), {std::log(2.0), 2 * std::log(2.0), 3 * std::log(2.0)});
  check("xlogy", special::xlogy(2, x), {0, 2 * std::log(2.0), 2 * std::log(3.0)});
  check("psi", special::psi(x), {-0.57721566490153286, 0.42278433509846714, 0.92278433509846714});
  check("expit", special::expit(special::logit(numbers({0.25}))), {0.25});
  check("multigammaln", special::multigammaln(x, 1), {0, 0, std::log(2.0)});
}

BOOST_AUTO_TEST_SUITE_END()
