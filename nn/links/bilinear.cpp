#include <catena/nn/links/bilinear.h>

namespace nn {

Bilinear::Bilinear(int left, int right, int out, const Options& o)
    : W(scaled_initializer(o.initialW, 1.0), {left, right, out}) {
  const auto& given = o.initial_bias;
  catena::check<catena::ValueError>(given.empty() || given.size() == 3, "Bilinear", "initial_bias has ", given.size(),
                                    " entries; those of V1, V2 and b are needed, or none");
  if (!o.nobias) {
    V1.emplace(given.empty() ? scaled_initializer({}, 1.0) : given[0], Shape{left, out});
    V2.emplace(given.empty() ? scaled_initializer({}, 1.0) : given[1], Shape{right, out});
    b.emplace(given.empty() ? Initializer(0.0) : given[2], Shape{out});
  }
  name_params();
}

Variable Bilinear::operator()(const Variable& e1, const Variable& e2) {
  try {
    if (!V1) return bilinear(e1, e2, W);
    return bilinear(e1, e2, W, *V1, *V2, *b);
  } catch (...) {
    internal::rethrow_at(*this, "Bilinear", e1 ? internal::dtype_detail(e1, W) : std::string());
  }
}

}  // namespace nn
