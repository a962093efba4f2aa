// The result of a call of an ElementwiseKernel or a ReductionKernel.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

struct KernelText;

// The array, for a kernel with one output (null for one without); the pair of arrays for two:
//   nd::Array z = one(x, y);   auto [u, v] = two(x, y);
// TypeError with the kernel's name if a result of two outputs is used as one array, or the reverse.
class CATENA_EXPORT KernelResult : public Array {
 public:
  KernelResult(const KernelText& text, std::vector<Array> outputs);

  using Array::operator=;
  using Array::get;
  template <std::size_t I> Array get() const { return of_pair(I); }
  Array single_output() const;

 private:
  Array of_pair(std::size_t k) const;

  const KernelText* text_;
  std::array<Array, 2> pair_;
};

namespace internal {
// TypeError unless the kernel has `n` outputs.
CATENA_EXPORT void check_output_count(const KernelText& text, std::size_t n);
template <std::size_t N> std::array<Array, N> unpacked(std::vector<Array> outputs) {
  std::array<Array, N> result;
  for (std::size_t k = 0; k < result.size(); ++k) result[k] = std::move(outputs[k]);
  return result;
}
}  // namespace internal

}  // namespace nd

template <> struct std::tuple_size<nd::KernelResult> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, nd::KernelResult> { using type = nd::Array; };
