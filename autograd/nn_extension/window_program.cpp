#include <catena/autograd/nn_extension/window_program.h>

#include <algorithm>
#include <limits>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/nn_extension/convolution.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/program.h>

namespace autograd::internal {
namespace {

using catena::Input;
using catena::KernelDef;
using catena::Step;

constexpr std::int64_t kMostPositions = 9;

// Returns a new (n, c, spatial...) in the memory layout of `like`: channels innermost or outermost.
Array empty_like_images(const Array& like, const Dims& spatial, Dtype dtype) {
  const int last = like.ndim() - 1;
  const bool channels_last = like.shape(1) > 1 &&
                             like.strides()[1] == static_cast<std::int64_t>(catena::itemsize(like.dtype())) &&
                             (like.shape(last) == 1 || like.strides()[last] != like.strides()[1]);
  return empty_images(like, image_shape(like.shape(0), like.shape(1), spatial), dtype, channels_last);
}

// Returns the elements at position k (in C order) of every window, as a view.
Array position(const Array& images, std::int64_t k, const PoolingSpec& spec, const Dims& out) {
  Array view = images;
  for (int axis = spec.size.size() - 1; axis >= 0; --axis) {
    const std::int64_t start = k % spec.size[axis];
    k /= spec.size[axis];
    view = slice(view, axis + 2, start, start + (out[axis] - 1) * spec.stride[axis] + 1, spec.stride[axis]);
  }
  return view;
}

int loop_of(const KernelDef& def, Dtype dtype) {
  for (int i = 0; i < def.num_loops; ++i)
    if (def.loop_table[i].type[0] == dtype) return i;
  throw catena::TypeError(catena::concat(def.name, ": has no loop for ", dtype));
}

// Collects the steps of a program. Slots are numbered in the order of creation: inputs, outputs, temporaries.
class Steps {
 public:
  std::uint8_t slot(Dtype dtype) {
    slots_.push_back(dtype);
    return static_cast<std::uint8_t>(slots_.size() - 1);
  }
  void add(const KernelDef& def, Dtype dtype, std::initializer_list<std::uint8_t> slots) {
    Step step{&def, static_cast<std::uint16_t>(loop_of(def, dtype)), {}};
    std::copy(slots.begin(), slots.end(), step.slot.begin());
    steps_.push_back(step);
  }
  void run(std::span<const Input> inputs, std::span<const Array> outputs) const {
    const catena::Program program{steps_, slots_, static_cast<std::uint8_t>(inputs.size()), 0,
                                  static_cast<std::uint8_t>(outputs.size())};
    catena::SmallVector<catena::ArrayHeader*, 4> written;
    for (const Array& out : outputs) written.push_back(out.get());
    outputs[0].backend().execute(catena::call::Elementwise{&program, inputs, written});
  }

 private:
  catena::SmallVector<Step, kMostPositions + 1> steps_;
  catena::SmallVector<Dtype, 2 * kMostPositions> slots_;
};

struct Windows {
  Dims lengths;        // lengths of an image with all windows, padding included
  bool inside = true;  // true if all windows are within the unpadded image
  bool disjoint = true;
  bool tiling = true;  // true if every element is in exactly one window
};

Windows arranged(const Dims& spatial, const PoolingSpec& spec, const Dims& out) {
  Windows w;
  for (int i = 0; i < spatial.size(); ++i) {
    const std::int64_t end = (out[i] - 1) * spec.stride[i] + spec.size[i];
    w.lengths.push_back(std::max(spatial[i] + spec.pad[i], end));
    w.inside = w.inside && spec.pad[i] == 0 && end <= spatial[i];
    w.disjoint = w.disjoint && spec.stride[i] >= spec.size[i];
    w.tiling = w.tiling && spec.stride[i] == spec.size[i] && end >= w.lengths[i];
  }
  return w;
}

bool is_small(const Array& x, const PoolingSpec& spec, const Dims& out) {
  return catena::size_of(spec.size) <= kMostPositions && x.size() > 0 && catena::size_of(out) > 0;
}
bool on_cpu(const Array& x) { return x.device().kind == Device::Kind::cpu; }

// Adds the gradients for position k of every window to gx, in place. Used if windows overlap.
void add_position(const Array& gy, const Array& indexes, std::int64_t k, const Array& gx) {
  const Dtype dtype = gy.dtype();
  Steps steps;
  const std::uint8_t g = steps.slot(dtype), index = steps.slot(Dtype::int32), k_slot = steps.slot(Dtype::int32),
                     old = steps.slot(dtype), sum = steps.slot(dtype), ahead = steps.slot(Dtype::int32),
                     sent = steps.slot(dtype);
  steps.add(catena::kernels::subtract, Dtype::int32, {index, k_slot, ahead});
  steps.add(catena::kernels::max_pool_step_bwd, dtype, {g, ahead, sent});
  steps.add(catena::kernels::add, dtype, {old, sent, sum});
  const Input inputs[] = {*gy.get(), *indexes.get(), Scalar(k), *gx.get()};
  steps.run(inputs, {&gx, 1});
}

// Returns the image with padding, so that windows that extend beyond it can be read.
Array padded_for_maxima(const Array& x, const PoolingSpec& spec, const Dims& out) {
  const Dims spatial = spatial_of(x.shape());
  const Windows w = arranged(spatial, spec, out);
  if (w.inside) return x;
  const Array images = empty_like_images(x, w.lengths, x.dtype());
  fill(images, -std::numeric_limits<double>::infinity());
  assign(without_padding(images, spatial, spec.pad), x);
  return images;
}

}  // namespace

bool has_window_program(const Array& x, const Dims& spatial, const PoolingSpec& spec, const Dims& out) {
  return is_small(x, spec, out) && (on_cpu(x) || arranged(spatial, spec, out).inside);
}

bool has_window_program_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec, const Dims& out) {
  const Windows w = arranged(spatial, spec, out);
  return is_small(gy, spec, out) && (on_cpu(gy) || (w.inside && w.disjoint));
}

