#include <catena/autograd/ndarray_backend/attention_extension.h>

#include <catena/ndarray/cpu/attention.h>

namespace autograd::internal {
namespace {

nd::cpu::Attention attention_of(const AttentionCall& c) {
  return {*c.q.get(), *c.k.get(), *c.v.get(), c.mask.get(), c.scale, c.causal, c.window, c.offset};
}

class CpuAttention final : public AttentionExtension {
 public:
  void forward(const AttentionCall& call, const Array& y, const Array& log_sums) override {
    nd::cpu::attention(attention_of(call), *y.get(), *log_sums.get());
  }
  void backward(const AttentionCall& call, const Array& y, const Array& log_sums, const Array& gy, const Array& gq,
                const Array& gk, const Array& gv) override {
    nd::cpu::attention_backward(attention_of(call), *y.get(), *log_sums.get(), *gy.get(), *gq.get(), *gk.get(),
                                *gv.get());
  }
};

}  // namespace

AttentionExtension& cpu_attention_extension() {
  static AttentionExtension& extension = *new CpuAttention;
  return extension;
}

}  // namespace autograd::internal
