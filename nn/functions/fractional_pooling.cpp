// fractional_max_pool2d and fractional_max_pool3d.
#include <string>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/torch_batches.h>
#include <catena/nn/functions/torch_pooling.h>

namespace nn::internal {

using autograd::Dims;
using catena::check;
using catena::ValueError;

namespace {

Dims output_of(const char* op, const Variable& x, const FractionalMaxPoolOptions& o) {
  const int axes = x.ndim() - 2;
  check<ValueError>(o.output_size.has_value() != o.output_ratio.has_value(), op,
                    "one of output_size and output_ratio must be given");
  check<ValueError>(!o.output_ratio || (*o.output_ratio > 0 && *o.output_ratio < 1), op, "output_ratio is ",
                    o.output_ratio.value_or(0), "; it must be between 0 and 1");
  if (o.output_size) return o.output_size->of(op, "output_size", axes);
  Dims size;
  for (int a = 0; a < axes; ++a) size.push_back(std::int64_t(double(x.shape(2 + a)) * *o.output_ratio));
  return size;
}

// The first elements of the windows along an axis, for a random number u (Graham 2014, pseudorandom sequences).
std::vector<std::int64_t> starts_of(double u, std::int64_t length, std::int64_t outputs, std::int64_t kernel) {
  std::vector<std::int64_t> starts;
  const double step = outputs > 1 ? double(length - kernel) / double(outputs - 1) : 0;
  for (std::int64_t i = 0; i + 1 < outputs; ++i)
    starts.push_back(std::int64_t((double(i) + u) * step) - std::int64_t(u * step));
  starts.push_back(length - kernel);
  return starts;
}

std::vector<double> samples_of(const char* op, const Variable& x, const Array& given) {
  const int axes = x.ndim() - 2;
  const Shape shape{x.shape(0), x.shape(1), axes};
  check<ValueError>(!given || given.shape() == shape, op, "random_samples has the shape ",
                    given ? given.shape() : Shape(), "; it must have ", shape);
  return autograd::to_vector<double>(given ? given
                                           : autograd::random_uniform(shape, 0, 1, autograd::Dtype::float64,
                                                                      autograd::default_generator(), x.device()));
}

// The positions of the elements of all windows in their planes: (N, C, windows, elements) in C order.
std::vector<std::int64_t> window_positions(const Variable& x, const Dims& kernel, const Dims& outputs,
                                           const std::vector<double>& samples) {
  const int axes = kernel.size();
  std::vector<std::int64_t> positions;
  for (std::int64_t plane = 0; plane < x.shape(0) * x.shape(1); ++plane) {
    std::vector<std::int64_t> windows{0};
    std::vector<std::int64_t> elements{0};
    for (int a = 0; a < axes; ++a) {
      const int sample = axes == 2 ? 1 - a : a;  // images have the columns' number first
      const std::vector<std::int64_t> starts =
          starts_of(samples[std::size_t(plane * axes + sample)], x.shape(2 + a), outputs[a], kernel[a]);
      std::vector<std::int64_t> more_windows, more_elements;
      for (const std::int64_t base : windows)
        for (const std::int64_t s : starts) more_windows.push_back(base * x.shape(2 + a) + s);
      for (const std::int64_t base : elements)
        for (std::int64_t k = 0; k < kernel[a]; ++k) more_elements.push_back(base * x.shape(2 + a) + k);
      windows = std::move(more_windows);
      elements = std::move(more_elements);
    }
    for (const std::int64_t w : windows)
      for (const std::int64_t e : elements) positions.push_back(w + e);
  }
  return positions;
}

MaxPoolingResult pooled(const char* op, const Variable& x, const std::optional<Lengths>& size,
                        const FractionalMaxPoolOptions& o) {
  const int axes = x.ndim() - 2;
  check<ValueError>(size.has_value(), op, "kernel_size is missing");
  expect_rank(op, x, axes + 2);
  const Dims kernel = size->of(op, "kernel_size", axes), outputs = output_of(op, x, o);
  std::int64_t windows = 1, elements = 1;
  Shape result{x.shape(0), x.shape(1)};
  for (int a = 0; a < axes; ++a) {
    check<ValueError>(kernel[a] >= 1 && outputs[a] >= 1 && outputs[a] + kernel[a] - 1 <= x.shape(2 + a), op,
                      "kernel_size ", kernel, " and output size ", outputs, " do not fit the shape ", x.shape());
    windows *= outputs[a];
    elements *= kernel[a];
    result.push_back(outputs[a]);
  }
  const std::vector<double> samples = samples_of(op, x, o.random_samples);
  const Array positions = autograd::array(window_positions(x, kernel, outputs, samples),
                                          {x.shape(0), x.shape(1), windows * elements}, x.device());
  const Variable flat = x.reshape({x.shape(0), x.shape(1), -1});
  const Variable candidates = autograd::take_along_axis(flat, autograd::as_variable(positions), 2)
                                  .reshape({x.shape(0), x.shape(1), windows, elements});
  const Variable best = autograd::expand_dims(autograd::argmax(candidates.detach(), 3), 3);
  const Variable of_windows =
      autograd::as_variable(autograd::reshape(positions, {x.shape(0), x.shape(1), windows, elements}));
  return {autograd::take_along_axis(candidates, best, 3).reshape(result),
          autograd::take_along_axis(of_windows, best, 3).reshape(result).data()};
}

}  // namespace

MaxPoolingResult fractional_max_pool_with_indices(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                                                  const FractionalMaxPoolOptions& o) {
  const std::string op = catena::concat("fractional_max_pool", axes, "d");
  return with_batch_of_maxima(op.c_str(), x, axes,
                              [&](const Variable& batch) { return pooled(op.c_str(), batch, kernel, o); });
}
Variable fractional_max_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                             const FractionalMaxPoolOptions& o) {
  return fractional_max_pool_with_indices(axes, x, kernel, o).y;
}

}  // namespace nn::internal