Arrays max_pooling_program(const Array& x, const PoolingSpec& spec, const Dims& out) {
  const std::int64_t n = catena::size_of(spec.size);
  const Dtype dtype = x.dtype();
  const Array images = padded_for_maxima(x, spec, out);
  Steps steps;
  Arrays views;
  catena::SmallVector<Input, kMostPositions + 1> inputs;
  for (std::int64_t k = 0; k < n; ++k) {
    views.push_back(position(images, k, spec, out));
    inputs.emplace_back(*views.back().get());
    steps.slot(dtype);
  }
  inputs.emplace_back(Scalar(n - 1));
  const std::uint8_t last = steps.slot(Dtype::int32), y = steps.slot(dtype), index = steps.slot(Dtype::int32),
                     distance = steps.slot(Dtype::int32);
  steps.add(catena::kernels::max_pool_first, dtype, {0, y, distance});
  for (std::int64_t k = 1; k < n; ++k)
    steps.add(catena::kernels::max_pool_step, dtype, {static_cast<std::uint8_t>(k), y, distance});
  steps.add(catena::kernels::subtract, Dtype::int32, {last, distance, index});
  const Arrays results{empty_like_images(x, out, dtype), empty_like_images(x, out, Dtype::int32)};
  steps.run(inputs, results);
  return results;
}

// `maximum` returns its first operand if both are equal or NaN, so the same elements are chosen as in max_pooling.
Array max_pooling_values_program(const Array& x, const PoolingSpec& spec, const Dims& out) {
  const std::int64_t n = catena::size_of(spec.size);
  const Dtype dtype = x.dtype();
  const Array images = padded_for_maxima(x, spec, out), result = empty_like_images(x, out, dtype);
  Steps steps;
  Arrays views;
  catena::SmallVector<Input, kMostPositions> inputs;
  for (std::int64_t k = 0; k < n; ++k) {
    views.push_back(position(images, k, spec, out));
    inputs.emplace_back(*views.back().get());
    steps.slot(dtype);
  }
  const std::uint8_t y = steps.slot(dtype);
  if (n == 1) steps.add(catena::kernels::copy, dtype, {0, y});
  std::uint8_t best = 0;
  for (std::int64_t k = 1; k < n; ++k) {
    const std::uint8_t next = k + 1 < n ? steps.slot(dtype) : y;
    steps.add(catena::kernels::maximum, dtype, {best, static_cast<std::uint8_t>(k), next});
    best = next;
  }
  steps.run(inputs, {&result, 1});
  return result;
}

Array max_pooling_backward_program(const Array& gy, const Array& indexes, const Dims& spatial,
                                   const PoolingSpec& spec) {
  const std::int64_t n = catena::size_of(spec.size);
  const Dtype dtype = gy.dtype();
  const Dims out = spatial_of(gy.shape());
  const Windows w = arranged(spatial, spec, out);
  const Array images = empty_like_images(indexes, w.lengths, dtype);
  if (!w.tiling || !w.disjoint) fill(images, 0);
  if (!w.disjoint) {
    // In descending order of the positions, so that an element adds the gradients of its windows in the order of the
    // windows.
    for (std::int64_t k = n - 1; k >= 0; --k) add_position(gy, indexes, k, position(images, k, spec, out));
    return without_padding(images, spatial, spec.pad);
  }
  Steps steps;
  const std::uint8_t g = steps.slot(dtype), index = steps.slot(Dtype::int32);
  Arrays views;
  for (std::int64_t k = 0; k < n; ++k) {
    views.push_back(position(images, k, spec, out));
    steps.slot(dtype);
  }
  const std::uint8_t ahead = steps.slot(Dtype::int32);
  steps.add(catena::kernels::copy, Dtype::int32, {index, ahead});
  for (std::int64_t k = 0; k < n; ++k)
    steps.add(catena::kernels::max_pool_step_bwd, dtype, {g, ahead, static_cast<std::uint8_t>(index + 1 + k)});
  const Input inputs[] = {*gy.get(), *indexes.get()};
  steps.run(inputs, views);
  return without_padding(images, spatial, spec.pad);
}

}  // namespace autograd::internal
