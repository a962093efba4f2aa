#include <catena/nn/functions/batch_layout.h>

#include <algorithm>

#include <catena/autograd/input_types.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>

namespace nn::internal {

using autograd::Dtype;
using autograd::Shape;
using autograd::type_check::TypeInfoTuple;

BatchLayout batch_layout(const Shape& x, const autograd::Axes& axis, int rank) {
  BatchLayout l;
  if (axis.given()) {
    l.axes = catena::normalize_axes("batch_normalization", axis, x.size());
  } else {
    for (int a = 0; a < x.size(); ++a)
      if (a < 1 || a > rank) l.axes.push_back(a);
  }
  l.kept = x;
  l.count = 1;
  for (const std::int64_t a : l.axes) {
    l.kept[int(a)] = 1;
    l.count *= double(x[int(a)]);
  }
  for (int a = 0; a < x.size(); ++a)
    if (std::find(l.axes.begin(), l.axes.end(), a) == l.axes.end()) l.params.push_back(x[a]);
  return l;
}

void check_batch_parameters(const TypeInfoTuple& in_types, int count, const autograd::Axes& given) {
  using namespace autograd::type_check;
  expect(in_types.size() == count);
  expect(in_types[0].dtype.kind() == 'f');
  autograd::internal::expect_axes(in_types, given);
  if (!given.given()) expect(in_types[0].ndim >= in_types[1].ndim + 1);
  const BatchLayout l = batch_layout(in_types.shape(0), given, in_types.shape(1).size());
  const bool mixed = catena::itemsize(in_types.dtype(0)) == 2 && in_types.dtype(1) == Dtype::float32;
  for (int k = 1; k < count; ++k) {
    if (mixed) expect(in_types[k].dtype == in_types[1].dtype);
    else expect(in_types[k].dtype == in_types[0].dtype);
    expect(in_types[k].ndim == variable(l.params.size(), "number of axes without statistics"));
    for (int a = 0, own = 0; a < in_types.shape(0).size(); ++a)
      if (std::find(l.axes.begin(), l.axes.end(), a) == l.axes.end())
        expect(in_types[k].shape[own++] == in_types[0].shape[a]);
  }
}

void warn_of_single_elements(const Shape& x) {
  catena::warn(
      "UserWarning",
      catena::concat("batch_normalization: each mean and variance is of one element of x ", x,
                     ", so the result is beta and x has no gradient. Give larger batches (of the last batch of "
                     "an epoch, too), normalize each example (GroupNormalization, LayerNormalization), or use "
                     "the averages (test mode, fixed_batch_normalization)"));
}

}  // namespace nn::internal
