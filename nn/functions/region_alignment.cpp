// Averages and maxima of regions at interpolated points or at their pixels, and the suppression of regions.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/array/sampling.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/pooling.h>

namespace nn {

using autograd::Dtype;
using autograd::IndexItem;
using autograd::Shape;
using autograd::type_check::TypeInfoTuple;
using catena::check;
using catena::ValueError;
using internal::narrowed;
using internal::wide;

namespace {

// The points of the bins of all regions along one axis: region by region, bin by bin. Bins with fewer points than the
// others have points that do not count.
struct Points {
  std::vector<double> at;
  std::vector<unsigned char> counts;
  std::vector<double> divisor;  // of each bin of each region
  std::int64_t regions, bins, each;

  // `points_of(region, bin)` returns the points; those that are not `inside` the image count in the divisor only.
  template <class PointsOf, class Inside>
  Points(std::int64_t number, std::int64_t bins_of_each, const PointsOf& points_of, const Inside& inside)
      : regions(number), bins(bins_of_each), each(1) {
    std::vector<std::vector<double>> all;
    for (std::int64_t r = 0; r < regions; ++r)
      for (std::int64_t b = 0; b < bins; ++b) {
        all.push_back(points_of(r, b));
        each = std::max(each, std::int64_t(all.back().size()));
      }
    for (std::vector<double>& points : all) {
      divisor.push_back(points.empty() ? 1.0 : double(points.size()));
      for (const double p : points) counts.push_back(inside(p));
      counts.resize(counts.size() + std::size_t(each) - points.size(), 0);
      points.resize(std::size_t(each), 0.0);
      at.insert(at.end(), points.begin(), points.end());
    }
  }
};

struct Regions {
  std::vector<double> corners;  // {y_min, x_min, y_max, x_max} of each
  Array images;                 // (R, 1, 1)
  std::int64_t count;
};

Regions regions_of(const char* op, const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize) {
  internal::check_inputs(op, "x rois roi_indices", {x, rois, roi_indices}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 4, in_types[1].dtype.kind() == 'f',
           in_types[1].ndim == 2, in_types[1].shape[1] == 4, in_types[2].dtype.kind() == 'i', in_types[2].ndim == 1,
           in_types[2].shape[0] == in_types[1].shape[0]);
  });
  check<ValueError>(outsize.y > 0 && outsize.x > 0, op, "the output size ", outsize.y, " x ", outsize.x,
                    " must be positive");
  const std::int64_t count = rois.shape(0);
  for (const std::int64_t image : autograd::to_vector<std::int64_t>(roi_indices.data()))
    check<ValueError>(image >= 0 && image < x.shape(0), op, "a region is of the image ", image, ", of which there are ",
                      x.shape(0));
  return {autograd::to_vector<double>(rois.data()),
          autograd::reshape(autograd::astype(roi_indices.data(), Dtype::int64), {count, 1, 1}), count};
}

// The points of one axis (0: vertical) of x at which bins of regions are sampled.
Points aligned_points(const Variable& x, const Regions& regions, int axis, int bins, const RoiAlignOptions& o) {
  const double last = double(x.shape(2 + axis) - 1);
  const auto points_of = [&](std::int64_t region, std::int64_t bin) {
    const double* corner = &regions.corners[std::size_t(4 * region + axis)];
    const double shift = o.aligned ? 0.5 : 0, begin = corner[0] * o.spatial_scale - shift,
                 end = corner[2] * o.spatial_scale - shift;
    const double length = o.aligned ? end - begin : std::max(end - begin, 1.0), step = length / bins;
    const int number = o.sampling_ratio > 0 ? o.sampling_ratio : std::max(int(std::ceil(step)), 0);
    std::vector<double> points;
    for (int k = 0; k < number; ++k) points.push_back(begin + double(bin) * step + (k + 0.5) * step / number);
    return points;
  };
  Points points(regions.count, bins, points_of, [&](double p) { return p >= -1 && p <= last + 1; });
  for (double& p : points.at) p = std::clamp(p, 0.0, last);
  return points;
}

// The pixels of the bins of regions whose corners are rounded.
Points pixel_points(const Variable& x, const Regions& regions, int axis, int bins, double spatial_scale) {
  const double size = double(x.shape(2 + axis));
  return Points(
      regions.count, bins,
      [&](std::int64_t region, std::int64_t bin) {
        const double* corner = &regions.corners[std::size_t(4 * region + axis)];
        const double begin = std::round(corner[0] * spatial_scale), end = std::round(corner[2] * spatial_scale);
        const double step = std::max(end - begin, 1.0) / bins;
        const double low = std::clamp(begin + std::floor(double(bin) * step), 0.0, size),
                     high = std::clamp(begin + std::ceil(double(bin + 1) * step), 0.0, size);
        std::vector<double> points;
        for (double p = low; p < high; ++p) points.push_back(p);
        return points;
      },
      [](double) { return true; });
}

