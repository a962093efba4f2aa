// Resize and Upsample: interpolation along each axis, by weights of the pixels between which a result lies.
#include <algorithm>
#include <array>
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/operators.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace resize {
namespace {

using Call = const OperatorCall&;

// How an axis is resized: texts as ONNX defines them.
struct Rule {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool exclude_outside = false;
};

// The pixel of the input, as a fraction, for pixel i of `out` pixels of an axis of length n.
double coordinate(Call c, const Rule& rule, std::int64_t i, std::int64_t n, std::int64_t out, double scale) {
  const auto x = double(i);
  if (rule.coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (rule.coordinates == "half_pixel_symmetric") {
    const double centre = double(n) / 2, adjustment = double(out) / (scale * double(n));
    return centre * (1 - adjustment) + (x + 0.5) / scale - 0.5;
  }
  if (rule.coordinates == "pytorch_half_pixel") return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
  if (rule.coordinates == "align_corners") {
    const double length = double(n) * scale;  // not rounded down, as ONNX defines it
    return length > 1 ? x * double(n - 1) / (length - 1) : 0;
  }
  if (rule.coordinates == "asymmetric") return x / scale;
  c.unsupported("the coordinate_transformation_mode ", rule.coordinates, " is not imported");
}

std::int64_t nearest_pixel(Call c, const Rule& rule, double at) {
  if (rule.nearest == "floor") return std::int64_t(std::floor(at));
  if (rule.nearest == "ceil") return std::int64_t(std::ceil(at));
  if (rule.nearest == "round_prefer_floor") return std::int64_t(std::ceil(at - 0.5));
  if (rule.nearest == "round_prefer_ceil") return std::int64_t(std::floor(at + 0.5));
  c.refuse("its nearest_mode is ", rule.nearest);
}

// The weights of the pixels around a position whose fraction is t; the first is that of `offset` from its floor.
struct Weights {
  int offset = 0;
  std::vector<double> values;
};
Weights weights_of(const Rule& rule, double t) {
  if (rule.mode == "linear") return {0, {1 - t, t}};
  const double a = rule.cubic;  // Keys (1981)
  const auto inner = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto outer = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {-1, {outer(1 + t), inner(t), inner(1 - t), outer(2 - t)}};
}

Variable taken(const Variable& x, int axis, const Integers& pixels) {
  return autograd::index_select(x, axis, beside(integers(pixels), x));
}

Variable resized(Call c, const Variable& x, int axis, std::int64_t out, double scale, const Rule& rule) {
  const std::int64_t n = x.shape(axis);
  if (n < 1 || out < 0) c.refuse("axis ", axis, " of length ", n, " cannot get the length ", out);
  const auto inside = [n](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, n - 1); };
  if (rule.mode == "nearest") {
    Integers pixels;
    for (std::int64_t i = 0; i < out; ++i)
      pixels.push_back(inside(nearest_pixel(c, rule, coordinate(c, rule, i, n, out, scale))));
    return taken(x, axis, pixels);
  }
  std::vector<Integers> pixels;
  std::vector<std::vector<double>> weights;
  for (std::int64_t i = 0; i < out; ++i) {
    const double at = coordinate(c, rule, i, n, out, scale), whole = std::floor(at);
    Weights w = weights_of(rule, at - whole);
    pixels.resize(w.values.size());
    weights.resize(w.values.size());
    double sum = 0;
    for (std::size_t k = 0; k < w.values.size(); ++k) {
      const std::int64_t pixel = std::int64_t(whole) + w.offset + std::int64_t(k);
      if (rule.exclude_outside && (pixel < 0 || pixel >= n)) w.values[k] = 0;
      sum += w.values[k];
      pixels[k].push_back(inside(pixel));
    }
    for (std::size_t k = 0; k < w.values.size(); ++k)
      weights[k].push_back(rule.exclude_outside ? w.values[k] / sum : w.values[k]);
  }
  Shape along = Shape::filled(x.ndim(), 1);
  along[axis] = out;
  Variable y;
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    const Variable w = cast_to(constant(autograd::array(weights[k], along, autograd::Device{})), x.dtype());
    const Variable part = taken(x, axis, pixels[k]) * beside(w, x);
    y = y ? y + part : part;
  }
  return y;
}

// Lengths of the result and the factors that ONNX uses for the coordinates; one for each of `axes`.
struct Target {
  Integers axes, lengths;
  std::vector<double> scales;
};

Variables apply(Call c, const Target& t, const Rule& rule) {
  if (rule.mode != "nearest" && rule.mode != "linear" && rule.mode != "cubic") c.refuse("its mode is ", rule.mode);
  const Dtype dtype = c.input(0).dtype();
  Variable x = c.input(0);
  if (!is_floating(x) && rule.mode != "nearest") x = cast_to(x, Dtype::float32);
  for (std::size_t k = 0; k < t.axes.size(); ++k) {
    const int axis = c.axis(t.axes[k], x.ndim());
    if (t.lengths[k] == x.shape(axis) && t.scales[k] == 1) continue;
    x = resized(c, x, axis, t.lengths[k], t.scales[k], rule);
  }
  return {cast_to(x, dtype)};
}

Target target_of_scales(Call c, const std::vector<double>& scales, Integers axes) {
  Target t{std::move(axes), {}, scales};
  if (scales.size() != t.axes.size()) c.refuse("it has ", scales.size(), " scales for ", t.axes.size(), " axes");
  for (std::size_t k = 0; k < scales.size(); ++k) {
    if (!(scales[k] > 0)) c.refuse("a scale is ", scales[k]);
    const int axis = c.axis(t.axes[k], c.input(0).ndim());
    t.lengths.push_back(std::int64_t(std::floor(double(c.input(0).shape(axis)) * scales[k])));
  }
  return t;
}

Integers all_axes(Call c) {
  Integers axes;
  for (int k = 0; k < c.input(0).ndim(); ++k) axes.push_back(k);
  return axes;
}

Variables resize(Call c) {
  const bool with_region = c.opset() >= 11;
  Rule rule{c.text("mode", "nearest"),
            c.text("coordinate_transformation_mode", with_region ? "half_pixel" : "asymmetric"),
            c.text("nearest_mode", with_region ? "round_prefer_floor" : "floor"), c.number("cubic_coeff_a", -0.75),
            c.integer("exclude_outside", 0) != 0};
  if (c.integer("antialias", 0) != 0) c.unsupported("antialias is not imported");
  if (c.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    c.unsupported("the keep_aspect_ratio_policy ", c.text("keep_aspect_ratio_policy", ""), " is not imported");
  Integers axes = c.integers("axes");
  if (axes.empty()) axes = all_axes(c);
  const std::size_t scales = with_region ? 2 : 1;
  if (c.has(scales) && c.input(scales).size() > 0)
    return apply(c, target_of_scales(c, c.numbers_of(scales), axes), rule);
  Target t{axes, c.integers_of(3), {}};
  if (t.lengths.size() != axes.size()) c.refuse("it has ", t.lengths.size(), " sizes for ", axes.size(), " axes");
  for (std::size_t k = 0; k < axes.size(); ++k)
    t.scales.push_back(double(t.lengths[k]) / double(c.input(0).shape(c.axis(axes[k], c.input(0).ndim()))));
  return apply(c, t, rule);
}

Variables upsample(Call c) {
  std::vector<double> scales;
  if (c.opset() >= 9) {
    scales = c.numbers_of(1);
  } else {
    const Attribute* const a = c.attribute("scales");
    if (a == nullptr) c.refuse("it lacks the attribute scales");
    scales.assign(a->floats.begin(), a->floats.end());
  }
  return apply(c, target_of_scales(c, scales, all_axes(c)), {c.text("mode", "nearest"), "asymmetric", "floor"});
}

constexpr std::array kOperators = {
    Operator{"Resize", resize, kAllButFirst},
    Operator{"Upsample", upsample, kAllButFirst},
};

}  // namespace
}  // namespace resize

std::span<const Operator> resize_operators() { return resize::kOperators; }

}  // namespace nn::onnx::importing
