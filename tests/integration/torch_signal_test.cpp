// Windows, spectra over time, derivatives of samples and histograms: PyTorch's values and gradients, errors.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/catena.h>

using autograd::tensor;
using autograd::Variable;
using Doubles = std::vector<double>;

namespace {

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
Variable signal() {
  Doubles samples;
  for (int k = 0; k < 16; ++k) samples.push_back(std::sin(k * 0.7) + 0.1 * k);
  return Variable(nd::array(samples));
}
constexpr autograd::TensorOptions kWide{.dtype = nd::float64};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_signal)

BOOST_AUTO_TEST_CASE(windows) {
  check(autograd::bartlett_window(5, kWide), {0, 0.4, 0.8, 0.8, 0.4});
  check(autograd::bartlett_window(5, false, kWide), {0, 0.5, 1, 0.5, 0});
  check(autograd::blackman_window(5, kWide),
        {0, 0.20077014326253045, 0.8492298567374694, 0.8492298567374696, 0.20077014326253056});
  check(autograd::blackman_window(5, false, kWide), {0, 0.34, 1, 0.34, 0});
  check(autograd::hann_window(5, kWide),
        {0, 0.3454915028125263, 0.9045084971874737, 0.9045084971874737, 0.3454915028125264});
  check(autograd::hann_window(5, false, kWide), {0, 0.5, 1, 0.5, 0});
  check(autograd::hamming_window(5, kWide),
        {0.08, 0.3978521825875242, 0.9121478174124757, 0.912147817412476, 0.3978521825875243});
  check(autograd::hamming_window(4, true, 0.6, 0.4, kWide), {0.2, 0.6, 1, 0.6});
  check(autograd::kaiser_window(5, kWide),
        {5.2773441320097665e-05, 0.10171968770956323, 0.7929398341014605, 0.7929398341014605, 0.10171968770956323});
  check(autograd::kaiser_window(4, false, 3.0, kWide),
        {0.2048847564012536, 0.8712418740795513, 0.8712418740795513, 0.2048847564012536});
  check(autograd::hann_window(1), {1});
  check(autograd::hamming_window(1), {1});
  check(autograd::hann_window(0), {});
  BOOST_TEST(autograd::hann_window(4).dtype() == nd::float32);
  BOOST_TEST(autograd::hann_window(4, {.requires_grad = true}).requires_grad());
  BOOST_CHECK_THROW(autograd::hann_window(-1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(spectra_over_time) {
  const Variable x = signal(), window = autograd::hann_window(6, kWide);
  const Variable y = autograd::stft(x, 8, {.hop_length = 3, .win_length = 6, .window = window});
  BOOST_TEST(y.shape() == (nd::Shape{5, 6}));
  check(y(nd::Slice(0, 2)), {1.709051395850767,    0,
                             2.826896391644166,    0,
                             -0.14557227457815608, 0,
                             2.737532776432368,    0,
                             5.507675722624763,    0,
                             2.980134727325117,    0,
                             -0.7893620599871108,  0,
                             -2.181675352572073,   -0.3876435570545312,
                             0.3422347470509005,   -0.3704909589955277,
                             -1.8850481241309813,  1.3819206784126354,
                             -4.0206739204818,     -0.404628297248305,
                             -1.716518664334012,   0});
  const Variable weights = tensor(nd::arange(1.0, 6.0).reshape({5, 1}));
  autograd::sum(autograd::abs(y).pow(2) * autograd::broadcast_to(weights, {5, 6})).backward();
  check(Variable(x.grad()), {-8.531711296835354, 23.104746307816853, 12.251772393028656, 20.639941464229338,
                             6.937357808605475, 1.776338730530541, -5.7096399635492885, -3.4331368889451035,
                             0.15601697471401121, 15.385733786744161, 17.886256381947728, 21.306607323681014,
                             35.56582881991655, 16.92440829889989, 22.39660814394481, 6.679314141698347});
  const autograd::IstftOptions back{.hop_length = 3, .win_length = 6, .window = window};
  const Variable again = autograd::istft(y, 8, back);
  Doubles head = of(x);
  head.resize(15);
  check(again, head);
  check(autograd::istft(y, 8, {.hop_length = 3, .win_length = 6, .window = window, .length = 16}), of(x));
  // The inverse has the gradient of the identity.
  const Variable z = signal();
  autograd::sum(autograd::istft(autograd::stft(z, 8, {.hop_length = 3, .win_length = 6, .window = window}), 8, back))
      .backward();
  Doubles slopes(15, 1.0);
  slopes.push_back(0);
  check(Variable(z.grad()), slopes, 1e-10);
}

BOOST_AUTO_TEST_CASE(padding_and_batches) {
  const Variable x = signal();
  const std::pair<const char*, Doubles> kModes[] = {{"constant",
                                                     {0.10474791985279576, 0.8959765348869422, -0.858672341809347,
                                                      0.4019096654638893, -0.4725228186199724, -1.0253020301052413}},
                                                    {"replicate",
                                                     {0.10474791985279576, 0.8959765348869422, -0.858672341809347,
                                                      0.4019096654638893, -0.4725228186199724, -1.0253020301052413}},
                                                    {"circular",
                                                     {1.0808568606969011, -0.02927892380937234, -0.33819147370037067,
                                                      0.24683360545680677, -0.4725228186199724, -1.0253020301052413}}};
  for (const auto& [mode, expected] : kModes) {
    const Variable y = autograd::stft(x, 8, {.pad_mode = mode, .normalized = true, .onesided = false});
    BOOST_TEST(y.shape() == (nd::Shape{8, 9}));
    check(y(1, nd::Slice(0, 3)), expected);
  }
  const Variable two = autograd::stack({x, x * 2});
  const autograd::StftOptions plain{.center = false, .normalized = true, .onesided = false};
  const Variable y = autograd::stft(two, 4, plain);
  BOOST_TEST(y.shape() == (nd::Shape{2, 4, 13}));
  check(autograd::istft(y, 4, {.center = false, .normalized = true, .onesided = false}), of(two));
  BOOST_TEST(autograd::stft(x, 4, {.return_complex = false}).shape() == (nd::Shape{3, 17, 2}));
  BOOST_CHECK_THROW(autograd::stft(x, 8, {.window = autograd::hann_window(6)}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::stft(x, 40), catena::ValueError);
  BOOST_CHECK_THROW(autograd::stft(x, 8, {.hop_length = 0}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::stft(x, 8, {.pad_mode = "other"}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::stft(autograd::zeros(1, 2, 3), 2), catena::ValueError);
  BOOST_CHECK_THROW(autograd::istft(x, 4), catena::TypeError);
  // A periodic window is 0 at the first sample.
  const Variable edge = autograd::stft(x, 4, {.window = autograd::hann_window(4, kWide), .center = false});
  BOOST_CHECK_THROW(autograd::istft(edge, 4, {.window = autograd::hann_window(4, kWide), .center = false}),
                    catena::ValueError);
}

BOOST_AUTO_TEST_CASE(derivatives_of_samples) {
  const autograd::Variables g = autograd::gradient(tensor(nd::array({{1.0, 4.0, 9.0, 16.0}, {2.0, 3.0, 5.0, 8.0}})));
  check(g[0], {1, -1, -4, -8, 1, -1, -4, -8});
  check(g[1], {3, 4, 6, 7, 1, 1.5, 2.5, 3});
  Variable x(nd::array({1.0, 4.0, 9.0, 20.0}));
  const Variable at = tensor(nd::array({0.0, 1.0, 3.0, 4.0}));
  check(autograd::gradient(x, {.spacing = 0.5, .edge_order = 2})[0], {4, 8, 16, 28});
  check(autograd::gradient(x, {.spacing = autograd::Variables{at}})[0], {3, 2.8333333333333335, 8.166666666666664, 11});
  const Variable y = autograd::gradient(x, {.spacing = autograd::Variables{at}, .edge_order = 2})[0];
  check(y, {3.166666666666667, 2.8333333333333335, 8.166666666666664, 13.83333333333333});
  // It is linear: the estimates are the products of the slopes and x.
  double total = 0;
  autograd::sum(y).backward();
  const Doubles slopes = of(x.grad()), values = of(x);
  for (std::size_t k = 0; k < 4; ++k) total += slopes[k] * values[k];
  BOOST_TEST(std::abs(total - 28) < 1e-12);
  BOOST_CHECK_THROW(autograd::gradient(x, {.edge_order = 3}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::gradient(x, {.spacing = std::vector<double>{1, 2}}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::gradient(autograd::zeros(1, 4)), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(histograms) {
  const auto [hist, edges] =
      autograd::histogram(tensor({1.0, 2.0, 1.0}), 4, {.range = {0, 3}, .weight = tensor({1.0, 2.0, 4.0})});
  check(hist, {0, 5, 2, 0});
  check(edges, {0, 0.75, 1.5, 2.25, 3});
  BOOST_TEST(hist.dtype() == nd::float32);
  check(autograd::histogram(tensor({0.5, 1.5, 1.75}), tensor({0.0, 1.0, 3.0}), {.density = true}).hist,
        {1 / 3.0, 1 / 3.0}, 1e-6);
  const Variable points = tensor({{0.0, 1.0}, {1.0, 0.0}, {2.0, 0.0}, {2.0, 2.0}});
  const auto dd = autograd::histogramdd(points, {3, 3}, {.weight = tensor({1.0, 2.0, 4.0, 8.0})});
  check(dd.hist, {0, 1, 0, 2, 0, 0, 4, 0, 8});
  check(dd.bin_edges[1], {0, 2 / 3.0, 4 / 3.0, 2}, 1e-6);
  check(autograd::histogramdd(points, autograd::Variables{tensor({0.0, 1.0, 2.0}), tensor({0.0, 2.0})}).hist, {1, 3});
  check(autograd::histogramdd(points, std::vector<std::int64_t>{1, 2}, {.range = {0, 1, 0, 2}}).hist, {1, 1});
  BOOST_CHECK_THROW(autograd::histogram(points, 4, {.range = {0}}), catena::ValueError);
  BOOST_CHECK_THROW(autograd::histogramdd(tensor({1.0}), {2}), catena::ValueError);
}

// Integrals of integers, quantiles of integers, and coefficients that rounding leads out of [-1, 1].
BOOST_AUTO_TEST_CASE(statistics) {
  const Variable n = tensor({1, 2, 4});
  check(autograd::trapezoid(n, {.dx = 0.5}), {2.25});
  check(autograd::trapezoid(n), {4.5});
  BOOST_TEST(autograd::trapezoid(n).dtype() == nd::float32);
  check(autograd::cumulative_trapezoid(n, {.dx = 0.5}), {0.75, 2.25});
  check(autograd::cumulative_trapezoid(n), {1.5, 4.5});
  check(autograd::trapezoid(signal(), {.dx = 0.5}), {0.5 * of(autograd::trapezoid(signal()))[0]});
  BOOST_CHECK_THROW(autograd::quantile(n, 0.5), catena::InvalidType);
  BOOST_CHECK_THROW(autograd::quantile(n, tensor({0.5})), catena::InvalidType);
  BOOST_CHECK_THROW(autograd::nanquantile(n, 0.5), catena::InvalidType);
  autograd::manual_seed(3);
  const Variable one = autograd::randn({200, 7}, kWide), same = autograd::randn({1, 7}, kWide) * one.narrow(1, 0, 1);
  for (const Variable& x : {one, same}) BOOST_TEST(autograd::abs(autograd::corrcoef(x)).max().item<double>() <= 1);
  check(autograd::corrcoef(tensor(nd::array({{1.0, 2.0, 3.0}, {2.0, 4.0, 6.1}}))), {1, 0.9999008277, 0.9999008277, 1},
        1e-7);
}

BOOST_AUTO_TEST_SUITE_END()
