#include <catena/autograd/functions/linalg/structure.h>

#include <catena/autograd/input_types.h>

namespace autograd::internal {

Variable half_lower(const Variable& a) { return (tril(a) + tril(a, -1)) * 0.5; }
Variable symmetric(const Variable& a) { return (a + turned(a)) * 0.5; }

Variable differences(const Variable& values) { return expand_dims(values, -2) - expand_dims(values, -1); }

Variable identity_like(const Variable& a) {
  return diag_embed(Variable(arrays::full({a.shape(-1)}, 1, a.dtype(), a.device())));
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
