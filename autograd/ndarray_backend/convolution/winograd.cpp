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
Array transformed_product(const Array& images, const Filter& filter, const Array& transformed, const Array& bias,
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
  return transpose(y, Dims{0, 3, 1, 2});
}

// Sums the products of the transformed tiles of x and gy over the tiles, and transforms the sums back. Blocks of tiles
// are added in order; threads share the points.
Array filter_gradient(const Convolution& c) {
  constexpr std::int64_t kCached = 2'000'000, kLeast = 32, kMost = 256, kTransformed = 8;
  const WinogradKernels& k = *winograd_kernels();
  const std::int64_t inputs = c.w_shape[1], outputs = c.w_shape[0];
  const std::int64_t tiles_y = ceil_divide(c.y_shape[2], 4), tiles_x = ceil_divide(c.y_shape[3], 4);
  const std::int64_t tiles = c.y_shape[0] * tiles_y * tiles_x;
  const std::int64_t block =
      std::min(tiles, std::clamp(kCached / (kWinogradPoints * (inputs + outputs)), kLeast, kMost));
  const Array images = packed(c.x), gradients = packed(c.y), zeros = floats(c.x, std::max(inputs, outputs));
  fill(zeros, 0);
  const WinogradImages in{c.x_shape[2], c.x_shape[3], inputs, tiles_y, tiles_x, c.spec.pad[0], c.spec.pad[1]};
  const WinogradImages out{c.y_shape[2], c.y_shape[3], outputs, tiles_y, tiles_x, 0, 0};
  const std::int64_t in_plane = block * inputs + kPad, out_plane = block * outputs + kPad;
  const std::int64_t sum_plane = inputs * outputs + kPad;
  const Array left = floats(c.x, kWinogradPoints * in_plane), right = floats(c.x, kWinogradPoints * out_plane),
              sums = floats(c.x, kWinogradPoints * sum_plane);
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
  const Array gw = empty_floats(c.x, c.w_shape);
  catena::parallel_for(inputs, kWinogradLanes, [&](std::int64_t begin, std::int64_t end) {
    k.transform_filter_gradient(data_of(sums), sum_plane, inputs, outputs, begin, end, mutable_data_of(gw));
  });
  return gw;
}

}  // namespace

// The gradient of the input is the convolution of the output's gradient with the filter turned by 180 degrees.
Array winograd_convolution(const Convolution& c) {
  if (c.pass == Convolution::Pass::filter) return filter_gradient(c);
  const bool turned = c.pass == Convolution::Pass::data;
  const Filter filter{c.w_shape[turned ? 0 : 1], c.w_shape[turned ? 1 : 0]};
  const Dims& pad = c.spec.pad;
  return transformed_product(packed(c.images()), filter, filter.of(c.w, turned), contiguous_or_none(c.b),
                             turned ? c.x_shape : c.y_shape, turned ? 2 - pad[0] : pad[0],
                             turned ? 2 - pad[1] : pad[1]);
}

}  // namespace autograd::internal
