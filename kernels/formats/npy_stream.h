// An npy array whose elements have not been read yet. The caller reads them part by part into its own memory, such as
// the buffers of a copy to a GPU.
//
//   NpyStream stream = npz.stream("w");
//   Array a = ...;  // of stream.shape_in_file() and stream.dtype()
//   stream.read(a.data(), stream.header().data_bytes());
//   stream.finish();
#pragma once

#include <catena/kernels/base/pointers.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npy.h>

namespace catena {

class CATENA_EXPORT NpyStream {
 public:
  // Reads the header from `source`, whose remaining() must be known, such as a member of an archive. ValueError as for
  // read_npy_header, and for pickled objects other than None.
  explicit NpyStream(Owned<ByteSource> source);
  // Uses elements in `source` without a header: header.data_bytes() bytes.
  NpyStream(NpyHeader header, Owned<ByteSource> source);
  // Uses elements in memory.
  NpyStream(std::string context, NpyArray array);
  NpyStream(NpyStream&&) noexcept = default;
  NpyStream& operator=(NpyStream&&) noexcept = default;

  const NpyHeader& header() const noexcept { return header_; }
  // Returns the dtype of the elements. ValueError with the source if the library has no such element type.
  Dtype dtype() const { return npy_dtype(*source_, header_); }
  const Shape& shape() const noexcept { return header_.shape; }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(header_.size); }
  bool is_none() const noexcept { return header_.is_object(); }  // Python's None
  bool is_text() const noexcept {
    return header_.descr.size() > 1 && (header_.descr[1] == 'U' || header_.descr[1] == 'S');
  }
  // True if the elements are not in the order of a C-ordered array of this shape: they are then in the order of its
  // transpose.
  bool is_transposed() const noexcept { return header_.fortran_order && header_.shape.size() > 1; }
  // Returns the shape of the C-ordered array whose elements are read: shape(), with its axes reversed if
  // is_transposed().
  Shape shape_in_file() const;

  // Reads the next elements, in native byte order; bool elements are 0 or 1. `bytes` must be a multiple of the size of
  // an element and at most the number of bytes left. ValueError if the data end or are damaged.
  void read(void* to, std::size_t bytes);
  // Must be called after the last element: checks the rest of the source, including the CRC of an archive member.
  void finish();
  // Reads all elements, in C order; nothing may have been read before.
  NpyArray read_all();

 private:
  NpyHeader header_;
  std::uint64_t done_ = 0;  // bytes
  Owned<ByteSource> source_;
};

}  // namespace catena
