// Two tones in noise: their frequencies from the spectrum, a filter that keeps one of them, and the speed of a tone
// from its unwrapped phase.
// writes: spectrum.png
// prints: tones at 50 and 120 Hz
// prints: the filtered signal differs from the tone of 50 Hz by 0[.]0[0-9]*
#include <cmath>
#include <complex>
#include <cstdlib>
#include <iostream>

#include <catena/ndarray/ndarray.h>

#include "picture.h"

namespace {

void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

}  // namespace

int main() {
  constexpr double rate = 1000;  // samples per second
  const nd::Array t = nd::arange(2000.) / rate;
  const nd::Array low = nd::sin(2 * nd::pi * 50 * t), high = 0.5 * nd::sin(2 * nd::pi * 120 * t);
  auto random = nd::random::default_rng(1);
  const nd::Array signal = low + high + random.normal(0, 0.2, t.shape());

  // The spectrum of the signal with faded ends, and its two highest peaks.
  const nd::Array power = nd::square(nd::abs(nd::fft::rfft(signal * nd::hanning(t.size()))));
  const nd::Array frequency = nd::fft::rfftfreq(t.size(), 1 / rate);
  const nd::Array inner = power(nd::Slice(1, -1));
  const nd::Array is_peak = (inner > power(nd::Slice({}, -2))) & (inner > power(nd::Slice(2, {})));
  const nd::Array peaks = nd::nonzero(is_peak)[0] + 1;
  const nd::Array highest = peaks(nd::argsort(power(peaks))(nd::Slice(-2, {})));
  const nd::Array tones = nd::sort(frequency(highest));
  std::cout << "tones at " << double(tones(0)) << " and " << double(tones(1)) << " Hz\n";
  check(bool(nd::allclose(tones, nd::array({50., 120.}), {.atol = 0.5})), "both tones are found");

  // A low pass of 101 taps: the sinc of a rectangle up to 80 Hz, with a window.
  const nd::Array k = nd::arange(-50., 51.);
  const nd::Array taps = nd::sinc(2 * 80 / rate * k) * nd::hamming(101);
  const nd::Array filtered = nd::convolve(signal, taps / taps.sum(), "same");
  const nd::Slice middle(100, -100);
  const double error = double(nd::sqrt(nd::square((filtered - low)(middle)).mean()));
  std::cout << "the filtered signal differs from the tone of 50 Hz by " << error << "\n";
  check(error < 0.1, "the tone of 120 Hz and most of the noise are gone");

  // Above, a tenth of a second of the signal and of the filtered signal; below, the spectrum up to 200 Hz in decibels.
  const nd::Array grey = nd::array({200., 200., 200.}), blue = nd::array({30., 90., 200.}),
                  red = nd::array({210., 50., 40.});
  Picture above{640, 200, 0.5, 0.6, -2.2, 2.2}, below{640, 200, 0, 200, -70, 5};
  const nd::Slice shown(500, 601), heard({}, 401);
  above.line({0.5, 0.6}, {0., 0.}, grey, 1);
  above.line(t(shown), signal(shown), grey);
  above.line(t(shown), filtered(shown), blue);
  const nd::Array decibels = nd::maximum(10 * nd::log10(power / power.max()), -70);
  for (const double at : {50., 100., 150.}) below.line({at, at}, {-70., 5.}, grey, 1);
  below.line(frequency(heard), decibels(heard), blue, 2);
  below.points(tones, nd::interp(tones, frequency, decibels), red, 12);
  above.pixels = nd::concatenate({above.pixels, below.pixels});
  above.height += below.height;
  above.write("spectrum.png");

  // The analytic signal has no negative frequencies. Its phase grows by 2 pi 50 in a second.
  const nd::Array spectrum = nd::fft::fft(filtered);
  const nd::Array half = nd::where(nd::fft::fftfreq(t.size()) > 0, 2., 0.);
  const nd::Array analytic = nd::fft::ifft(spectrum * half);
  const nd::Array phase = nd::unwrap(nd::arctan2(analytic.imag(), analytic.real()));
  const nd::Array line = nd::polyfit(t(middle), phase(middle), 1);
  std::cout << "the phase grows by 2 pi " << double(line(0)) / (2 * nd::pi) << " in a second\n";
  check(std::abs(double(line(0)) / (2 * nd::pi) - 50) < 0.05, "the phase has the frequency of the tone");
}