// Converts numbers of the points, or of the bins if `each` is 1, of an axis to an array that broadcasts to
// (R, outh, points, outw, points, C).
Array along(const Points& p, const void* data, Dtype dtype, std::int64_t each, bool vertical, const Variable& x) {
  const Shape shape = vertical ? Shape{p.regions, p.bins, each, 1, 1, 1} : Shape{p.regions, 1, 1, p.bins, each, 1};
  return x.data().backend().from_host(data, shape, dtype, x.device());
}

// The values at all points, (R, outh, points, outw, points, C), and which points count, with 1 instead of C.
struct Sampled {
  Variable values;
  Array counts;
};
Sampled sampled(const Variable& x, const Regions& regions, const Points& v, const Points& u, bool is_linear) {
  const auto coordinates = [&](const Points& p, const Shape& shape) {
    return autograd::internal::constant_variable(
        autograd::astype(x.data().backend().from_host(p.at.data(), shape, Dtype::float64, x.device()), x.dtype()));
  };
  const Variable rows = coordinates(v, {v.regions, v.bins * v.each, 1}),
                 columns = coordinates(u, {u.regions, 1, u.bins * u.each});
  const internal::PointSampler sampler(x);
  const Variable values =
      is_linear ? sampler.linear(regions.images, rows, columns) : sampler.nearest(regions.images, rows, columns);
  return {reshape(values, {v.regions, v.bins, v.each, u.bins, u.each, x.shape(1)}),
          internal::both(along(v, v.counts.data(), Dtype::bool_, v.each, true, x),
                         along(u, u.counts.data(), Dtype::bool_, u.each, false, x))};
}

Variable averages(const Variable& x, const Regions& regions, const Points& v, const Points& u, bool is_linear) {
  const Sampled s = sampled(x, regions, v, u, is_linear);
  const auto divisor = [&](const Points& p, bool vertical) {
    const Array all = autograd::astype(along(p, p.divisor.data(), Dtype::float64, 1, vertical, x), x.dtype());
    return autograd::squeeze(all, {2, 4});
  };
  const Variable total = sum(autograd::masked(s.values, s.counts), {2, 4});
  return transpose(total / (divisor(v, true) * divisor(u, false)), {0, 3, 1, 2});
}

// The maxima are elements of the sampled values; a bin without points is 0.
Variable maxima(const Variable& x, const Regions& regions, const Points& v, const Points& u, bool is_linear) {
  const Sampled s = sampled(x, regions, v, u, is_linear);
  const Shape bins{v.regions, v.bins, u.bins, v.each * u.each, x.shape(1)};
  const Variable values = reshape(transpose(s.values, {0, 1, 3, 2, 4, 5}), bins);
  if (values.size() == 0) return reshape(values, {v.regions, x.shape(1), v.bins, u.bins});
  const Array counts = autograd::reshape(autograd::transpose(s.counts, {0, 1, 3, 2, 4, 5}),
                                         {v.regions, v.bins, u.bins, v.each * u.each, 1});
  const Array known = autograd::where(counts, values.data(), -std::numeric_limits<double>::infinity());
  const Array first = autograd::astype(autograd::reduce(catena::kernels::argmax, known, 3), Dtype::int64);
  // The position of element (b, first, c) of (bins, points, channels).
  const std::int64_t all = v.regions * v.bins * u.bins, C = x.shape(1);
  const Array bin =
      autograd::reshape(autograd::arrays::arange(all, Dtype::int64, x.device()), {v.regions, v.bins, u.bins, 1});
  const Array position = (bin * (v.each * u.each) + first) * C + autograd::arrays::arange(C, Dtype::int64, x.device());
  const Array found = autograd::reduce(catena::kernels::any, counts, 3);
  return transpose(autograd::masked(get_item(reshape(values, {-1}), {IndexItem(position)}), found), {0, 3, 1, 2});
}

// averages() or maxima().
using Reduction = Variable(const Variable& x, const Regions& regions, const Points& v, const Points& u, bool is_linear);

Variable aligned(const char* op, const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                 const RoiAlignOptions& o, Reduction& reduction) {
  check<ValueError>(o.sampling_ratio >= 0, op, "sampling_ratio is ", o.sampling_ratio, "; it must be at least 0");
  const Regions regions = regions_of(op, x, rois, roi_indices, outsize);
  return narrowed(reduction(wide(x), regions, aligned_points(x, regions, 0, outsize.y, o),
                            aligned_points(x, regions, 1, outsize.x, o), true),
                  x.dtype());
}

Variable pooled(const char* op, const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                double spatial_scale, Reduction& reduction) {
  const Regions regions = regions_of(op, x, rois, roi_indices, outsize);
  return narrowed(reduction(wide(x), regions, pixel_points(x, regions, 0, outsize.y, spatial_scale),
                            pixel_points(x, regions, 1, outsize.x, spatial_scale), false),
                  x.dtype());
}

