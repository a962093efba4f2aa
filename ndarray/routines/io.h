// Array files in NumPy's formats npy and npz, in both directions and compatible with NumPy. bfloat16, which NumPy
// lacks, is stored as '<V2'.
//
// Files are not trusted: sizes are compared with the size of the file before memory is allocated, and pickled objects
// are refused. ValueError for content that is not npy or npz data, IOError for failed system calls; messages start with
// the function and the file name. Writing is atomic: the file is complete under its name, or an existing file stays
// unchanged.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/array.h>

namespace catena {
class NpzReader;
}

namespace nd {

// Arrays by name, in order: what savez writes and what an npz file has.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

// Writes the elements in C order. ".npy" is appended to a path without it. Waits for the device.
CATENA_EXPORT void save(const std::string& path, const Array& a);
CATENA_EXPORT void save(std::ostream& out, const Array& a);

// Writes named arrays: savez("model.npz", {{"w", w}, {"b", b}}). ".npz" is appended to a path without it. ValueError
// for a repeated name.
CATENA_EXPORT void savez(const std::string& path, const NamedArrays& arrays);
// Writes arrays as arr_0, arr_1..., followed by named ones.
CATENA_EXPORT void savez(const std::string& path, const std::vector<Array>& arrays, const NamedArrays& named = {});
CATENA_EXPORT void savez(std::ostream& out, const NamedArrays& arrays);
// As savez, compressed by deflate.
CATENA_EXPORT void savez_compressed(const std::string& path, const NamedArrays& arrays);
CATENA_EXPORT void savez_compressed(const std::string& path, const std::vector<Array>& arrays,
                                    const NamedArrays& named = {});
CATENA_EXPORT void savez_compressed(std::ostream& out, const NamedArrays& arrays);

// An npz archive. Each access reads an array from the file to the current device: to a GPU through two buffers of
// pinned memory, one of which is filled while the other one is copied. Copies share the open file.
//
// Thread safety: several threads may read from one NpzFile.
class CATENA_EXPORT NpzFile {
 public:
  explicit NpzFile(const std::string& path);
  explicit NpzFile(std::istream& in);  // reads the stream to its end

  std::vector<std::string> keys() const;  // in the order of the archive
  std::size_t size() const { return keys().size(); }
  bool contains(std::string_view key) const;
  Array at(std::string_view key) const;  // KeyError if there is no such array
  Array operator[](std::string_view key) const { return at(key); }
  // Closes the file, as the destructor does; later accesses throw ValueError.
  void close() noexcept { reader_.reset(); }

 private:
  friend class LoadedFile;
  NpzFile() = default;
  const catena::NpzReader& reader() const;

  std::string path_;
  catena::Shared<const catena::NpzReader> reader_;
};
CATENA_EXPORT NpzFile loadz(const std::string& path);

// The content of a file: the array of an npy file, or the archive of an npz file. The use decides:
//   nd::Array a = nd::load("a.npy");   nd::NpzFile weights = nd::load("model.npz");   nd::load("model.npz")["w"]
// ValueError with the file name if it is of the other type.
class CATENA_EXPORT LoadedFile : public Array {
 public:
  LoadedFile(Array array, std::string context) : Array(std::move(array)), context_(std::move(context)) {}
  LoadedFile(NpzFile archive, std::string context)
      : archive_(std::move(archive)), context_(std::move(context)), is_archive_(true) {}

  using Array::operator=;
  bool is_archive() const noexcept { return is_archive_; }
  operator NpzFile() const { return archive(); }
  Array single_output() const;  // the array

  std::vector<std::string> keys() const { return archive().keys(); }
  bool contains(std::string_view key) const { return archive().contains(key); }
  using Array::at;
  Array at(std::string_view key) const { return archive().at(key); }
  using Array::operator[];
  Array operator[](const char* key) const { return at(key); }
  Array operator[](const std::string& key) const { return at(key); }

 private:
  const NpzFile& archive() const;

  NpzFile archive_;
  std::string context_;
  bool is_archive_ = false;
};
// Reads an array of any layout and byte order to the current device, or opens an npz archive. mmap_mode, one of NumPy's
// "r", "r+", "w+" and "c" (ValueError for others), is accepted without effect: the result is an array on the device in
// any case, and the file is never written. The file is read, not mapped: if another process shortens it meanwhile, that
// is an IOError.
CATENA_EXPORT LoadedFile load(const std::string& path, std::optional<std::string_view> mmap_mode = {});
// Reads from the current position of the stream to the end of the array; for an archive, to the end of the stream.
CATENA_EXPORT LoadedFile load(std::istream& in, std::optional<std::string_view> mmap_mode = {});

}  // namespace nd
