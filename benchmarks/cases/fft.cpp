// Fourier transforms of rows of signals. The result that is compared is the real part of the spectrum.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

nd::Array signal(const Parameters& p, std::int64_t seed) { return input(p, {p.at("rows"), p.at("columns")}, seed, -1); }

Ready complex(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        const nd::Array a =
            nd::empty({p.at("rows"), p.at("columns")}, get(p, "dtype", 'f') == 'f' ? nd::complex64 : nd::complex128);
        a.real()(nd::ellipsis) = signal(p, 2 * seed);
        a.imag()(nd::ellipsis) = signal(p, 2 * seed + 1);
        return a;
      },
      [](const nd::Array& a) { return nd::fft::fft(a).real(); });
}
template <class F> Ready real(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return signal(p, seed); }, f);
}
Ready real_rows(const Parameters& p) {
  return real(p, [](const nd::Array& a) { return nd::fft::rfft(a).real(); });
}
Ready planes(const Parameters& p) {
  return real(p, [](const nd::Array& a) { return nd::fft::rfft2(a).real(); });
}

Parameters rows(Draw& draw) { return draw.matrix("fd"); }

const Parameters few{{"rows", 3}, {"columns", 20}, {"sets", 2}};

const Cases cases{
    {"fft/complex_1e6", {{"rows", 1}, {"columns", 1 << 20}, {"sets", 2}}, few, complex, rows},
    {"fft/complex_1000x1024", {{"rows", 1000}, {"columns", 1024}, {"sets", 2}}, few, complex, rows},
    {"fft/real_1000x1024", {{"rows", 1000}, {"columns", 1024}, {"sets", 2}}, few, real_rows, rows},
    {"fft/plane_1024", {{"rows", 1024}, {"columns", 1024}, {"sets", 2}}, few, planes, rows},
};

}  // namespace
}  // namespace bench
