// Files of arrays: NumPy's npy and npz, in both directions. Files written here load there and the other way round;
// bfloat16, which NumPy lacks, is stored as '<V2'.
//
// Files are untrusted: sizes are checked against what the file holds before memory is taken, pickled objects are
// refused. ValueError for content that is no npy or npz data, IOError for what the system refuses; messages begin with
// the function and the name of the file. Writing a file is atomic: it appears whole under its name or the old one
// stays.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace catena {
class NpzReader;
}

namespace nd {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

// One array, on the current device: any layout and byte order. For an npz archive use loadz.
CATENA_EXPORT Array load(const std::string& path);
// From the present position of the stream up to the end of the array.
CATENA_EXPORT Array load(std::istream& in);

// The elements in C order. ".npy" is appended to a path without it. Waits for the device.
CATENA_EXPORT void save(const std::string& path, const Array& a);
CATENA_EXPORT void save(std::ostream& out, const Array& a);

// Arrays under names: savez("model.npz", {{"w", w}, {"b", b}}). ".npz" is appended to a path without it. ValueError for
// a name given twice.
CATENA_EXPORT void savez(const std::string& path, const NamedArrays& arrays);
// Arrays named arr_0, arr_1..., then named ones.
CATENA_EXPORT void savez(const std::string& path, const std::vector<Array>& arrays, const NamedArrays& named = {});
CATENA_EXPORT void savez(std::ostream& out, const NamedArrays& arrays);
// The same, deflated.
CATENA_EXPORT void savez_compressed(const std::string& path, const NamedArrays& arrays);
CATENA_EXPORT void savez_compressed(const std::string& path, const std::vector<Array>& arrays,
                                    const NamedArrays& named = {});
CATENA_EXPORT void savez_compressed(std::ostream& out, const NamedArrays& arrays);

// An npz archive. Each access reads that array from the file and puts it on the current device. Copies share the open
// file.
//
// Thread safety: several threads may read from one NpzFile.
class CATENA_EXPORT NpzFile {
 public:
  explicit NpzFile(const std::string& path);

  std::vector<std::string> keys() const;  // in the order of the archive
  std::size_t size() const { return keys().size(); }
  bool contains(std::string_view key) const;
  Array at(std::string_view key) const;  // KeyError when there is none
  Array operator[](std::string_view key) const { return at(key); }
  // Lets go of the file, as the destructor does; every later access is a ValueError.
  void close() noexcept { reader_.reset(); }

 private:
  const catena::NpzReader& reader() const;

  std::string path_;
  std::shared_ptr<const catena::NpzReader> reader_;
};
CATENA_EXPORT NpzFile loadz(const std::string& path);

}  // namespace nd
