#include <catena/tests/support/cuda_device/cudnn_networks/convolution.h>

#include <bit>

namespace cuda_device::software_cudnn {
namespace {

// The channels innermost, which the loops over channels read one after the other.
std::vector<int> channels_last(const Tensor& t) {
  std::vector<int> axes = in_order(t);
  axes.erase(axes.begin() + 1);
  axes.push_back(1);
  return axes;
}
// The taps, then the two axes of channels, `inner` innermost.
std::vector<int> taps_first(const Tensor& w, int inner) {
  std::vector<int> axes = in_order(w);
  axes.erase(axes.begin(), axes.begin() + 2);
  axes.push_back(1 - inner);
  axes.push_back(inner);
  return axes;
}

Lengths spatial(const Tensor& t) { return {t.shape.begin() + 2, t.shape.end()}; }

// Rounded to TF32: 10 binary digits, ties to even.
float rounded(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  if ((bits & 0x7f800000u) == 0x7f800000u) return v;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}
double rounded(double v) { return v; }

// Calls f(image, tap, position of x, position of y) for all products of one filter.
template <class F> void for_each_product(const Convolution& c, F&& f) {
  const Lengths x_lengths = spatial(c.x), w_lengths = spatial(c.w), y_lengths = spatial(c.y);
  const std::int64_t taps = product(w_lengths);
  for (std::int64_t image = 0; image < c.x.shape[0]; ++image) {
    std::int64_t tap = 0;
    for_each_index(w_lengths, [&](const Lengths& w) {
      std::int64_t position = 0;
      for_each_index(y_lengths, [&](const Lengths& y) {
        const std::int64_t of_y = position++;
        std::int64_t of_x = 0;
        for (std::size_t d = 0; d < y.size(); ++d) {
          const std::int64_t at = y[d] * c.stride[d] + w[d] * c.dilation[d] - c.pad[d];
          if (at < 0 || at >= x_lengths[d]) return;
          of_x = of_x * x_lengths[d] + at;
        }
        f(image, c.flipped ? taps - 1 - tap : tap, of_x, of_y);
      });
      ++tap;
    });
  }
}

// to[i] += factor * from[i]
template <class A> void add_multiple(A* to, const A* from, A factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// The operands in the order of the loops.
template <class A> struct Operands { std::vector<A> x, w, y; };

template <class A> void multiply(const Convolution& c, Operands<A>& o) {
  const std::int64_t channels = c.x.shape[1], results = c.y.shape[1], per_group = c.w.shape[1];
  const std::int64_t groups = channels / per_group, of_group = results / groups;
  const std::int64_t of_x = product(spatial(c.x)), of_y = product(spatial(c.y));
  for_each_product(c, [&](std::int64_t image, std::int64_t tap, std::int64_t at_x, std::int64_t at_y) {
    A* const x = o.x.data() + (image * of_x + at_x) * channels;
    A* const y = o.y.data() + (image * of_y + at_y) * results;
    A* const w = o.w.data() + tap * per_group * results;
    for (std::int64_t g = 0; g < groups; ++g) {
      A *const xg = x + g * per_group, *const yg = y + g * of_group;
      if (c.pass == Pass::data) {
        for (std::int64_t k = 0; k < of_group; ++k)
          add_multiple(xg, w + (g * of_group + k) * per_group, yg[k], per_group);
        continue;
      }
      for (std::int64_t i = 0; i < per_group; ++i) {
        A* const wi = w + i * results + g * of_group;
        if (c.pass == Pass::forward) add_multiple(yg, wi, xg[i], of_group);
        else add_multiple(wi, yg, xg[i], of_group);
      }
    }
  });
}

template <class A> void convolve_in(const Convolution& c, const Addresses& at) {
  const std::vector<int> x_axes = channels_last(c.x), y_axes = channels_last(c.y),
                         w_axes = taps_first(c.w, c.pass == Pass::data ? 1 : 0);
  const auto operand = [&](const Tensor& t, const void* data, const std::vector<int>& axes, bool is_result) {
    std::vector<A> values;
    if (is_result) values.assign(static_cast<std::size_t>(product(t.shape)), A(0));
    else values = read<A>(t, data, axes);
    if (c.tf32)
      for (A& v : values) v = rounded(v);
    return values;
  };
  Operands<A> o{operand(c.x, at.x, x_axes, c.pass == Pass::data), operand(c.w, at.w, w_axes, c.pass == Pass::filter),
                operand(c.y, at.y, y_axes, c.pass == Pass::forward)};
  multiply(c, o);
  if (c.pass == Pass::data) return write(c.x, at.x, x_axes, o.x, c.alpha, c.beta);
  if (c.pass == Pass::filter) return write(c.w, at.w, w_axes, o.w, c.alpha, c.beta);
  if (c.bias) {
    const std::vector<A> bias = read<A>(*c.bias, at.bias, in_order(*c.bias));
    for (std::size_t i = 0; i < o.y.size(); ++i) o.y[i] = static_cast<A>(c.alpha) * o.y[i] + bias[i % bias.size()];
    return write(c.y, at.y, y_axes, o.y, 1, c.beta);
  }
  write(c.y, at.y, y_axes, o.y, c.alpha, c.beta);
}

}  // namespace

void convolve(const Convolution& c, const Addresses& at) {
  if (c.x.type == cudnn_double) convolve_in<double>(c, at);
  else convolve_in<float>(c, at);
}

}  // namespace cuda_device::software_cudnn
