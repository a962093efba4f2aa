#include <catena/ndarray/routines/reduced_axes.h>

#include <algorithm>

#include <catena/ndarray/routines/manipulation.h>

namespace nd::internal {

Array reduced_axes_last(const Array& a, const catena::Dims& axes) {
  const int rank = a.ndim(), reduced = axes.size();
  if (reduced == rank) return a.ravel();
  catena::Dims order;
  Shape rows;
  for (int k = 0; k < rank; ++k)
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) {
      order.push_back(k);
      rows.push_back(a.shape()[k]);
    }
  for (const std::int64_t k : axes) order.push_back(k);
  const Array last = a.transpose(order);
  if (reduced == 1) return last;
  std::int64_t length = 1;
  for (const std::int64_t k : axes) length *= a.shape()[static_cast<int>(k)];
  rows.push_back(length);
  return last.reshape(rows);
}

}  // namespace nd::internal
