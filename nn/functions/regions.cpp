// Pooling over regions of images: roi_pooling_2d and spatial_pyramid_pooling_2d.
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/pooling.h>

namespace nn {

using autograd::Dtype;
using autograd::IndexItem;
using autograd::Operand;
using autograd::Shape;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;
using catena::check;
using catena::ValueError;

Variable roi_pooling_2d(const Variable& x, const Variable& rois, int outh, int outw, double spatial_scale) {
  constexpr const char* op = "roi_pooling_2d";
  internal::check_inputs("ROIPooling2D", "x rois", {x, rois}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 4, in_types[1].dtype.kind() == 'f',
           in_types[1].ndim == 2, in_types[1].shape[1] == 5);
  });
  check<ValueError>(outh > 0 && outw > 0, op, "the output size ", outh, " x ", outw, " must be positive");
  const Array corners = autograd::astype(rois.data(), Dtype::float32);
  if (autograd::is_debug()) {
    const std::vector<double> given = autograd::to_vector<double>(corners);
    for (std::size_t k = 0; k < given.size(); k += 5)
      check<ValueError>(given[k] >= 0 && given[k] < double(x.shape(0)), op, "the region ", k / 5, " is of the image ",
                        given[k], ", of which there are ", x.shape(0));
  }
  const Shape shape{rois.shape(0), x.shape(1), outh, outw};
  const Array maxima[] = {autograd::arrays::empty(shape, x.dtype(), x.device()),
                          autograd::arrays::empty(shape, Dtype::int64, x.device())};
  const Operand operands[] = {x.data(), corners, spatial_scale, outh, outw};
  autograd::apply_indexed(catena::kernels::roi_max_pool_2d, operands, maxima);
  // With known positions, the maxima are elements of x.
  const Array found = internal::greater_equal(maxima[1], 0);
  if (x.size() == 0) return autograd::internal::constant_variable(maxima[0]);
  const Variable y =
      autograd::masked(get_item(reshape(x, {-1}), {IndexItem(autograd::where(found, maxima[1], 0))}), found);
  if (!autograd::internal::wants_elementary_nodes()) return y;
  autograd::internal::FunctionOptions options;
  options.integers("outsize", std::vector<std::int64_t>{outh, outw});
  options.number("spatial_scale", spatial_scale);
  return autograd::internal::recorded(y, "RoIPooling", {x, rois}, std::move(options));
}

Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height, PoolingClass pooling_class,
                                    const CudnnOptions& o) {
  constexpr const char* op = "spatial_pyramid_pooling_2d";
  internal::check_inputs("SpatialPyramidPooling2D", "x", {x}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 4);
  });
  check<catena::NotImplementedError>(pooling_class == PoolingClass::max, op, "only max pooling is implemented");
  check<ValueError>(pyramid_height > 0 && pyramid_height < 31, op, "pyramid_height is ", pyramid_height,
                    "; it must be positive");
  struct Level {
    Pair size, pad;
  };
  std::vector<Level> levels;
  for (int i = 0; i < pyramid_height; ++i) {
    const std::int64_t bins = std::int64_t(1) << i;
    int size[2], pad[2];
    for (int a = 0; a < 2; ++a) {
      const std::int64_t n = x.shape(a + 2), k = (n + bins - 1) / bins, p = (bins * k - n) / 2;
      // Every bin must have an element, and the number of bins must be exact.
      check<ValueError>(
          n > 0 && k > p && (bins - 1) * k - p < n && autograd::get_conv_outsize(n, k, k, p, true) == bins, op,
          "a length of ", n, " cannot be cut into ", bins, " bins, of level ", i);
      size[a] = int(k);
      pad[a] = int(p);
    }
    levels.push_back({{size[0], size[1]}, {pad[0], pad[1]}});
  }
  Variables parts;
  for (std::size_t i = 0; i < levels.size(); ++i)
    parts.push_back(reshape(
        max_pooling_2d(x, levels[i].size, {.stride = levels[i].size, .pad = levels[i].pad, .use_cudnn = o.use_cudnn}),
        {x.shape(0), x.shape(1) << (2 * i), 1, 1}));
  return autograd::concat(parts, 1);
}

}  // namespace nn
