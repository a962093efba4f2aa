#include <algorithm>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/nn_extension/convolution.h>

namespace autograd::internal {
namespace {

// Sizes of a convolution. It is computed for a few images at a time, because the columns of a batch can be many times
// larger than the batch.
struct Sizes {
  explicit Sizes(const Convolution& c)
      : n(c.x_shape[0]),
        groups(c.spec.groups),
        o(c.w_shape[0] / groups),
        p(catena::size_of(spatial_of(c.y_shape))),
        ck(c.w_shape[1] * catena::size_of(spatial_of(c.w_shape))) {
    constexpr std::int64_t kMaxColumns = std::int64_t(1) << 23;  // elements
    step = std::clamp<std::int64_t>(kMaxColumns / std::max<std::int64_t>(groups * ck * std::max(p, o), 1), 1,
                                    std::max<std::int64_t>(n, 1));
  }
  std::int64_t n, groups, o, p, ck;  // images, groups, outputs per group, positions, column length per group
  std::int64_t step;

  // Calls f(begin, end) for ranges of images.
  template <class F> void each(F&& f) const {
    for (std::int64_t i = 0; i < n; i += step) f(i, std::min(i + step, n));
  }
};

bool is_pointwise(const Convolution& c) {
  const auto all = [](const Dims& d, std::int64_t v) {
    return std::all_of(d.begin(), d.end(), [v](std::int64_t n) { return n == v; });
  };
  return all(spatial_of(c.w_shape), 1) && all(c.spec.stride, 1) && all(c.spec.pad, 0);
}

// The result has shape (images, groups, column, position).
Array columns_of(const Convolution& c, const Sizes& s, std::int64_t begin, std::int64_t end) {
  const Array x = slice(c.x, 0, begin, end);
  return reshape(is_pointwise(c) ? x : portable_nn_extension().im2col(x, spatial_of(c.w_shape), c.spec),
                 {end - begin, s.groups, s.ck, s.p});
}
Array rows_of(const Array& y, const Sizes& s, std::int64_t begin, std::int64_t end) {
  return reshape(slice(y, 0, begin, end), {end - begin, s.groups, s.o, s.p});
}

Array new_array(const Convolution& c, const Shape& shape) {
  const Array& near = c.images();
  return near.backend().empty(shape, near.dtype(), near.device());
}

Array forward(const Convolution& c, const Sizes& s) {
  Array y = new_array(c, c.y_shape);
  if (y.size() == 0) return y;
  const Array filter = reshape(c.w, {s.groups, s.o, s.ck});
  s.each([&](std::int64_t begin, std::int64_t end) {
    const Array part = rows_of(y, s, begin, end);  // a view: images are contiguous along the first axis
    if (s.ck == 0) return fill(part, 0);
    const Array columns = columns_of(c, s, begin, end);
    y.backend().execute(catena::call::Matmul{filter.get(), columns.get(), part.get()});
  });
  if (c.b) y += reshape(c.b, image_shape(1, c.w_shape[0], Dims::filled(c.spec.stride.size(), 1)));
  return y;
}

Array backward_data(const Convolution& c, const Sizes& s) {
  Array gx = new_array(c, c.x_shape);
  if (gx.size() == 0) return gx;
  const Dims spatial = spatial_of(c.x_shape);
  const Array filter = swapaxes(reshape(c.w, {s.groups, s.o, s.ck}), 1, 2);
  Shape column_shape = image_shape(0, c.x_shape[1], spatial_of(c.w_shape));
  for (const std::int64_t length : spatial_of(c.y_shape)) column_shape.push_back(length);
  s.each([&](std::int64_t begin, std::int64_t end) {
    column_shape[0] = end - begin;
    if (s.o == 0) return fill(slice(gx, 0, begin, end), 0);
    const Array columns = matmul(filter, rows_of(c.y, s, begin, end));
    const Array images = is_pointwise(c)
                             ? reshape(columns, image_shape(end - begin, c.x_shape[1], spatial))
                             : portable_nn_extension().col2im(reshape(columns, column_shape), spatial, c.spec);
    if (s.step >= s.n) gx = images;
    else assign(slice(gx, 0, begin, end), images);
  });
  return gx;
}

Array backward_filter(const Convolution& c, const Sizes& s) {
  Array gw;
  if (s.ck > 0 && s.o > 0 && s.p > 0)
    s.each([&](std::int64_t begin, std::int64_t end) {
      const Array product = matmul(rows_of(c.y, s, begin, end), columns_of(c, s, begin, end), false, true);
      const Array part = reshape(end - begin == 1 ? product : sum(product, 0), {s.groups, s.o, s.ck});
      if (!gw) gw = part;
      else gw += part;
    });
  if (!gw) fill(gw = new_array(c, c.w_shape), 0);
  return reshape(gw, c.w_shape);
}

}  // namespace

Array in_float32(const Convolution& c, Array (*compute)(const Convolution&)) {
  const Dtype dtype = c.images().dtype();
  if (catena::itemsize(dtype) >= 4) return compute(c);
  Convolution wide = c;
  for (Array* a : {&wide.x, &wide.w, &wide.y, &wide.b})
    if (*a) *a = astype(*a, Dtype::float32);
  return astype(compute(wide), dtype);
}

Array portable_convolution(const Convolution& c) {
  return in_float32(c, [](const Convolution& wide) {
    const Sizes s(wide);
    if (wide.pass == Convolution::Pass::forward) return forward(wide, s);
    return wide.pass == Convolution::Pass::data ? backward_data(wide, s) : backward_filter(wide, s);
  });
}

}  // namespace autograd::internal
