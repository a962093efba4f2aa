#include <catena/autograd/ndarray_backend/convolution/winograd.h>

#include <algorithm>
#include <forward_list>
#include <mutex>

#include <catena/autograd/backend/derived.h>
#include <catena/autograd/ndarray_backend/convolution/operands.h>
#include <catena/kernels/base/parallel.h>

namespace autograd::internal {
namespace {

constexpr std::int64_t kPad = 80;  // floats between two points' matrices, so that they use different cache lines

// True if the algorithm applies and is faster. Costs: a multiplication takes as long as in a direct convolution, but
// there are 36 per tile instead of 9 per position; the transformation of one element of the filter takes as long as 26
// tiles.
bool takes(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec) {
  constexpr std::int64_t kLeastChannels = 32, kTilesOfFilter = 26;
  if (winograd_kernels() == nullptr || x.size() != 4 || spec.groups != 1) return false;
  for (int i = 0; i < 2; ++i)
    if (w[2 + i] != 3 || spec.stride[i] != 1 || spec.dilate[i] != 1) return false;
  for (const std::int64_t channels : {w[0], w[1]})
    if (channels < kLeastChannels || channels % kWinogradLanes != 0) return false;
  const auto pays = [](const Shape& s) {
    const std::int64_t tiles = s[0] * ceil_divide(s[2], 4) * ceil_divide(s[3], 4);
    return 9 * s[0] * s[2] * s[3] >= 43 * (tiles + kTilesOfFilter);
  };
  return pays(y);
}

// Returns the key of derived() for filters of these lengths.
const void* identity_of(std::int64_t outputs, std::int64_t inputs, bool turned) {
  struct Lengths {
    std::int64_t outputs, inputs;
    bool turned;
    bool operator==(const Lengths&) const = default;
  };
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::forward_list<Lengths>;
  const std::lock_guard lock(mutex);
  const Lengths wanted{outputs, inputs, turned};
  const auto found = std::find(all.begin(), all.end(), wanted);
  return found != all.end() ? &*found : &all.emplace_front(wanted);
}

// A transformed filter: (points, panels of outputs, inputs, kWinogradLanes).
struct Filter {
  std::int64_t inputs, outputs;
  std::int64_t plane() const { return inputs * outputs + kPad; }

  // Transforms w (outputs, inputs, 3, 3), or, with `turned`, the filter of its backward pass. The result is kept while
  // w is not written.
  Array of(const Array& w, bool turned) const {
    const Array plain = contiguous(w);
    const auto make = [&] {
      const Array to = floats(w, kWinogradPoints * plane());
      const std::int64_t own = w.shape(1) * 9, step = turned ? 9 : own, input_step = turned ? own : 9;
      catena::parallel_for(outputs / kWinogradLanes, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t panel = begin; panel < end; ++panel)
          winograd_kernels()->transform_filter(data_of(plain), step, input_step, inputs, panel * kWinogradLanes, turned,
                                               plane(), mutable_data_of(to));
      });
      return to;
    };
    return plain.get() == w.get() ? derived(w, identity_of(outputs, inputs, turned), make) : make();
  }
};

// Returns y (n, outputs, h, w), channels-last, from images (n, ., ., inputs).
Array convolve(const Array& images, const Filter& filter, const Array& transformed, const Array& bias,
               const Shape& y_shape, std::int64_t pad_y, std::int64_t pad_x) {
  constexpr std::int64_t kTogether = 96, kRows = 6;
  const std::int64_t h = y_shape[2], w = y_shape[3], tiles_y = ceil_divide(h, 4), tiles_x = ceil_divide(w, 4);
  const std::int64_t tiles = y_shape[0] * tiles_y * tiles_x, share = (tiles - 1) / catena::max_threads() + 1;
  const std::int64_t block = std::min(kTogether, ceil_divide(share, kRows) * kRows);
  const WinogradImages in{images.shape(1), images.shape(2), filter.inputs, tiles_y, tiles_x, pad_y, pad_x};
  const WinogradImages out{h, w, filter.outputs, tiles_y, tiles_x, 0, 0};
  const Array y = empty_floats(images, {y_shape[0], h, w, filter.outputs});
  const Array zeros = floats(images, filter.inputs);
  fill(zeros, 0);
  const std::int64_t in_plane = block * filter.inputs + kPad, out_plane = block * filter.outputs + kPad;
  catena::parallel_for(ceil_divide(tiles, block), 1, [&](std::int64_t begin, std::int64_t end) {
    const WinogradKernels& k = *winograd_kernels();
    const Array scratch = floats(images, kWinogradPoints * (in_plane + out_plane));
    float* const from = mutable_data_of(scratch);
    float* const to = from + kWinogradPoints * in_plane;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * block, last = std::min(tiles, first + block);
      k.transform_input(in, {first, last, first, block, in_plane, false}, data_of(images), data_of(zeros), from);
      for (std::int64_t point = 0; point < kWinogradPoints; ++point)
        k.multiply(from + point * in_plane, data_of(transformed) + point * filter.plane(), to + point * out_plane,
                   last - first, filter.inputs, filter.outputs);
      k.transform_output(out, {first, last, first, block, out_plane, false}, to, data_or_null(bias),
                         mutable_data_of(y));
    }
  });
  set_last_implementation("winograd");
  return transpose(y, Dims{0, 3, 1, 2});
}

}  // namespace

