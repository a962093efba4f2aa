#include <catena/ndarray/cpu/group_norm.h>

#include <algorithm>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/cast.h>
#include <catena/ndarray/cpu/group_norm_loops.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

// An array of groups of `n` elements, of which one is read or written at a time in the dtype of the computation: in
// place, or through `memory`.
template <class T> class Groups {
 public:
  Groups(const ArrayHeader& a, std::int64_t n)
      : data_(a.data), dtype_(a.dtype), item_(std::int64_t(catena::itemsize(a.dtype))), n_(n) {}
  bool is_direct() const { return dtype_ == catena::dtype_of<T>; }
  const T* read(std::int64_t group, std::byte* memory) const {
    std::byte* const from = data_ + group * n_ * item_;
    if (is_direct()) return reinterpret_cast<const T*>(from);
    catena::cast_function(dtype_, catena::dtype_of<T>)(from, item_, memory, sizeof(T), n_);
    return reinterpret_cast<const T*>(memory);
  }
  // Calls write(y) for the memory of a group.
  template <class F> void write(std::int64_t group, std::byte* memory, F&& write) const {
    std::byte* const to = data_ + group * n_ * item_;
    write(reinterpret_cast<T*>(is_direct() ? to : memory));
    if (!is_direct()) catena::cast_function(catena::dtype_of<T>, dtype_)(memory, sizeof(T), to, item_, n_);
  }

 private:
  std::byte* data_;
  catena::Dtype dtype_;
  std::int64_t item_, n_;
};

template <class T> T* elements(const ArrayHeader& a) { return reinterpret_cast<T*>(a.data); }

template <class T> class Call {
 public:
  Call(const ArrayHeader& x, const ArrayHeader& gamma)
      : channels_(x.shape[2]),
        positions_(x.shape[3]),
        n_(channels_ * positions_),
        per_example_(x.shape[1]),
        groups_(x.shape[0] * x.shape[1]),
        x_(x, n_),
        gamma_(elements<T>(gamma)) {}

  void forward(const T* beta, T eps, const ArrayHeader& y, T* center, T* scale) const {
    const Groups<T> out(y, n_);
    for_each_group(2, [&](std::int64_t i, std::byte* const* memory) {
      const ChannelGroup<T> g = group(i, memory[0]);
      const GroupStatistics<T> s = group_statistics(g, eps);
      center[i] = s.center;
      scale[i] = s.scale;
      out.write(i, memory[1], [&](T* to) { write_group(g, beta + first_channel(i), s, to); });
    });
  }

  void backward(const ArrayHeader& gy, const T* center, const T* scale, const ArrayHeader& gx, T* ggamma,
                T* gbeta) const {
    // The sums of every example.
    const std::int64_t sums = groups_ * channels_;
    const Workspace of_examples(std::size_t(2 * sums) * sizeof(T));
    T *const gammas = reinterpret_cast<T*>(of_examples.data()), *const betas = gammas + sums;
    const Groups<T> of_y(gy, n_), out(gx, n_);
    for_each_group(3, [&](std::int64_t i, std::byte* const* memory) {
      const ChannelGroup<T> g = group(i, memory[0]);
      const T* const gradient = of_y.read(i, memory[1]);
      const GroupStatistics<T> s{g.x[0], center[i], scale[i]};
      T *const to_gamma = gammas + i * channels_, *const to_beta = betas + i * channels_;
      group_sums(g, gradient, s, to_gamma, to_beta);
      out.write(i, memory[2], [&](T* to) { write_group_gradient(g, gradient, s, to_gamma, to_beta, to); });
    });
    add_examples(gammas, ggamma);
    add_examples(betas, gbeta);
  }

 private:
  std::int64_t first_channel(std::int64_t group) const { return group % per_example_ * channels_; }
  ChannelGroup<T> group(std::int64_t i, std::byte* memory) const {
    return {x_.read(i, memory), gamma_ + first_channel(i), channels_, positions_};
  }

  // Calls f(group, memory) with memory for `operands` converted groups.
  template <class F> void for_each_group(int operands, F&& f) const {
    const std::size_t bytes = x_.is_direct() ? 0 : round_up_64(std::size_t(n_) * sizeof(T));
    catena::parallel_for(groups_, std::max<std::int64_t>(1, kHeavyGrain / n_), [&](std::int64_t b, std::int64_t e) {
      const Workspace memory(std::size_t(operands) * bytes);
      std::byte* at[3] = {};
      for (int k = 0; k < operands && bytes > 0; ++k) at[k] = memory.data() + std::size_t(k) * bytes;
      for (std::int64_t i = b; i < e; ++i) f(i, at);
    });
  }

  // Adds the sums of all examples, for a strip of channels at a time.
  void add_examples(const T* sums, T* to) const {
    constexpr std::int64_t kStrip = 64;
    const std::int64_t width = per_example_ * channels_, examples = groups_ / per_example_;
    for (std::int64_t first = 0; first < width; first += kStrip) {
      const std::int64_t m = std::min(kStrip, width - first);
      double total[kStrip] = {};
      for (std::int64_t i = 0; i < examples; ++i)
        for (std::int64_t c = 0; c < m; ++c) total[c] += double(sums[i * width + first + c]);
      for (std::int64_t c = 0; c < m; ++c) to[first + c] = T(total[c]);
    }
  }

  std::int64_t channels_, positions_, n_, per_example_, groups_;
  Groups<T> x_;
  const T* gamma_;
};

template <class F> void with_type(const ArrayHeader& x, F&& f) {
  if (x.dtype == catena::Dtype::float64) f(double());
  else f(float());
}

}  // namespace

bool takes_group_norm(const ArrayHeader& x) { return x.size > 0 && x.shape[3] >= kFewestPositions; }

void group_norm(const ArrayHeader& x, const ArrayHeader& gamma, const ArrayHeader& beta, double eps,
                const ArrayHeader& y, const ArrayHeader& center, const ArrayHeader& scale) {
  with_type(x, [&](auto type) {
    using T = decltype(type);
    Call<T>(x, gamma).forward(elements<T>(beta), T(eps), y, elements<T>(center), elements<T>(scale));
  });
}

void group_norm_backward(const ArrayHeader& x, const ArrayHeader& gy, const ArrayHeader& gamma,
                         const ArrayHeader& center, const ArrayHeader& scale, const ArrayHeader& gx,
                         const ArrayHeader& ggamma, const ArrayHeader& gbeta) {
  with_type(x, [&](auto type) {
    using T = decltype(type);
    Call<T>(x, gamma).backward(gy, elements<T>(center), elements<T>(scale), gx, elements<T>(ggamma),
                               elements<T>(gbeta));
  });
}

}  // namespace nd::cpu
