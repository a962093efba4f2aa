// An npy array whose elements have not been read: they go, part by part, to memory of the caller, such as the buffers
// of a copy to a GPU.
//
//   NpyStream stream = npz.stream("w");
//   Array a = ...;  // of stream.shape_in_file() and stream.dtype()
//   stream.read(a.data(), stream.header().data_bytes());
//   stream.finish();
#pragma once

#include <catena/kernels/base/pointers.h>
#include <catena/kernels/formats/npy.h>

namespace catena {

class CATENA_EXPORT NpyStream {
 public:
  // Reads the header from `source`, of which remaining() is known, such as a member of an archive. ValueError as of
  // read_npy_header, and for pickled objects other than None.
  explicit NpyStream(Owned<ByteSource> source);
  // Elements that follow in `source` without a header: header.data_bytes() bytes.
  NpyStream(NpyHeader header, Owned<ByteSource> source);
  // Elements in memory.
  NpyStream(std::string context, NpyArray array);
  NpyStream(NpyStream&&) noexcept = default;
  NpyStream& operator=(NpyStream&&) noexcept = default;

  const NpyHeader& header() const noexcept { return header_; }
  // The dtype of the elements. ValueError naming the source if the library has no such element type.
  Dtype dtype() const { return npy_dtype(*source_, header_); }
  const Shape& shape() const noexcept { return header_.shape; }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(header_.size); }
  bool is_none() const noexcept { return header_.is_object(); }  // Python's None
  bool is_text() const noexcept {
    return header_.descr.size() > 1 && (header_.descr[1] == 'U' || header_.descr[1] == 'S');
  }
  // Whether the elements come in another order than that of a C-ordered array of this shape: they are then those of its
  // transpose.
  bool is_transposed() const noexcept { return header_.fortran_order && header_.shape.size() > 1; }
  // The shape of the C-ordered array whose elements come: shape(), with its axes reversed if is_transposed().
  Shape shape_in_file() const;

  // The next elements, in native byte order; bool elements are 0 or 1. `bytes`, at most those that are left, is a
  // multiple of the size of an element. ValueError when the data end or are damaged.
  void read(void* to, std::size_t bytes);
  // After the last element: checks what follows it, the CRC of a member of an archive among it.
  void finish();
  // All of it, in C order; nothing may have been read before.
  NpyArray read_all();

 private:
  NpyHeader header_;
  std::uint64_t done_ = 0;  // bytes
  Owned<ByteSource> source_;
};

}  // namespace catena
