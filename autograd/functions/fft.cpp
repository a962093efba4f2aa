#include <catena/autograd/functions/fft.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/linalg_extension.h>

namespace autograd {
namespace {

using catena::check;
using catena::ValueError;

// The sums of x[j] exp(-+ 2 pi i j k / n), without a factor.
class Fourier final : public FunctionNode {
 public:
  explicit Fourier(bool inverse) : inverse_(inverse) {}
  std::string label() const override { return inverse_ ? "IFFT" : "FFT"; }
  Arrays forward(const Arrays& x) override { return linalg_extension(x[0]).fourier(x[0], x[1], inverse_); }
  // The matrix of the transform is symmetric, so its adjoint is its conjugate.
  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable real = gy[0] ? gy[0] : zeros_of(gy[1]), imag = gy[1] ? gy[1] : zeros_of(gy[0]);
    const Variables both = apply_node<Fourier>({real, imag}, !inverse_);
    Variables g;
    for (const int t : targets) g.push_back(both[std::size_t(t)]);
    return g;
  }

 private:
  bool inverse_;
};

// Checks the parts and returns the imaginary one.
Variable imaginary_part(const char* label, const ComplexPair& x) {
  check<catena::TypeError>(bool(x.real), label, "the real part is null");
  const Variable imag = x.imag ? x.imag : zeros_of(x.real);
  internal::check_input_types(
      label, {x.real, imag},
      [](const type_check::TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 1, in_types[0].dtype == in_types[1].dtype,
               in_types[0].shape == in_types[1].shape);
      },
      "real imag");
  return imag;
}

ComplexPair transformed(const char* label, const ComplexPair& x, bool inverse) {
  const Variable imag = imaginary_part(label, x);
  const Dtype dtype = x.real.dtype(), compute = catena::compute_dtype(dtype);
  const std::int64_t n = x.real.shape(x.real.ndim() - 1);
  check<ValueError>(n > 0, label, "the last axis of the shape ", x.real.shape(), " has the length 0");
  const Variables y = apply_node<Fourier>({cast(x.real, compute), cast(imag, compute)}, inverse);
  const double factor = inverse ? 1 / double(n) : 1;
  return {cast(inverse ? y[0] * factor : y[0], dtype), cast(inverse ? y[1] * factor : y[1], dtype)};
}

}  // namespace

namespace pairs {

ComplexPair fft(const ComplexPair& x) { return transformed("FFT", x, false); }
ComplexPair ifft(const ComplexPair& x) { return transformed("IFFT", x, true); }

ComplexPair rfft(const Variable& x) {
  const auto [real, imag] = transformed("RFFT", {x}, false);
  const std::int64_t n = x.shape(x.ndim() - 1), kept = n / 2 + 1;
  if (kept == n) return {real, imag};
  return {split_axis(real, {kept}, -1)[0], split_axis(imag, {kept}, -1)[0]};
}

Variable irfft(const ComplexPair& x, std::optional<std::int64_t> length) {
  const Variable imag = imaginary_part("IRFFT", x);
  const std::int64_t given = x.real.shape(x.real.ndim() - 1), n = length.value_or(2 * (given - 1));
  check<ValueError>(n > 0 && given == n / 2 + 1, "IRFFT", given, " numbers given; ", n, " real ones are made of ",
                    n / 2 + 1);
  // The second half of the spectrum are the conjugates of all given numbers but the first and, if n is even, the last.
  const std::int64_t last = n % 2 == 0 ? given - 1 : given;
  const auto inner = [&](const Variable& v) {
    const Variable head = last < given ? split_axis(v, {last}, -1)[0] : v;
    return split_axis(head, {1}, -1)[1];
  };
  if (last <= 1) {
    const Array nowhere = arrays::full({}, 0, Dtype::bool_, imag.device());
    return transformed("IRFFT", {x.real, masked(imag, nowhere)}, true).real;
  }
  const Variable edge = zeros_of(split_axis(imag, {1}, -1)[0]), middle = inner(imag);
  Variables imags{edge, middle};
  if (n % 2 == 0) imags.push_back(edge);
  imags.push_back(-flip(middle, -1));
  return transformed("IRFFT", {concat({x.real, flip(inner(x.real), -1)}, -1), concat(imags, -1)}, true).real;
}

}  // namespace pairs

}  // namespace autograd
