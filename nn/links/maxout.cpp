#include <catena/nn/functions/activation.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/maxout.h>

namespace nn {
namespace {

// An initial array may have separate axes for the units and the pool.
Initializer merged(const Initializer& given, const Shape& shape) {
  const Array& a = given.array();
  if (!a || a.ndim() != shape.size() + 1) return given;
  catena::check<catena::ValueError>(a.size() == catena::size_of(shape), "Maxout", "an initial array of shape ",
                                    a.shape(), " does not fill ", shape);
  return autograd::reshape(a, shape);
}

LinearOptions linear_options(std::optional<int> in_size, int out_size, int pool_size, const MaxoutOptions& o) {
  catena::check<catena::ValueError>(pool_size > 0, "Maxout", "pool_size is ", pool_size, " and must be positive");
  const Array& W = o.initialW.array();
  const std::int64_t out = std::int64_t(out_size) * pool_size;
  const std::int64_t in = in_size ? *in_size : W && W.ndim() > 0 ? W.shape(W.ndim() - 1) : 0;
  return {.wscale = o.wscale,
          .nobias = !o.initial_bias,
          .initialW = merged(o.initialW, {out, in}),
          .initial_bias = o.initial_bias ? merged(o.initial_bias, {out}) : Initializer(0.0),
          .n_batch_axes = 1};
}

}  // namespace

Maxout::Maxout(std::optional<int> in_size, int out_size, int pool, const Options& o)
    : linear(in_size, out_size * pool, linear_options(in_size, out_size, pool, o)), pool_size(pool) {}

Variable Maxout::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  return called(maxout(linear(x), pool_size));
}

}  // namespace nn
