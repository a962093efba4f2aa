#include <catena/ndarray/routines/apply.h>

#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>

namespace nd {

using catena::check;

Array internal::apply_along_axis(const ArrayFunction& f, int axis, const Array& a) {
  constexpr const char* op = "apply_along_axis";
  check<TypeError>(!a.is_null(), op, "the array is null");
  const int at = catena::normalize_axis(op, axis, a.ndim());
  Shape shape;
  for (int k = 0; k < a.ndim(); ++k)
    if (k != at) shape.push_back(a.shape(k));
  const std::int64_t n = catena::size_of(shape);
  check<ValueError>(n > 0, op, "an array of shape ", a.shape(), " has no rows along axis ", axis);
  const Array rows = moveaxis(a, at, -1).reshape(Shape{n, a.shape(at)});
  std::vector<Array> results;
  for (std::int64_t k = 0; k < n; ++k) {
    results.push_back(f(rows(k)));
    check<ValueError>(results.back().shape() == results[0].shape(), op, "results have the shapes ", results[0].shape(),
                      " and ", results.back().shape());
  }
  catena::Dims last, places;
  for (int k = 0; k < results[0].ndim(); ++k) {
    shape.push_back(results[0].shape(k));
    last.push_back(k - results[0].ndim());
    places.push_back(at + k);
  }
  return moveaxis(stack(results).reshape(shape), last, places);
}

Array internal::with_axis(const Array& result, const Array& before, int axis) {
  if (result.ndim() == before.ndim()) return result;
  check<ValueError>(result.ndim() + 1 == before.ndim(), "apply_over_axes", "the function made an array of rank ",
                    result.ndim(), " of one of rank ", before.ndim());
  return expand_dims(result, axis);
}

}  // namespace nd
