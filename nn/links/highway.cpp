#include <catena/nn/links/highway.h>

#include <catena/autograd/operators.h>
#include <catena/nn/link_hook.h>

namespace nn {

static LinearOptions options_of(const Initializer& W, const Initializer& b, bool nobias) {
  return {.nobias = nobias, .initialW = W, .initial_bias = b};
}

Highway::Highway(int n, const Options& o)
    : activate(o.activate),
      plain(n, n, options_of(o.init_Wh, o.init_bh, o.nobias)),
      transform(n, n, options_of(o.init_Wt, o.init_bt, o.nobias)) {
  catena::check<catena::TypeError>(bool(activate), "Highway", "the activation function is null");
}

Variable Highway::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  const Variable gate = sigmoid(transform(x));
  return called(activate(plain(x)) * gate + x * (1 - gate));
}

}  // namespace nn
