#include <catena/nn/links/linear.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/warning.h>
#include <catena/nn/functions/quantization.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>
#include <catena/nn/links/quantized_weight.h>

namespace nn {

Linear::Linear(std::optional<int> in_size, int out, const Options& o) try
    : WeightAndBias(Parameter(scaled_initializer(o.initialW, std::sqrt(o.wscale)), {out, -1})),
      out_size(out),
      n_batch_axes(o.n_batch_axes) {
  if (!o.nobias && o.bias.is_there()) b.emplace(internal::bias_initializer(o), Shape{out});
  if (in_size) W.initialize({out, *in_size});
  name_params();
  refer_handles();
  internal::place(*this, o.device, o.dtype);
} catch (...) {
  catena::rethrow_standard("Linear");
}

namespace {

// Returns the number of elements of x behind the first `kept` axes; not size / length, because the batch may be empty.
std::int64_t columns(const Variable& x, int kept) {
  std::int64_t n = 1;
  for (int i = kept; i < x.ndim(); ++i) n *= x.shape(i);
  return n;
}
int kept_axes(const Variable& x, std::optional<int> n_batch_axes) {
  const int kept = n_batch_axes.value_or(1);
  return std::max(kept < 0 ? x.ndim() + kept : kept, 1);
}

// Checks the first call without n_batch_axes, which would create W for all axes of x but the first: ValueError for
// sequences, a warning for images.
void check_flattening(const Variable& x, int out) {
  const std::int64_t last = x.shape(x.ndim() - 1), all = columns(x, 1);
  catena::check<catena::ValueError>(x.ndim() != 3, internal::kFirstCall, "x has the shape ", x.shape(),
                                    ": {.n_batch_axes = -1} applies W (", out, ", ", last,
                                    ") to its last axis, {.n_batch_axes = 1} flattens it for W (", out, ", ", all, ")");
  catena::warn("UserWarning",
               catena::concat("Linear: x of ", x.ndim(),
                              " axes is flattened to two, as in Chainer. {.n_batch_axes = 1} says that this is meant, "
                              "{.n_batch_axes = -1} applies W to the last axis"));
}

}  // namespace

Variable Linear::operator()(const Variable& x, std::optional<int> kept_of_call) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized()) {
      if (x.ndim() < 1) throw catena::InvalidType("x.ndim >= 1", "0 < 1");
      if (x.ndim() > 2 && !kept_of_call) check_flattening(x, out_size);
      W.initialize({out_size, columns(x, kept_axes(x, kept_of_call))});
    } else if (!kept_of_call && x.ndim() > 2 && columns(x, 1) != W.shape(1) && x.shape(-1) == W.shape(1)) {
      kept_of_call = -1;
    }
    const Variable offset = internal::handle_of(b);
    if (internal::is_quantized(W))
      return called(quantized_linear(x, W, internal::scale_of(*this), offset, kept_of_call));
    return called(linear(x, W, offset, kept_of_call));
  } catch (...) {
    std::string detail;
    if (x && W.is_initialized()) {
      const std::int64_t given = columns(x, kept_axes(x, kept_of_call));
      if (x.ndim() > 0 && given != W.shape(1)) detail = catena::concat("x has ", given, " columns, W ", W.shape(1));
      else detail = internal::dtype_detail(x, W);
    }
    internal::rethrow_at(*this, "Linear", detail);
  }
}

}  // namespace nn
