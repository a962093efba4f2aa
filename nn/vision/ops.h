// torchvision's module ops: boxes and regions of images. (nms, box_area and box_iou: nn/functions/pooling.h.)
//
// Boxes are (N, 4), {x1, y1, x2, y2} with x1 <= x2 and y1 <= y2, of a floating dtype. ValueError for other shapes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <catena/nn/functions/pooling.h>

namespace nn::ops {

// The boxes in another form: "xyxy" as above, "xywh" {x1, y1, width, height}, "cxcywh" {x and y of the centre, width,
// height}. ValueError for other names.
CATENA_EXPORT Variable box_convert(const Variable& boxes, std::string_view in_fmt, std::string_view out_fmt);
// box_iou minus the part of the smallest box around both that neither covers: (N, M).
CATENA_EXPORT Variable generalized_box_iou(const Variable& boxes1, const Variable& boxes2);
// The parts of boxes within an image of a size {height, width}.
CATENA_EXPORT Variable clip_boxes_to_image(const Variable& boxes, const std::array<std::int64_t, 2>& size);
// The numbers (int64) of the boxes whose sides are at least min_size. Computed on the host.
CATENA_EXPORT Variable remove_small_boxes(const Variable& boxes, double min_size);
// nms among the boxes of equal idxs (N): the numbers of all that remain, in the order of decreasing scores.
CATENA_EXPORT Variable batched_nms(const Variable& boxes, const Variable& scores, const Variable& idxs,
                                   double iou_threshold);

struct RoiAlignOptions {
  double spatial_scale = 1;  // the corners are multiplied by it
  // Points of a bin along each axis at which the input is interpolated; below 1: the length of the bin, rounded up.
  int sampling_ratio = -1;
  bool aligned = false;  // corners are moved by half a pixel
};
// The averages of bins of regions: (B, C, H, W) and boxes (R, 5), {image, x1, y1, x2, y2}, give (R, C, outh, outw).
CATENA_EXPORT Variable roi_align(const Variable& input, const Variable& boxes, Pair output_size,
                                 const RoiAlignOptions& options = {});
inline Variable roi_align(const Variable& input, const Variable& boxes, Pair output_size, double spatial_scale,
                          int sampling_ratio = -1, bool aligned = false) {
  return roi_align(input, boxes, output_size, RoiAlignOptions{spatial_scale, sampling_ratio, aligned});
}
// The maxima of bins of regions: roi_pooling_2d.
inline Variable roi_pool(const Variable& input, const Variable& boxes, Pair output_size, double spatial_scale = 1) {
  return roi_pooling_2d(input, boxes, output_size.y, output_size.x, spatial_scale);
}

struct FocalLossOptions {
  double alpha = 0.25;             // the weight of positive examples, 1 - alpha of the others; negative: no weights
  double gamma = 2;                // the power of 1 - p with which easy examples count less
  std::string reduction = "none";  // or "mean", "sum"; ValueError for others
};
// focal_loss with torchvision's options: of logits and targets in [0, 1] of one shape.
CATENA_EXPORT Variable sigmoid_focal_loss(const Variable& inputs, const Variable& targets,
                                          const FocalLossOptions& options = {});

}  // namespace nn::ops
