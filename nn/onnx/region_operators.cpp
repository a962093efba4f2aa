// Images at points of a grid, and regions of images.
#include <catena/nn/onnx/operators.h>

namespace nn::onnx::internal {

using Integers = std::vector<std::int64_t>;

namespace {

void grid_sample(CallView& c) {
  // The coordinates are the second axis here, the last one in the operator.
  const std::string grid = c.b.node("Transpose", {c.input(1)}, {attribute("perm", Integers{0, 2, 3, 1})});
  const std::string mode = c.text("mode") == "bilinear" && c.b.opset() >= 20 ? "linear" : c.text("mode");
  c.set(c.b.node("GridSample", {c.input(0), grid},
                 {attribute("mode", mode.c_str()), attribute("padding_mode", c.text("padding_mode").c_str()),
                  attribute("align_corners", c.integer("align_corners"))}));
}

std::string columns(GraphBuilder& b, const std::string& x, const Integers& which) {
  return b.node("Gather", {x, b.int64s(which)}, {attribute("axis", 1)});
}

// Corners are {y, x} here, {x, y} in the operators.
void roi_average_align(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string rois = cast_to(b, columns(b, c.input(1), {1, 0, 3, 2}), c.input_dtype(1), computed);
  const std::string images = cast_to(b, c.input(2), c.input_dtype(2), Dtype::int64);
  const Integers size = c.integers("outsize");
  const char* const transformation = c.integer("aligned") != 0 ? "half_pixel" : "output_half_pixel";
  const std::string y = b.node(
      "RoiAlign", {cast_to(b, c.input(0), given, computed), rois, images},
      {attribute("mode", "avg"), attribute("output_height", size[0]), attribute("output_width", size[1]),
       attribute("sampling_ratio", c.integer("sampling_ratio")), attribute("spatial_scale", c.number("spatial_scale")),
       attribute("coordinate_transformation_mode", transformation)});
  c.set(cast_to(b, y, computed, given));
}

void max_roi_pool(CallView& c, const std::string& rois, double spatial_scale) {
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string y =
      c.b.node("MaxRoiPool", {cast_to(c.b, c.input(0), given, computed), rois},
               {attribute("pooled_shape", c.integers("outsize")), attribute("spatial_scale", spatial_scale)});
  c.set(cast_to(c.b, y, computed, given));
}

void roi_pooling(CallView& c) {
  const Dtype computed = catena::compute_dtype(c.input_dtype(0));
  max_roi_pool(c, cast_to(c.b, c.input(1), c.input_dtype(1), computed), c.number("spatial_scale"));
}

// The operator counts the last pixel in; here the upper corner is the pixel behind. Halves are rounded away from 0.
void roi_max_pooling(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype dtype = catena::compute_dtype(c.input_dtype(0));
  const auto op = [&](const char* type, const std::string& x, double number) {
    return b.node(type, {x, b.scalar(number, dtype)});
  };
  const std::string scaled = op("Mul", cast_to(b, c.input(1), c.input_dtype(1), dtype), c.number("spatial_scale"));
  const std::string rounded =
      b.node("Mul", {b.node("Sign", {scaled}), b.node("Floor", {op("Add", b.node("Abs", {scaled}), 0.5)})});
  const std::string images = cast_to(b, c.input(2), c.input_dtype(2), dtype);
  const std::string rois = b.node("Concat",
                                  {b.node("Unsqueeze", {images, b.int64s({1})}), columns(b, rounded, {1, 0}),
                                   op("Sub", columns(b, rounded, {3, 2}), 1)},
                                  {attribute("axis", 1)});
  max_roi_pool(c, rois, 1);
}

// The operator has a list of selections {image, class, box} for batches of boxes.
void nms(CallView& c) {
  GraphBuilder& b = c.b;
  const auto batch = [&](std::size_t i, const Integers& axes) {
    return b.node("Unsqueeze", {cast_to(b, c.input(i), c.input_dtype(i), Dtype::float32), b.int64s(axes)});
  };
  const std::string selected =
      b.node("NonMaxSuppression", {batch(0, {0}), batch(1, {0, 1}), b.length(c.input_shape(0)[0]),
                                   b.scalar(c.number("iou_threshold"), Dtype::float32)});
  c.set(b.node("Gather", {selected, b.scalar(2, Dtype::int64)}, {attribute("axis", 1)}));
}

constexpr Operators kRegionsTable[] = {
    {"GridSample", "GridSample, Transpose", grid_sample},
    {"NMS", "Cast, Gather, NonMaxSuppression, Unsqueeze", nms},
    {"RoIAverageAlign", "Cast, Gather, RoiAlign", roi_average_align},
    {"RoIMaxPooling", "Abs, Add, Cast, Concat, Floor, Gather, MaxRoiPool, Mul, Sign, Sub, Unsqueeze", roi_max_pooling},
    {"RoIPooling", "Cast, MaxRoiPool", roi_pooling},
};

}  // namespace

std::span<const Operators> region_operators() noexcept { return kRegionsTable; }

}  // namespace nn::onnx::internal
