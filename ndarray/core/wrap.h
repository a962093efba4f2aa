// wrap: arrays over memory of the caller, such as vectors, spans and buffers of other libraries.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

struct WrapOptions {
  std::optional<Strides> strides = {};  // in bytes, one per axis; default: C order
  std::optional<Device> device = {};    // where the memory is; default: the host, cpu:0
};

namespace internal {
CATENA_EXPORT Array wrap(void* data, const Shape& shape, Dtype dtype, const WrapOptions& options,
                         void (*destroy)(void* context, void* data), void* context);
}

// Returns an array over memory of the caller, without a copy; the memory must stay valid as long as any view of the
// array exists. ValueError for a negative length or if the number of strides is not the rank.
template <class E> Array wrap(E* data, const Shape& shape, const WrapOptions& options = {}) {
  static_assert(!std::is_const_v<E>, "elements of an array can be written: write nd::array(data, shape) for a copy");
  return internal::wrap(data, shape, catena::dtype_of<E>, options, nullptr, nullptr);
}
// As above. deleter(data) is called exactly once, when the last view is destroyed, on the thread that destroys it. It
// is also called if wrap throws.
template <class E, std::invocable<E*> Deleter>
Array wrap(E* data, const Shape& shape, Deleter deleter, const WrapOptions& options = {}) {
  return internal::wrap(
      data, shape, catena::dtype_of<E>, options,
      [](void* context, void* memory) {
        auto* d = static_cast<Deleter*>(context);
        (*d)(static_cast<E*>(memory));
        delete d;
      },
      new Deleter(std::move(deleter)));
}

namespace internal {
template <class C> inline constexpr bool is_element_list = false;
template <class E, class A>
inline constexpr bool is_element_list<std::vector<E, A>> = Element<E> && !std::is_same_v<E, bool>;
template <class E, std::size_t N> inline constexpr bool is_element_list<std::array<E, N>> = Element<E>;
template <class E, std::size_t N> inline constexpr bool is_element_list<std::span<E, N>> = Element<E>;
template <class C>
concept ElementList = is_element_list<std::remove_reference_t<C>> &&
    (std::is_lvalue_reference_v<C> || std::is_trivially_destructible_v<C>);
CATENA_EXPORT void check_wrapped(const Shape& shape, std::size_t elements);
}  // namespace internal
// wrap(vector), wrap(vector, {2, 3}): an array over the elements of a vector or std::array, which must outlive it and
// must not be resized, or over those of a span. ValueError if the shape has more elements.
template <internal::ElementList C> Array wrap(C&& list, const Shape& shape, const WrapOptions& options = {}) {
  internal::check_wrapped(shape, list.size());
  return wrap(list.data(), shape, options);
}
template <internal::ElementList C> Array wrap(C&& list) { return wrap(list, Shape{list.size()}); }

}  // namespace nd
