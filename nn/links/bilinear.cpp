#include <catena/nn/links/bilinear.h>

#include <catena/nn/link_hook.h>

namespace nn {

// As in Chainer, an initial array is not broadcast.
static const Initializer& of_shape(const char* name, const Initializer& values, const Shape& shape) {
  catena::check<catena::AssertionError>(!values.array() || values.array().shape() == shape, "Bilinear", "the initial ",
                                        name, " has the shape ", values.array() ? values.array().shape() : Shape(),
                                        ", it must have ", shape);
  return values;
}

Bilinear::Bilinear(int left, int right, int out, const Options& o)
    : W(scaled_initializer(of_shape("W", o.initialW, {left, right, out}), 1.0), {left, right, out}) {
  const auto& given = o.initial_bias;
  catena::check<catena::ValueError>(given.empty() || given.size() == 3, "Bilinear", "initial_bias has ", given.size(),
                                    " entries; those of V1, V2 and b are needed, or none");
  if (!o.nobias) {
    const Shape first{left, out}, second{right, out}, last{out};
    V1.emplace(given.empty() ? scaled_initializer({}, 1.0) : of_shape("V1", given[0], first), first);
    V2.emplace(given.empty() ? scaled_initializer({}, 1.0) : of_shape("V2", given[1], second), second);
    b.emplace(given.empty() ? Initializer(0.0) : of_shape("b", given[2], last), last);
  }
  name_params();
}

Variable Bilinear::operator()(const Variable& e1, const Variable& e2) {
  LinkCall called(*this, e1, e2);
  try {
    if (!V1) return called(bilinear(e1, e2, W));
    return called(bilinear(e1, e2, W, *V1, *V2, *b));
  } catch (...) {
    internal::rethrow_at(*this, "Bilinear", e1 ? internal::dtype_detail(e1, W) : std::string());
  }
}

}  // namespace nn
