// Folder kernels/formats/: file formats that both libraries use: npy, npz, zip, byte streams and files that are
// replaced atomically. It works on bytes, dtypes and shapes; the libraries create the arrays. May use kernels/base/.
//
// This header: NumPy's npy format, one array in a file or in a member of an npz archive. The reader does not trust its
// input: sizes are computed in 64 bits and compared with the size of the source before anything is allocated, and
// pickles are never executed.
//
// The reader accepts versions 1 to 3, both byte orders and both memory orders, and the element types that numpy.dtype
// accepts in the headers of other writers: "f8", "=f8", "d" and "float64" are "<f8". It does not accept elements of 0
// bytes, subarrays and records. The writer produces the same bytes as NumPy 1.24: version 1.0, little endian, C order.
// bfloat16, which NumPy lacks, is written as '<V2' (as other libraries do), and 2-byte void is read as bfloat16.
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

namespace catena {

class ByteSource;  // byte_stream.h
class ByteSink;

struct NpyHeader {
  std::string descr;           // as NumPy writes it: "<f4", ">i2", "|b1", "<U12", "|O"
  std::optional<Dtype> dtype;  // absent for text ('U', 'S'), complex numbers, void, dates, objects
  std::size_t itemsize = 0;    // bytes of one element in the file; 0 for objects
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::uint64_t size = 0;  // elements
  std::uint64_t data_bytes() const noexcept {
    return size * itemsize;
  }  // the reader has checked that it does not overflow
  bool is_object() const noexcept { return descr == "|O"; }
};

// An array in memory. `data` is in C order and native byte order, whatever the file had; bool elements are 0 or 1.
struct NpyArray {
  std::string descr;           // of the file
  std::optional<Dtype> dtype;  // see NpyHeader
  std::size_t itemsize = 0;
  bool fortran_order = false;  // of the file
  Shape shape;
  std::vector<std::byte> data;

  std::int64_t size() const noexcept { return size_of(shape); }
  // True for Python's None. NumPy stores it as a pickled object: dtype object, shape (); its content is not read.
  bool is_none() const noexcept { return descr == "|O"; }
  bool is_text() const noexcept { return descr.size() > 1 && (descr[1] == 'U' || descr[1] == 'S'); }
  template <class T> std::span<const T> as() const {
    check<TypeError>(dtype == dtype_of<T>, "NpyArray::as", "elements are ", descr, ", not ", dtype_of<T>);
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

// Reads up to the first byte of the data. ValueError for content that is not an npy header, for a shape whose size
// overflows, and for a header that claims more data than the source has.
CATENA_EXPORT NpyHeader read_npy_header(ByteSource& source);

// Returns the dtype of the header. ValueError with the source if the library has no such element type.
CATENA_EXPORT Dtype npy_dtype(const ByteSource& source, const NpyHeader& header);

// Reads the data after the header into `to` (data_bytes() bytes; C order, native byte order), for instance pinned
// memory. If source.remaining() is unknown, the size in the header is an unchecked claim; read_npy then allocates as
// data arrives.
CATENA_EXPORT void read_npy_data(ByteSource& source, const NpyHeader& header, void* to);

// Reads header and data. Elements may be of any fixed size; of objects, only None is accepted.
CATENA_EXPORT NpyArray read_npy(ByteSource& source);

// Returns the text of a 0-d array of kind U or S, as UTF-8, without trailing NULs. TypeError for other arrays;
// ValueError for invalid code points.
CATENA_EXPORT std::string npy_text(const NpyArray& array);

// Returns the bytes before the data: magic, version and dictionary, padded to a multiple of 64 bytes.
CATENA_EXPORT std::string npy_header(std::string_view descr, const Shape& shape);
// Returns the descr that is written for a dtype: "<f4", "|b1".
CATENA_EXPORT std::string_view npy_descr(Dtype dtype);

// Writes an array; `c_order_bytes` are its elements in C order and native byte order, size x itemsize bytes.
CATENA_EXPORT void write_npy(ByteSink& sink, Dtype dtype, const Shape& shape, std::span<const std::byte> c_order_bytes);
// Writes a text as NumPy writes a str: shape (), kind U, UTF-32. ValueError for invalid UTF-8.
CATENA_EXPORT void write_npy_text(ByteSink& sink, std::string_view utf8);

}  // namespace catena
