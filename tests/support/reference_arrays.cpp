#include <catena/tests/support/reference_arrays.h>

#include <algorithm>
#include <cstring>

#include <catena/kernels/registry/cast.h>

namespace test::reference {

catena::ArrayOwner owner{kName};
std::atomic<std::int64_t> live_bytes{0};

Memory allocate(std::size_t bytes) {
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + 63) / 64 * 64;
  auto* p = static_cast<std::byte*>(rounded >= bytes ? std::aligned_alloc(64, rounded) : nullptr);
  if (p == nullptr) catena::fail<catena::OutOfMemoryError>("reference", "no memory for ", bytes, " bytes");
  return Memory(p);
}

static void destroy_storage(catena::Storage* s) {
  live_bytes -= std::int64_t(s->bytes);
  std::free(s->data);
  delete s;
}

Array new_array(const Shape& shape, Dtype dtype, Device device) {
  check<ValueError>(device.id >= 0 && device.id < 8, "empty", "there is no device ", device);
  const std::int64_t n = catena::checked_size(shape);
  const std::size_t bytes = static_cast<std::size_t>(n) * catena::itemsize(dtype);
  catena::Storage* s = nullptr;
  if (n > 0) {
    Memory memory = allocate(bytes);
    std::memset(memory.get(), 0xa5, bytes);  // so that unwritten memory is visible in results
    s = new catena::Storage;
    s->device = device;
    s->data = memory.release();
    s->bytes = bytes;
    s->destroy = &destroy_storage;
    live_bytes += std::int64_t(bytes);
  }
  Array a(catena::make_header(s, s ? s->data : nullptr, dtype, shape, catena::c_strides(shape, catena::itemsize(dtype)),
                              device, &owner));
  catena::release(s);
  return a;
}

void written(const Array& a) {
  if (a->storage) a->storage->version.fetch_add(1, catena::MemoryOrder::relaxed);
}

// ---- index arithmetic ---------------------------------------------------------------------------
std::int64_t offset_at(const Shape& shape, const Strides& strides, const Dims& index) {
  const int shift = index.size() - shape.size();
  std::int64_t offset = 0;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1) offset += index[axis + shift] * strides[axis];
  return offset;
}

Shape common_shape(std::string_view op, const Shape& a, const Shape& b) {
  Shape result = Shape::filled(std::max(a.size(), b.size()), 1);
  for (const Shape* s : {&a, &b})
    for (int i = 0; i < s->size(); ++i) {
      std::int64_t& n = result[i + result.size() - s->size()];
      check<ValueError>(n == (*s)[i] || n == 1 || (*s)[i] == 1, op, "shapes ", a, " and ", b,
                        " do not broadcast together");
      if (n == 1) n = (*s)[i];
    }
  return result;
}

// ---- elements -----------------------------------------------------------------------------------
Column::Column(const Input& in, const Shape& loop, Dtype type) : Column(type, catena::size_of(loop)) {
  if (in.is_array()) {
    read(in.array(), loop);
  } else {
    alignas(16) std::byte cell[16];
    in.scalar().store(type, cell);
    for (std::int64_t i = 0; i < n_; ++i) std::memcpy(at(i), cell, catena::itemsize(type));
  }
}

Column Column::converted(Dtype to) const {
  Column result(to, n_);
  catena::cast_function(type_, to)(data(), size(), result.data(), result.size(), n_);
  return result;
}

void Column::write_to(const catena::ArrayHeader& a) const {
  const Column own = converted(a.dtype);
  Dims index;
  std::int64_t i = 0;
  for_each_position(a.shape, index, [&] {
    std::memcpy(a.data + offset_at(a.shape, a.strides, index), own.at(i++), catena::itemsize(a.dtype));
  });
}

void Column::read(const catena::ArrayHeader& a, const Shape& loop) {
  Column raw(a.dtype, n_);
  Dims index;
  std::int64_t i = 0;
  for_each_position(loop, index, [&] {
    std::memcpy(raw.at(i++), a.data + offset_at(a.shape, a.strides, index), catena::itemsize(a.dtype));
  });
  catena::cast_function(a.dtype, type_)(raw.data(), raw.size(), data(), size(), n_);
}

}  // namespace test::reference
