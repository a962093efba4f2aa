#include <catena/nn/links/crf1d.h>

#include <catena/nn/link_hook.h>

namespace nn {

CRF1d::CRF1d(int n_label) : cost(0.0, {n_label, n_label}) { name_params(); }

Variable CRF1d::operator()(const Variables& xs, const Variables& ys, const Averaged& o) {
  LinkCall called(*this, xs);
  try {
    return called(crf1d(cost, xs, ys, o));
  } catch (...) {
    internal::rethrow_at(*this, "CRF1d");
  }
}

Crf1dPath CRF1d::argmax(const Variables& xs) {
  try {
    return argmax_crf1d(cost, xs);
  } catch (...) {
    internal::rethrow_at(*this, "CRF1d");
  }
}

}  // namespace nn
