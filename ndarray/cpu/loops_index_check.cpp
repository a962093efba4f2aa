// The check of indices and labels. A first pass determines, without a branch per element, whether any of them breaks
// the rule; only if one does, a second pass searches for the first one.
#include <algorithm>
#include <atomic>
#include <limits>
#include <span>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/scalar.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/walk.h>

namespace nd::cpu {
namespace {

using catena::IndexRule;

constexpr std::int64_t kGrain = 64 * 1024;

// The rule in the range of T: first <= v <= last, or v == ignored. Comparing in T lets a register hold as many elements
// as possible.
template <class T> struct Narrow {
  T first, last, ignored;
  bool ignores;

  explicit Narrow(const IndexRule& r)
      : first(T(std::max<std::int64_t>(r.low, least()))),
        last(T(std::min<std::int64_t>(r.high - 1, most()))),
        ignored(T(r.ignored)),
        ignores(r.ignores != 0 && r.ignored >= least() && r.ignored <= most()) {}

  static constexpr std::int64_t least() { return std::int64_t(std::numeric_limits<T>::min()); }
  static constexpr std::int64_t most() {
    return sizeof(T) == 8 ? std::numeric_limits<std::int64_t>::max() : std::int64_t(std::numeric_limits<T>::max());
  }
};

template <class T> struct Check {
  using Flags = std::make_unsigned_t<T>;

  CATENA_MULTIARCH static bool any(const T* v, std::int64_t n, Narrow<T> rule) {
    Flags bad = 0;
    for (std::int64_t i = 0; i < n; ++i) bad |= Flags((v[i] < rule.first) | (v[i] > rule.last));
    return bad != 0;
  }
  CATENA_MULTIARCH static bool any_but_ignored(const T* v, std::int64_t n, Narrow<T> rule) {
    Flags bad = 0;
    for (std::int64_t i = 0; i < n; ++i)
      bad |= Flags(((v[i] < rule.first) | (v[i] > rule.last)) & (v[i] != rule.ignored));
    return bad != 0;
  }
  static bool any_of_run(const std::byte* p, std::int64_t stride, std::int64_t n, const IndexRule& rule) {
    // No number is valid for an axis of length 0, whose range an unsigned type cannot represent.
    if (rule.high > 0 && stride == std::int64_t(sizeof(T))) {
      const Narrow<T> narrow(rule);
      const T* v = reinterpret_cast<const T*>(p);
      return narrow.ignores ? any_but_ignored(v, n, narrow) : any(v, n, narrow);
    }
    for (std::int64_t i = 0; i < n; ++i)
      if (catena::breaks(*reinterpret_cast<const T*>(p + i * stride), rule)) return true;
    return false;
  }

  static void run(const catena::bound::CheckIndices& call) {
    const catena::Shape& shape = *call.indices.shape;
    std::atomic<bool> found{false};
    if (shape.size() == 1) {
      const std::int64_t stride = (*call.indices.strides)[0];
      catena::parallel_for(shape[0], kGrain, [&](std::int64_t b, std::int64_t e) {
        if (any_of_run(call.indices.data + b * stride, stride, e - b, call.rule)) found = true;
      });
    } else {
      const Walk walk({&call.indices, 1}, shape, 0);
      catena::parallel_for(walk.units(), walk.grain(kGrain), [&](std::int64_t b, std::int64_t e) {
        walk.run(b, e, [&](std::byte* const* p, const std::int64_t* stride, std::int64_t n) {
          if (any_of_run(p[0], stride[0], n, call.rule)) found = true;
        });
      });
    }
    if (found) fail_first(call, call.indices.data, 0);
  }

  // Throws for the first invalid number in C order, from axis `axis` on.
  static void fail_first(const catena::bound::CheckIndices& call, const std::byte* p, int axis) {
    if (axis == call.indices.shape->size()) {
      const T v = *reinterpret_cast<const T*>(p);
      if (catena::breaks(v, call.rule)) catena::fail_index(call.name, catena::Scalar(v), call.rule);
      return;
    }
    for (std::int64_t i = 0; i < (*call.indices.shape)[axis]; ++i)
      fail_first(call, p + i * (*call.indices.strides)[axis], axis + 1);
  }
};

}  // namespace

void run(const catena::bound::CheckIndices& call) {
  using catena::Dtype;
  switch (call.indices.dtype) {
    case Dtype::bool_:
    case Dtype::uint8: return Check<std::uint8_t>::run(call);
    case Dtype::int8: return Check<std::int8_t>::run(call);
    case Dtype::int16: return Check<std::int16_t>::run(call);
    case Dtype::uint16: return Check<std::uint16_t>::run(call);
    case Dtype::int32: return Check<std::int32_t>::run(call);
    case Dtype::uint32: return Check<std::uint32_t>::run(call);
    case Dtype::int64: return Check<std::int64_t>::run(call);
    case Dtype::uint64: return Check<std::uint64_t>::run(call);
    default:
      catena::fail<catena::IndexError>(call.name, "indices must be of an integer dtype, not ", call.indices.dtype);
  }
}

}  // namespace nd::cpu
