#include <catena/nn/vision/ops.h>

#include <algorithm>
#include <vector>

#include <catena/nn/functions/math.h>
#include <catena/nn/functions/probability_loss.h>

namespace nn::ops {

using catena::check;
using catena::ValueError;

namespace {

// The four columns of boxes.
Variables columns(const char* op, const Variable& boxes) {
  check<ValueError>(boxes.ndim() == 2 && boxes.shape(1) == 4, op, "boxes have the shape (N, 4), not ", boxes.shape());
  return autograd::unbind(boxes, 1);
}
Variable joined(const Variables& columns) { return autograd::stack(columns, 1); }

void check_form(std::string_view form) {
  check<ValueError>(form == "xyxy" || form == "xywh" || form == "cxcywh", "box_convert", "there is no form \"", form,
                    "\"; the forms are \"xyxy\", \"xywh\" and \"cxcywh\"");
}
// {x1, y1, x2, y2} of boxes in a form.
Variables corners(const Variables& b, std::string_view form) {
  if (form == "xyxy") return b;
  if (form == "xywh") return {b[0], b[1], b[0] + b[2], b[1] + b[3]};
  return {b[0] - 0.5 * b[2], b[1] - 0.5 * b[3], b[0] + 0.5 * b[2], b[1] + 0.5 * b[3]};
}
// The smallest or largest of each of N and each of M numbers: (N, M).
template <class F> Variable of_pairs(F f, const Variable& a, const Variable& b) {
  const Variables both = autograd::broadcast({autograd::expand_dims(a, 1), autograd::expand_dims(b, 0)});
  return f(both[0], both[1]);
}
Variable minimum(const Variable& a, const Variable& b) { return autograd::minimum(a, b); }
Variable maximum(const Variable& a, const Variable& b) { return autograd::maximum(a, b); }
Variable from_indices(const std::vector<std::int64_t>& indices, const Variable& like) {
  return Variable(autograd::array(indices, {std::int64_t(indices.size())}, like.device()));
}

}  // namespace

Variable box_convert(const Variable& boxes, std::string_view in_fmt, std::string_view out_fmt) {
  check_form(in_fmt);
  check_form(out_fmt);
  const Variables c = corners(columns("box_convert", boxes), in_fmt);
  if (out_fmt == "xyxy") return joined(c);
  const Variable width = c[2] - c[0], height = c[3] - c[1];
  if (out_fmt == "xywh") return joined({c[0], c[1], width, height});
  return joined({0.5 * (c[0] + c[2]), 0.5 * (c[1] + c[3]), width, height});
}

Variable generalized_box_iou(const Variable& boxes1, const Variable& boxes2) {
  const Variables a = columns("generalized_box_iou", boxes1), b = columns("generalized_box_iou", boxes2);
  const auto sides = [&](auto low, auto high) {
    const Variable width = of_pairs(high, a[2], b[2]) - of_pairs(low, a[0], b[0]);
    const Variable height = of_pairs(high, a[3], b[3]) - of_pairs(low, a[1], b[1]);
    return autograd::clip(width, 0, {}) * autograd::clip(height, 0, {});
  };
  const Variable common = sides(maximum, minimum), around = sides(minimum, maximum);
  const Variable areas =
      of_pairs([](const Variable& x, const Variable& y) { return x + y; }, box_area(boxes1), box_area(boxes2));
  const Variable united = areas - common;
  return common / united - (around - united) / around;
}

Variable clip_boxes_to_image(const Variable& boxes, const std::array<std::int64_t, 2>& size) {
  const Variables c = columns("clip_boxes_to_image", boxes);
  const auto within = [](const Variable& v, std::int64_t length) { return autograd::clip(v, 0, double(length)); };
  return joined({within(c[0], size[1]), within(c[1], size[0]), within(c[2], size[1]), within(c[3], size[0])});
}

Variable remove_small_boxes(const Variable& boxes, double min_size) {
  columns("remove_small_boxes", boxes);
  const std::vector<double> b = autograd::to_vector<double>(boxes.data());
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < b.size(); i += 4)
    if (b[i + 2] - b[i] >= min_size && b[i + 3] - b[i + 1] >= min_size) kept.push_back(std::int64_t(i / 4));
  return from_indices(kept, boxes);
}

// Boxes of different classes are moved so far apart that they do not overlap.
Variable batched_nms(const Variable& boxes, const Variable& scores, const Variable& idxs, double iou_threshold) {
  columns("batched_nms", boxes);
  if (boxes.shape(0) == 0) return nms(boxes, scores, iou_threshold);
  const autograd::Array wide = autograd::astype(boxes.data(), autograd::Dtype::float64);
  const Variable positions(wide), classes(autograd::astype(idxs.data(), autograd::Dtype::float64));
  const Variable extent = autograd::max(positions) - autograd::min(positions) + 1;
  const Variable moves = classes * autograd::broadcast_to(extent, classes.shape());
  return nms(positions + autograd::broadcast_to(autograd::expand_dims(moves, 1), positions.shape()), scores,
             iou_threshold);
}

Variable roi_align(const Variable& input, const Variable& boxes, Pair output_size, const RoiAlignOptions& o) {
  check<ValueError>(boxes.ndim() == 2 && boxes.shape(1) == 5, "roi_align",
                    "boxes have the shape (R, 5), with the number of the image first, not ", boxes.shape());
  const Variables c = autograd::unbind(boxes, 1);
  const Variable images(autograd::astype(c[0].data(), autograd::Dtype::int32));
  return roi_average_align_2d(
      input, joined({c[2], c[1], c[4], c[3]}), images, output_size,
      nn::RoiAlignOptions{
          .spatial_scale = o.spatial_scale, .sampling_ratio = std::max(o.sampling_ratio, 0), .aligned = o.aligned});
}

Variable sigmoid_focal_loss(const Variable& inputs, const Variable& targets, const FocalLossOptions& o) {
  check<ValueError>(o.reduction != "no", "sigmoid_focal_loss",
                    "the reduction is \"no\"; it is \"none\", \"mean\" or \"sum\"");
  return focal_loss(inputs, targets,
                    {.gamma = o.gamma, .alpha = o.alpha, .reduce = o.reduction == "none" ? "no" : o.reduction});
}

}  // namespace nn::ops
