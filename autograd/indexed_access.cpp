#include <catena/autograd/indexed_access.h>

namespace autograd::internal {
namespace {

struct Walk {
  explicit Walk(const IndexedAccess& a) : base_strides(Strides::filled(a.loop.size(), 0)) {
    for (int i = 0; i < a.loop.size(); ++i)
      if (a.base_axis[i] >= 0) base_strides[i] = a.base.strides()[int(a.base_axis[i])];
    for (std::size_t j = 0; j < a.indices.size(); ++j) {
      const int axis = int(a.axes[int(j)]);
      const Dims& named = a.axes_as_given != nullptr ? *a.axes_as_given : a.axes;
      indices.push_back({a.indices[j].get(), a.base.shape(axis), a.base.strides()[axis], int(named[int(j)]), a.wraps});
    }
  }
  Strides base_strides;
  catena::SmallVector<catena::call::Index, 4> indices;
};

}  // namespace

void gather(const IndexedAccess& from, const Array& out) {
  const Walk walk(from);
  from.base.backend().gather({from.base.get(), walk.base_strides, walk.indices, &from.loop, out.get(), from.name});
}

void scatter(catena::ScatterMode mode, const IndexedAccess& to, const Input& values) {
  const Walk walk(to);
  to.base.backend().scatter({mode, to.base.get(), walk.base_strides, walk.indices, &to.loop, values, to.name});
}

}  // namespace autograd::internal
