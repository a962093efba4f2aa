// Arrays of the reference backend, and their elements in C order. Internal to the reference backend.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <catena/autograd/array.h>
#include <catena/autograd/array_backend.h>

namespace test::reference {

using autograd::Array;
using autograd::Device;
using autograd::Dims;
using autograd::Dtype;
using autograd::Input;
using autograd::Shape;
using autograd::Strides;
using catena::check;
using catena::ValueError;

inline constexpr const char* kName = "reference";
extern catena::ArrayOwner owner;
extern std::atomic<std::int64_t> live_bytes;  // of all arrays

// Memory aligned to 64 bytes, as reduction and row-wise kernels require for their cells. OutOfMemoryError.
struct Free {
  void operator()(std::byte* p) const noexcept { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, Free>;
Memory allocate(std::size_t bytes);

Array new_array(const Shape& shape, Dtype dtype, Device device);
void written(const Array& a);

// Calls f() for every position of `shape` in C order; `index` is the position.
template <class F> void for_each_position(const Shape& shape, Dims& index, F&& f) {
  index = Dims::filled(shape.size(), 0);
  const std::int64_t n = catena::size_of(shape);
  for (std::int64_t i = 0; i < n; ++i) {
    f();
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// Returns the byte offset of the element of (shape, strides) for a position of a larger, broadcast shape.
std::int64_t offset_at(const Shape& shape, const Strides& strides, const Dims& index);
// Returns the shape to which both broadcast; ValueError if there is none.
Shape common_shape(std::string_view op, const Shape& a, const Shape& b);

// All elements of an operand, broadcast to `loop`, in C order and converted to `type`.
class Column {
 public:
  Column(Dtype type, std::int64_t n) : type_(type), n_(n), memory_(allocate(std::size_t(n) * catena::itemsize(type))) {}
  Column(const Input& in, const Shape& loop, Dtype type);
  Column(const catena::ArrayHeader& a, const Shape& loop, Dtype type) : Column(type, catena::size_of(loop)) {
    read(a, loop);
  }

  std::byte* data() const { return memory_.get(); }
  std::byte* at(std::int64_t i) const { return data() + i * size(); }
  std::int64_t size() const { return static_cast<std::int64_t>(catena::itemsize(type_)); }
  Dtype type() const { return type_; }
  std::int64_t count() const { return n_; }

  Column converted(Dtype to) const;
  void write_to(const catena::ArrayHeader& a) const;

 private:
  void read(const catena::ArrayHeader& a, const Shape& loop);

  Dtype type_;
  std::int64_t n_;
  Memory memory_;
};

}  // namespace test::reference
