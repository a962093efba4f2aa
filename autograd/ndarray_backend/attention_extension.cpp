#include <catena/autograd/ndarray_backend/attention_extension.h>

#include <initializer_list>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/ndarray/cpu/attention.h>
#include <catena/ndarray/cuda/plans/attention.h>
#include <catena/ndarray/engine/execute.h>

namespace autograd::internal {
namespace {

catena::bound::Attention attention_of(const AttentionCall& c) {
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

class CudaAttention final : public AttentionExtension {
 public:
  bool takes(const AttentionCall& call) const override { return nd::cuda::takes_attention(attention_of(call)); }

  void forward(const AttentionCall& call, const Array& y, const Array& log_sums) override {
    const AttentionCall c = readable(call);
    const Writable to(y);
    const nd::StreamRef stream = nd::internal::stream_for(y.device());
    run({c.q, c.k, c.v, c.mask, to.rows, log_sums}, stream,
        [&] { nd::cuda::attention(attention_of(c), *to.rows.get(), *log_sums.get(), stream); });
    to.finish();
  }
  void backward(const AttentionCall& call, const Array& y, const Array& log_sums, const Array& gy, const Array& gq,
                const Array& gk, const Array& gv) override {
    const AttentionCall c = readable(call);
    const Array of_y = readable(y), of_gy = readable(gy),
                row_numbers = log_sums.backend().empty({2 * log_sums.size()}, log_sums.dtype(), log_sums.device());
    const Writable to_q(gq), to_k(gk), to_v(gv);
    const nd::StreamRef stream = nd::internal::stream_for(y.device());
    run({c.q, c.k, c.v, c.mask, of_y, of_gy, log_sums, row_numbers, to_q.rows, to_k.rows, to_v.rows}, stream, [&] {
      nd::cuda::attention_backward(attention_of(c), *of_y.get(), *log_sums.get(), *row_numbers.get(), *of_gy.get(),
                                   *to_q.rows.get(), *to_k.rows.get(), *to_v.rows.get(), stream);
    });
    for (const Writable* to : {&to_q, &to_k, &to_v}) to->finish();
  }

 private:
  // The array itself where the kernels read it in place, else a copy.
  static Array readable(const Array& a) { return nd::cuda::has_attention_rows(*a.get()) ? a : copy(a); }
  static AttentionCall readable(const AttentionCall& call) {
    AttentionCall c = call;
    c.q = readable(call.q);
    c.k = readable(call.k);
    c.v = readable(call.v);
    return c;
  }
  // An array that the kernels write: `to` itself, or one whose content finish() copies to it.
  struct Writable {
    explicit Writable(const Array& array)
        : to(array), rows(nd::cuda::has_attention_rows(*to.get()) ? to : empty_like(to)) {}
    void finish() const {
      if (rows.get() != to.get()) assign(to, rows);
    }
    Array to, rows;
  };
  template <class F> static void run(std::initializer_list<Array> arrays, nd::StreamRef stream, F enqueue) {
    std::vector<const catena::ArrayHeader*> used;
    for (const Array& a : arrays) used.push_back(a.get());
    nd::internal::launch_on(stream, used, {}, enqueue);
  }
};

}  // namespace

AttentionExtension& cpu_attention_extension() {
  static AttentionExtension& extension = *new CpuAttention;
  return extension;
}

AttentionExtension& cuda_attention_extension() {
  static AttentionExtension& extension = *new CudaAttention;
  return extension;
}

}  // namespace autograd::internal