// The options that the functions have in a file.
autograd::internal::FunctionOptions options_of(Pair outsize, double spatial_scale) {
  autograd::internal::FunctionOptions options;
  options.integers("outsize", std::vector<std::int64_t>{outsize.y, outsize.x});
  options.number("spatial_scale", spatial_scale);
  return options;
}

}  // namespace

Variable roi_average_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                              const RoiAlignOptions& o) {
  const Variable y = aligned("roi_average_align_2d", x, rois, roi_indices, outsize, o, averages);
  if (!autograd::internal::wants_elementary_nodes()) return y;
  autograd::internal::FunctionOptions options = options_of(outsize, o.spatial_scale);
  options.integer("sampling_ratio", o.sampling_ratio);
  options.integer("aligned", o.aligned);
  return autograd::internal::recorded(y, "RoIAverageAlign", {x, rois, roi_indices}, std::move(options));
}
Variable roi_max_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                          const RoiAlignOptions& o) {
  return aligned("roi_max_align_2d", x, rois, roi_indices, outsize, o, maxima);
}
Variable roi_average_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                                double spatial_scale) {
  return pooled("roi_average_pooling_2d", x, rois, roi_indices, outsize, spatial_scale, averages);
}
Variable roi_max_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices, Pair outsize,
                            double spatial_scale) {
  const Variable y = pooled("roi_max_pooling_2d", x, rois, roi_indices, outsize, spatial_scale, maxima);
  if (!autograd::internal::wants_elementary_nodes()) return y;
  return autograd::internal::recorded(y, "RoIMaxPooling", {x, rois, roi_indices}, options_of(outsize, spatial_scale));
}

Variable nms(const Variable& boxes, const Variable& scores, double iou_threshold) {
  internal::check_inputs("nms", "boxes scores", {boxes, scores}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 2, in_types[0].shape[1] == 4,
           in_types[1].dtype.kind() == 'f', in_types[1].ndim == 1, in_types[1].shape[0] == in_types[0].shape[0]);
  });
  const std::vector<double> b = autograd::to_vector<double>(boxes.data()),
                            s = autograd::to_vector<double>(scores.data());
  std::vector<std::size_t> order(s.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return s[i] > s[j]; });
  const auto area = [&](std::size_t i) { return (b[4 * i + 2] - b[4 * i]) * (b[4 * i + 3] - b[4 * i + 1]); };
  const auto overlap = [&](std::size_t i, std::size_t j) {
    double common = 1;
    for (std::size_t a = 0; a < 2; ++a)
      common *= std::max(std::min(b[4 * i + 2 + a], b[4 * j + 2 + a]) - std::max(b[4 * i + a], b[4 * j + a]), 0.0);
    return common / (area(i) + area(j) - common);
  };
  std::vector<std::int64_t> kept;
  for (const std::size_t i : order)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](std::int64_t k) { return overlap(std::size_t(k), i) > iou_threshold; }))
      kept.push_back(std::int64_t(i));
  const Variable y = autograd::internal::constant_variable(
      boxes.data().backend().from_host(kept.data(), {std::int64_t(kept.size())}, Dtype::int64, boxes.device()));
  if (!autograd::internal::wants_elementary_nodes()) return y;
  autograd::internal::FunctionOptions options;
  options.number("iou_threshold", iou_threshold);
  return autograd::internal::recorded(y, "NMS", {boxes, scores}, std::move(options));
}

namespace ops {
namespace {
void check_boxes(const char* op, const char* names, const autograd::Variables& boxes) {
  internal::check_inputs(op, names, boxes, [n = boxes.size()](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    for (std::size_t i = 0; i < n; ++i)
      expect(in_types[i].dtype.kind() == 'f', in_types[i].ndim == 2, in_types[i].shape[1] == 4);
  });
}
Variable corner(const Variable& boxes, int first) { return boxes(autograd::_, autograd::Slice(first, first + 2)); }
}  // namespace

Variable box_area(const Variable& boxes) {
  check_boxes("box_area", "boxes", {boxes});
  return autograd::prod(corner(boxes, 2) - corner(boxes, 0), 1);
}

Variable box_iou(const Variable& boxes1, const Variable& boxes2) {
  check_boxes("box_iou", "boxes1 boxes2", {boxes1, boxes2});
  const auto corners = [&](int first) {
    return autograd::broadcast(
        {autograd::expand_dims(corner(boxes1, first), 1), autograd::expand_dims(corner(boxes2, first), 0)});
  };
  const Variable begin = autograd::maximum(corners(0)), end = autograd::minimum(corners(2));
  const Variable common = autograd::prod(autograd::clip(end - begin, 0, {}), 2);
  return common / (autograd::expand_dims(box_area(boxes1), 1) + autograd::expand_dims(box_area(boxes2), 0) - common);
}
}  // namespace ops

}  // namespace nn
