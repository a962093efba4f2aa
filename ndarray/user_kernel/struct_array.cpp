#include <catena/ndarray/user_kernel/struct_array.h>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/routines/creation.h>

namespace nd::internal {

using catena::check;

Array struct_array(std::int64_t n, std::size_t bytes) {
  check<ValueError>(n >= 0, "struct_array", "the number of objects ", n, " is negative");
  return zeros({n, bytes}, {.dtype = Dtype::uint8});
}

Array struct_array(const void* objects, std::int64_t n, std::size_t bytes) {
  const Array a = empty({n, bytes}, {.dtype = Dtype::uint8});
  if (n > 0) from_host(a, objects);
  return a;
}

void check_struct_array(const char* op, const Array& a, std::size_t bytes) {
  check<TypeError>(!a.is_null() && a.dtype() == Dtype::uint8, op, "an array of objects has dtype uint8, this one is ",
                   a.is_null() ? "null" : name_of(a.dtype()));
  check<ValueError>(a.ndim() > 0 && a.shape(-1) == static_cast<std::int64_t>(bytes), op, "an object has ", bytes,
                    " bytes, which the last axis of an array of shape ", a.shape(), " has not");
}

void copy_structs(const Array& a, void* objects) {
  if (a.size() > 0) to_host(a, objects);
}

Array struct_field(const Array& a, std::size_t offset, Dtype dtype, std::int64_t count) {
  Shape shape = a.shape();
  Strides strides = a.strides();
  const auto item = static_cast<std::int64_t>(catena::itemsize(dtype));
  check<ValueError>(strides.back() == 1 || shape.back() <= 1, "struct_field", "the bytes of an object are ",
                    strides.back(), " apart; take a copy() of the array first");
  shape.pop_back();
  strides.pop_back();
  for (const std::int64_t stride : strides)
    check<ValueError>(stride % item == 0, "struct_field", "objects that are ", stride,
                      " bytes apart have no view of a member of ", dtype, ", whose elements have ", item, " bytes");
  if (count >= 0) {
    shape.push_back(count);
    strides.push_back(item);
  }
  return make_view(a, shape, strides, static_cast<std::int64_t>(offset), dtype);
}

}  // namespace nd::internal