Array winograd_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                           const ConvolutionSpec& spec) {
  if (!is_float32(x, w) || !takes(x.shape(), w.shape(), y_shape, spec)) return {};
  const Filter filter{w.shape(1), w.shape(0)};
  return convolve(packed(x), filter, filter.of(w, false), contiguous_or_none(b), y_shape, spec.pad[0], spec.pad[1]);
}

// The gradient of the input is the convolution of the output's gradient with the filter turned by 180 degrees.
Array winograd_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                         const ConvolutionSpec& spec) {
  if (!is_float32(gy, w) || !takes(x_shape, w.shape(), x_shape, spec)) return {};
  const Filter filter{w.shape(0), w.shape(1)};
  return convolve(packed(gy), filter, filter.of(w, true), {}, x_shape, 2 - spec.pad[0], 2 - spec.pad[1]);
}

// Sums the products of the transformed tiles of x and gy over the tiles, and transforms the sums back. Blocks of tiles
// are added in order; threads share the points.
Array winograd_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                           const ConvolutionSpec& spec) {
  if (!is_float32(x, gy) || !takes(x.shape(), w_shape, gy.shape(), spec)) return {};
  constexpr std::int64_t kCached = 2'000'000, kLeast = 32, kMost = 256, kTransformed = 8;
  const WinogradKernels& k = *winograd_kernels();
  const std::int64_t inputs = w_shape[1], outputs = w_shape[0];
  const std::int64_t tiles_y = ceil_divide(gy.shape(2), 4), tiles_x = ceil_divide(gy.shape(3), 4);
  const std::int64_t tiles = gy.shape(0) * tiles_y * tiles_x;
  const std::int64_t block =
      std::min(tiles, std::clamp(kCached / (kWinogradPoints * (inputs + outputs)), kLeast, kMost));
  const Array images = packed(x), gradients = packed(gy), zeros = floats(x, std::max(inputs, outputs));
  fill(zeros, 0);
  const WinogradImages in{x.shape(2), x.shape(3), inputs, tiles_y, tiles_x, spec.pad[0], spec.pad[1]};
  const WinogradImages out{gy.shape(2), gy.shape(3), outputs, tiles_y, tiles_x, 0, 0};
  const std::int64_t in_plane = block * inputs + kPad, out_plane = block * outputs + kPad;
  const std::int64_t sum_plane = inputs * outputs + kPad;
  const Array left = floats(x, kWinogradPoints * in_plane), right = floats(x, kWinogradPoints * out_plane),
              sums = floats(x, kWinogradPoints * sum_plane);
  for (std::int64_t first = 0; first < tiles; first += block) {
    const std::int64_t n = std::min(block, tiles - first);
    catena::parallel_for(ceil_divide(n, kTransformed), 1, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t from = first + begin * kTransformed, to = first + std::min(n, end * kTransformed);
      k.transform_input(in, {from, to, first, n, in_plane, true}, data_of(images), data_of(zeros),
                        mutable_data_of(left));
      k.transform_gradient(out, {from, to, first, n, out_plane, true}, data_of(gradients), data_of(zeros),
                           mutable_data_of(right));
    });
    const std::int64_t panels = inputs / kWinogradLanes;
    catena::parallel_for(kWinogradPoints * panels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t point = i / panels, row = i % panels * kWinogradLanes;
        k.add_products(data_of(left) + point * in_plane, data_of(right) + point * out_plane,
                       mutable_data_of(sums) + point * sum_plane, n, row, row + kWinogradLanes, outputs, first == 0);
      }
    });
  }
  const Array gw = empty_floats(x, w_shape);
  catena::parallel_for(inputs, kWinogradLanes, [&](std::int64_t begin, std::int64_t end) {
    k.transform_filter_gradient(data_of(sums), sum_plane, inputs, outputs, begin, end, mutable_data_of(gw));
  });
  set_last_implementation("winograd");
  return gw;
}

}  // namespace autograd::internal
