#include <catena/autograd/functions/linalg/structure.h>

#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>

namespace autograd::internal {

namespace kernels = catena::kernels;

namespace {

Array mask_of(const Variable& a, Part part) {
  const Array rows = expand_dims(arange(a.shape(a.ndim() - 2), Dtype::int32, a.device()), 1),
              columns = arange(a.shape(a.ndim() - 1), Dtype::int32, a.device());
  switch (part) {
    case Part::lower: return apply(kernels::greater_equal, {rows, columns});
    case Part::strictly_lower: return apply(kernels::greater, {rows, columns});
    case Part::upper: return apply(kernels::less_equal, {rows, columns});
    case Part::strictly_upper: return apply(kernels::less, {rows, columns});
    default: return apply(kernels::equal, {rows, columns});
  }
}

}  // namespace

Variable part(const Variable& a, Part part) { return masked(a, mask_of(a, part)); }
Variable half_lower(const Variable& a) { return (part(a, Part::lower) + part(a, Part::strictly_lower)) * 0.5; }
Variable symmetric(const Variable& a) { return (a + turned(a)) * 0.5; }

Variable diagonal_of(const Variable& a) { return sum(part(a, Part::diagonal), -1); }
Variable diagonal_matrix(const Variable& d) {
  Shape shape = d.shape();
  shape.push_back(d.shape(-1));
  return part(broadcast_to(expand_dims(d, -1), shape), Part::diagonal);
}

Variable differences(const Variable& values) { return expand_dims(values, -2) - expand_dims(values, -1); }

Variable identity_like(const Variable& a, std::int64_t n) {
  return part(Variable(full({n, n}, 1, a.dtype(), a.device())), Part::diagonal);
}

void expect_matrices(std::string_view label, const Variable& a, bool square) {
  check_input_types(
      label, {a},
      [&](const type_check::TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 2);
        if (square) expect(in_types[0].shape[-2] == in_types[0].shape[-1]);
      },
      "a");
}

void expect_leading_axes(const type_check::TypeInfoTuple& in_types) {
  Shape leading[2];
  for (int i = 0; i < 2; ++i) {
    leading[i] = in_types.shape(std::size_t(i));
    for (int axis = 0; axis < 2 && !leading[i].empty(); ++axis) leading[i].pop_back();
  }
  try {
    catena::broadcast_shapes("stacks", leading[0], leading[1]);
  } catch (const catena::ValueError&) {
    throw catena::InvalidType("in_types[0].shape[:-2] and in_types[1].shape[:-2] broadcast together",
                              catena::concat(leading[0], " and ", leading[1]));
  }
}

}  // namespace autograd::internal
