// The npy format of NumPy: one array in a file or in a member of an npz archive. Reading treats its input as hostile:
// sizes are computed in 64 bits and compared with what the source holds before anything is allocated, and pickles are
// never executed.
//
// Versions 1 to 3, both byte orders and both layouts are read; written is what NumPy 1.24 writes, byte for byte:
// version 1.0, little endian, C order. bfloat16, which NumPy lacks, is written as '<V2' (as other libraries do) and
// 2-byte void is read as bfloat16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/shape.h>
#include <catena/kernels/formats/byte_stream.h>

namespace catena {

struct NpyHeader {
  std::string descr;           // as in the file: "<f4", ">i2", "|b1", "<U12", "|O"
  std::optional<Dtype> dtype;  // of the library; nothing for text ('U', 'S'), complex numbers, void, dates and objects
  std::size_t itemsize = 0;    // bytes of one element in the file; 0 for objects
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::uint64_t size = 0;                                                // elements
  std::uint64_t data_bytes() const noexcept { return size * itemsize; }  // checked to fit when the header is read
  bool is_object() const noexcept { return descr == "|O"; }
};

// An array in memory. `data` is in C order and native byte order whatever the file was; bool elements are 0 or 1.
struct NpyArray {
  std::string descr;           // of the file
  std::optional<Dtype> dtype;  // see NpyHeader
  std::size_t itemsize = 0;
  bool fortran_order = false;  // of the file
  Shape shape;
  std::vector<std::byte> data;

  std::int64_t size() const noexcept { return size_of(shape); }
  // Python's None, which NumPy can only store as a pickled object: an object of shape (), its content unread.
  bool is_none() const noexcept { return descr == "|O"; }
  bool is_text() const noexcept { return descr.size() > 1 && (descr[1] == 'U' || descr[1] == 'S'); }
  template <class T>
  std::span<const T> as() const {
    check<TypeError>(dtype == dtype_of<T>, "NpyArray::as", "elements are ", descr, ", not ", dtype_of<T>);
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

// Reads up to the first byte of the data. ValueError for anything that is no npy header, for shapes whose size does not
// fit and for headers that claim more data than the source has.
CATENA_EXPORT NpyHeader read_npy_header(ByteSource& source);

// The dtype of the header. ValueError naming the source when the library has no such element type.
CATENA_EXPORT Dtype npy_dtype(const ByteSource& source, const NpyHeader& header);

// Reads the data that follows the header into `to` (data_bytes() bytes; C order, native byte order), for instance
// pinned memory. When source.remaining() is unknown the size in the header is only a claim: read_npy then allocates as
// the data comes.
CATENA_EXPORT void read_npy_data(ByteSource& source, const NpyHeader& header, void* to);

// Header and data. Elements of any fixed size are accepted; objects only as None.
CATENA_EXPORT NpyArray read_npy(ByteSource& source);

// The text of a 0-d array of kind U or S, as UTF-8, without trailing NULs. TypeError if it is none; ValueError for code
// points that do not exist.
CATENA_EXPORT std::string npy_text(const NpyArray& array);

// Everything before the data: magic, version, the dictionary, padded to a multiple of 64 bytes.
CATENA_EXPORT std::string npy_header(std::string_view descr, const Shape& shape);
// The descr a dtype is written with: "<f4", "|b1".
CATENA_EXPORT std::string_view npy_descr(Dtype dtype);

// `c_order_bytes` are the elements in native byte order, size x itemsize bytes.
CATENA_EXPORT void write_npy(ByteSink& sink, Dtype dtype, const Shape& shape, std::span<const std::byte> c_order_bytes);
// A text as NumPy writes a str: shape (), kind U, UTF-32. Invalid UTF-8 is a ValueError.
CATENA_EXPORT void write_npy_text(ByteSink& sink, std::string_view utf8);

}  // namespace catena
