#include <catena/nn/links/linear.h>

#include <cmath>

#include <catena/kernels/base/error_context.h>
#include <catena/nn/links/filters.h>

namespace nn {

Linear::Linear(std::optional<int> in_size, int out, const Options& o) try
    : W(scaled_initializer(o.initialW, std::sqrt(o.wscale)), {out, -1}), out_size(out) {
  if (!o.nobias) b.emplace(internal::bias_initializer(o), Shape{out});
  if (in_size) W.initialize({out, *in_size});
  name_params();
} catch (...) {
  catena::rethrow_standard("Linear");
}

static std::int64_t columns(const Variable& x) {
  std::int64_t n = 1;  // not size / length, because the batch may be empty
  for (int i = 1; i < x.ndim(); ++i) n *= x.shape(i);
  return n;
}

Variable Linear::operator()(const Variable& x) {
  try {
    if (!W.is_initialized()) {
      if (x.ndim() < 1) throw catena::InvalidType("x.ndim >= 1", "0 < 1");
      W.initialize({out_size, columns(x)});
    }
    return linear(x, W, b ? static_cast<const Variable&>(*b) : Variable());
  } catch (...) {
    std::string detail;
    if (x && W.is_initialized()) {
      if (x.ndim() > 0 && columns(x) != W.shape(1))
        detail = catena::concat("x has ", columns(x), " columns, W ", W.shape(1));
      else detail = internal::dtype_detail(x, W);
    }
    internal::rethrow_at(*this, "Linear", detail);
  }
}

}  // namespace nn
