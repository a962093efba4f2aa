// Portable products and convolutions of NnExtension: im2col, then matrix products.
#include <algorithm>

#include <catena/autograd/array.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/nn_extension/window_program.h>

namespace autograd {

using internal::spatial_shape;

Array NnExtension::do_linear(const Array& x, const Array& w, const Array& b) {
  Array y = matmul(x, w, false, true);
  if (b) y += b;
  set_last_implementation("portable");
  return y;
}

namespace {

// Sizes of a convolution. It is computed for a few images at a time, because the columns of a batch can be many times
// larger than the batch.
struct Sizes {
  Sizes(std::int64_t images, std::int64_t inputs, std::int64_t outputs, const Dims& kernel, const Dims& out,
        const ConvolutionSpec& spec)
      : n(images),
        groups(spec.groups),
        o(outputs / groups),
        p(catena::size_of(out)),
        ck(inputs / groups * catena::size_of(kernel)) {
    constexpr std::int64_t kMaxColumns = std::int64_t(1) << 23;  // elements
    step = std::clamp<std::int64_t>(kMaxColumns / std::max<std::int64_t>(groups * ck * std::max(p, o), 1), 1,
                                    std::max<std::int64_t>(n, 1));
  }
  std::int64_t n, groups, o, p, ck;  // images, groups, outputs per group, positions, column length per group
  std::int64_t step;
};

bool is_pointwise(const Dims& kernel, const ConvolutionSpec& spec) {
  const auto all = [](const Dims& d, std::int64_t v) {
    return std::all_of(d.begin(), d.end(), [v](std::int64_t n) { return n == v; });
  };
  return all(kernel, 1) && all(spec.stride, 1) && all(spec.pad, 0);
}

// The result has shape (images, groups, column, position).
Array columns_of(NnExtension& nn, const Array& x, const Dims& kernel, const ConvolutionSpec& spec, const Sizes& s) {
  return reshape(is_pointwise(kernel, spec) ? x : nn.im2col(x, kernel, spec), {x.shape(0), s.groups, s.ck, s.p});
}

Shape image_shape(std::int64_t n, std::int64_t channels, const Dims& spatial) {
  Shape shape{n, channels};
  for (std::int64_t length : spatial) shape.push_back(length);
  return shape;
}

}  // namespace

Array NnExtension::do_convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& spec,
                                  const Dims& out) {
  const Dims kernel = spatial_shape(w);
  const Sizes s(x.shape(0), x.shape(1), w.shape(0), kernel, out, spec);
  Backend& backend = x.backend();
  Array y = backend.empty(image_shape(s.n, w.shape(0), out), x.dtype(), x.device());
  const Array filter = reshape(w, {s.groups, s.o, s.ck});
  for (std::int64_t i = 0; i < s.n && y.size() > 0; i += s.step) {
    const std::int64_t end = std::min(i + s.step, s.n);
    const Array part =
        // a view: images are contiguous along the first axis
        reshape(slice(y, 0, i, end), {end - i, s.groups, s.o, s.p});
    if (s.ck == 0) fill(part, 0);
    else {
      const Array columns = columns_of(*this, slice(x, 0, i, end), kernel, spec, s);
      backend.execute(catena::call::Matmul{filter.get(), columns.get(), part.get()});
    }
  }
  if (b) y += reshape(b, image_shape(1, w.shape(0), Dims::filled(out.size(), 1)));
  set_last_implementation("portable");
  return y;
}

Array NnExtension::do_convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial,
                                                const ConvolutionSpec& spec) {
  const Dims kernel = spatial_shape(w), out = spatial_shape(gy);
  const std::int64_t inputs = w.shape(1) * spec.groups;
  const Sizes s(gy.shape(0), inputs, w.shape(0), kernel, out, spec);
  Array gx = gy.backend().empty(image_shape(s.n, inputs, spatial), gy.dtype(), gy.device());
  const Array filter = swapaxes(reshape(w, {s.groups, s.o, s.ck}), 1, 2);
  Shape column_shape = image_shape(0, inputs, kernel);
  for (std::int64_t length : out) column_shape.push_back(length);
  for (std::int64_t i = 0; i < s.n && gx.size() > 0; i += s.step) {
    const std::int64_t end = std::min(i + s.step, s.n);
    column_shape[0] = end - i;
    if (s.o == 0) {
      fill(slice(gx, 0, i, end), 0);
      continue;
    }
    const Array columns = matmul(filter, reshape(slice(gy, 0, i, end), {end - i, s.groups, s.o, s.p}));
    const Array images = is_pointwise(kernel, spec) ? reshape(columns, image_shape(end - i, inputs, spatial))
                                                    : col2im(reshape(columns, column_shape), spatial, spec);
    if (s.step >= s.n) gx = images;
    else assign(slice(gx, 0, i, end), images);
  }
  set_last_implementation("portable");
  return gx;
}

Array NnExtension::do_convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel,
                                                  const ConvolutionSpec& spec) {
  const Dims out = spatial_shape(gy);
  const Sizes s(x.shape(0), x.shape(1), gy.shape(1), kernel, out, spec);
  Array gw;
  for (std::int64_t i = 0; i < s.n && s.ck > 0 && s.o > 0 && s.p > 0; i += s.step) {
    const std::int64_t end = std::min(i + s.step, s.n);
    const Array columns = columns_of(*this, slice(x, 0, i, end), kernel, spec, s);
    const Array product = matmul(reshape(slice(gy, 0, i, end), {end - i, s.groups, s.o, s.p}), columns, false, true);
    const Array part = reshape(end - i == 1 ? product : sum(product, 0), {s.groups, s.o, s.ck});
    if (!gw) gw = part;
    else gw += part;
  }
  if (!gw) {
    gw = x.backend().empty({s.groups, s.o, s.ck}, x.dtype(), x.device());
    fill(gw, 0);
  }
  set_last_implementation("portable");
  return reshape(gw, image_shape(gy.shape(1), x.shape(1) / s.groups, kernel));
}

}  // namespace autograd
