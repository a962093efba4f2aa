// Operators that sample images, select regions, and compute losses, determinants and Fourier transforms.
#include <array>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/fft.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/functions/probability_loss.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace regions {
namespace {

using Call = const OperatorCall&;

// ---- images ----
Variables grid_sample(Call c) {
  const Variable& x = c.input(0);
  const Variable grid = beside(c.input(1), x);
  const std::string mode = c.text("mode", "bilinear"), padding = c.text("padding_mode", "zeros");
  if (mode == "cubic" || mode == "bicubic") c.unsupported("its mode is ", mode);
  if (x.ndim() != 4 || grid.ndim() != 4) c.unsupported("its input has the shape ", x.shape(), "; (n, c, h, w) is read");
  nn::SamplerOptions o{.padding_mode = padding, .align_corners = c.integer("align_corners", 0) != 0};
  if (mode == "nearest") o.mode = "nearest";
  return {nn::spatial_transformer_sampler(x, autograd::transpose(grid, {0, 3, 1, 2}), o)};
}

// Corners are {x, y} in the operators, {y, x} in this library.
Variable exchanged(const Variable& rois) {
  const std::vector<std::int64_t> order{1, 0, 3, 2};
  return autograd::get_item(rois, {catena::Slice(), order});
}

Variables roi_align(Call c) {
  const Variable& x = c.input(0);
  if (c.text("mode", "avg") != "avg") c.unsupported("its mode is ", c.text("mode", "avg"));
  const std::string by = c.text("coordinate_transformation_mode", c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  const nn::Pair size(int(c.integer("output_height", 1)), int(c.integer("output_width", 1)));
  return {nn::roi_average_align_2d(x, exchanged(beside(c.input(1), x)), beside(c.input(2), x), size,
                                   {.spatial_scale = c.number("spatial_scale", 1),
                                    .sampling_ratio = int(c.integer("sampling_ratio", 0)),
                                    .aligned = by == "half_pixel"})};
}

Variables max_roi_pool(Call c) {
  const Integers size = c.integers("pooled_shape");
  if (size.size() != 2) c.refuse("its pooled_shape has ", size.size(), " lengths; 2 are needed");
  return {nn::roi_pooling_2d(c.input(0), beside(c.input(1), c.input(0)), int(size[0]), int(size[1]),
                             c.number("spatial_scale", 1))};
}

// Selections {image, class, box}, for all classes of all images.
Variables non_max_suppression(Call c) {
  const Variable &boxes = c.input(0), &scores = c.input(1);
  if (boxes.ndim() != 3 || scores.ndim() != 3 || boxes.shape(2) != 4)
    c.refuse("its boxes have the shape ", boxes.shape(), " and its scores ", scores.shape());
  if (c.integer("center_point_box", 0) != 0) c.unsupported("its boxes are given by their centres");
  const std::int64_t most = c.has(2) ? c.integer_of(2) : 0;
  const double overlap = c.has(3) ? c.number_of(3) : 0;
  const bool has_least = c.has(4);
  const double least = has_least ? c.number_of(4) : 0;
  const auto in_order = [](const Array& two_points) {  // any two corners that lie opposite each other
    const Array a = autograd::slice(two_points, 1, 0, 2), b = autograd::slice(two_points, 1, 2, 4);
    const Array parts[] = {autograd::apply(catena::kernels::minimum, {a, b}),
                           autograd::apply(catena::kernels::maximum, {a, b})};
    return autograd::concatenate(parts, 1);
  };
  Integers selected;
  for (std::int64_t i = 0; i < scores.shape(0); ++i) {
    const Array own = in_order(autograd::get_item(boxes, {i}).data());
    for (std::int64_t k = 0; k < scores.shape(1); ++k) {
      const Variable of_class = autograd::get_item(scores, {i, k});
      const std::vector<double> score = autograd::to_vector<double>(of_class.data());
      std::int64_t count = 0;
      for (const std::int64_t box :
           autograd::to_vector<std::int64_t>(nn::nms(constant(own), of_class, overlap).data())) {
        if (count == most) break;
        if (has_least && score[std::size_t(box)] <= least) continue;
        selected.insert(selected.end(), {i, k, box});
        ++count;
      }
    }
  }
  return {integers(selected, {std::int64_t(selected.size()) / 3, 3})};
}

// ---- losses ----
std::string reduction_of(Call c) { return nn::internal::reduce_of("loss", c.text("reduction", "mean")); }

Variables softmax_cross_entropy_loss(Call c) {
  const Variable& x = c.input(0);
  Variables y{nn::softmax_cross_entropy(x, beside(c.input(1), x),
                                        {.class_weight = c.has(2) ? beside(c.input(2), x).data() : Array(),
                                         .ignore_label = int(c.integer("ignore_index", -1)),
                                         .reduce = reduction_of(c),
                                         .normalize_by_weight = true})};
  if (c.has_output(1)) y.push_back(nn::log_softmax(x, 1));
  return y;
}

Variables negative_log_likelihood_loss(Call c) {
  const Variable& x = c.input(0);
  return {nn::nll_loss(x, beside(c.input(1), x),
                       {.class_weight = c.has(2) ? beside(c.input(2), x).data() : Array(),
                        .ignore_label = int(c.integer("ignore_index", -1)),
                        .reduce = reduction_of(c)})};
}

// ---- determinants and transforms ----
Variables determinant(Call c) { return {autograd::det(c.input(0))}; }

// One axis of complex numbers, whose parts are the last axis; of real numbers if that has the length 1.
Variables dft(Call c) {
  const Variable& x = c.input(0);
  const int last = x.ndim() - 1;
  if (last < 1 || x.shape(last) < 1 || x.shape(last) > 2) c.refuse("its input has the shape ", x.shape());
  const std::int64_t given = c.opset() < 20 ? c.integer("axis", 1) : c.has(2) ? c.integer_of(2) : -2;
  const int axis = c.axis(given, x.ndim());
  if (axis == last) c.refuse("its axis is that of the real and imaginary parts");
  if (c.has(1) && c.integer_of(1) != x.shape(axis)) c.unsupported("its length is not that of its input");
  const auto part = [&](std::int64_t i) {
    return autograd::moveaxis(autograd::get_item(x, {autograd::ellipsis, i}), axis, -1);
  };
  const bool inverse = c.integer("inverse", 0) != 0, onesided = c.integer("onesided", 0) != 0;
  if (inverse && onesided) c.unsupported("it is onesided and inverse");
  if (onesided && x.shape(last) == 2) c.refuse("it is onesided, and its input is complex");
  const autograd::ComplexPair in{part(0), x.shape(last) == 2 ? part(1) : Variable()};
  namespace pairs = autograd::pairs;
  const autograd::ComplexPair y = inverse ? pairs::ifft(in) : onesided ? pairs::rfft(in.real) : pairs::fft(in);
  return {autograd::stack({autograd::moveaxis(y.real, -1, axis), autograd::moveaxis(y.imag, -1, axis)}, -1)};
}

Variables hardmax(Call c) {
  const Variable& x = c.input(0);
  return {autograd::hardmax(x, c.axis(c.integer("axis", -1), x.ndim()))};
}

constexpr std::array kOperators = {
    Operator{"DFT", dft, kAllButFirst},
    Operator{"Det", determinant},
    Operator{"GridSample", grid_sample},
    Operator{"Hardmax", hardmax},
    Operator{"MaxRoiPool", max_roi_pool},
    Operator{"NegativeLogLikelihoodLoss", negative_log_likelihood_loss, 0b110},
    Operator{"NonMaxSuppression", non_max_suppression, 0b11100},
    Operator{"RoiAlign", roi_align},
    Operator{"SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss, 0b110},
};

}  // namespace
}  // namespace regions

std::span<const Operator> region_operators() { return regions::kOperators; }

}  // namespace nn::onnx::importing
