// Arrays of objects of a class, for kernels given as text: particles, cells, edges.
//
//   ND_STRUCT(Particle, { float x, y, vx, vy; })     // the class, and its text for kernels
//   nd::Array p = nd::struct_array<Particle>(1000);  // zeros: uint8 of shape (1000, sizeof(Particle))
//   nd::ElementwiseKernel move("float32 dt", "raw Particle p", "p[i].x += p[i].vx * dt; p[i].y += p[i].vy * dt",
//                              "move", {.preamble = Particle_text});
//   move({0.1, p}, {.size = p.shape(0)});
//   std::vector<Particle> on_host = nd::to_structs<Particle>(p);
//   nd::Array x = nd::struct_field(p, &Particle::x);  // float32 of shape (1000,), a view
//
// The bytes of an object lie along the last axis of the array; the axes before it are the axes of the raw parameter. A
// kernel that has another size for the class refuses the array (ValueError). Members have types of the same size on
// both devices: numbers, arrays of them, and other such classes; no pointers of the host. Objects are trivially
// copyable.
//
// Thread safety: may be called from any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <catena/ndarray/core/array.h>

// Defines a class and, as <name>_text, its definition as text for a preamble: ND_STRUCT(Pair, { int a; float b; }). The
// members must not contain macros whose values differ in kernels.
#define ND_STRUCT(name, ...) \
  struct name __VA_ARGS__;   \
  [[maybe_unused]] constexpr char name##_text[] = "struct " #name " " #__VA_ARGS__ ";\n";

namespace nd {

// A class whose objects are copied as bytes.
template <class S>
concept KernelStruct = std::is_trivially_copyable_v<S> && std::is_class_v<S>;

namespace internal {
// Zeros of `n` objects on the current device. ValueError for a negative number.
CATENA_EXPORT Array struct_array(std::int64_t n, std::size_t bytes);
CATENA_EXPORT Array struct_array(const void* objects, std::int64_t n, std::size_t bytes);
// TypeError unless the array is of bytes, ValueError unless its last axis has `bytes` of them.
CATENA_EXPORT void check_struct_array(const char* op, const Array& a, std::size_t bytes);
CATENA_EXPORT void copy_structs(const Array& a, void* objects);
CATENA_EXPORT Array struct_field(const Array& a, std::size_t offset, Dtype dtype, std::int64_t count);
}  // namespace internal

// Returns `n` objects whose bytes are all zero, or copies of the given ones, on the current device: uint8 of shape
// (n, sizeof(S)).
template <KernelStruct S> Array struct_array(std::int64_t n) { return internal::struct_array(n, sizeof(S)); }
template <KernelStruct S> Array struct_array(std::span<const S> objects) {
  return internal::struct_array(objects.data(), static_cast<std::int64_t>(objects.size()), sizeof(S));
}
template <KernelStruct S> Array struct_array(const std::vector<S>& objects) {
  return struct_array(std::span<const S>(objects));
}

// Returns the objects of an array in C order; waits for the device. TypeError for a dtype other than uint8, ValueError
// for a last axis of another length than sizeof(S).
template <KernelStruct S> std::vector<S> to_structs(const Array& a) {
  internal::check_struct_array("to_structs", a, sizeof(S));
  std::vector<S> objects(static_cast<std::size_t>(a.size()) / sizeof(S));
  internal::copy_structs(a, objects.data());
  return objects;
}

// Returns a view of one member of all objects, which has its dtype, the shape of the array without its last axis, and,
// for a member that is an array, a last axis of its length. Errors as above, and ValueError for strides of the array
// that are no multiples of the member's size.
template <KernelStruct S, class M> Array struct_field(const Array& a, M S::*member) {
  using E = std::remove_all_extents_t<M>;
  static_assert(std::rank_v<M> <= 1, "a member with several axes is no field; take its bytes");
  internal::check_struct_array("struct_field", a, sizeof(S));
  const S probe{};
  const auto offset =
      static_cast<std::size_t>(reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe));
  return internal::struct_field(a, offset, catena::dtype_of<E>,
                                std::rank_v<M> == 0 ? -1 : std::int64_t(std::extent_v<M>));
}

}  // namespace nd
