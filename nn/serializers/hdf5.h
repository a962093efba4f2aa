// HDF5 files that Chainer can read, or has written: a key "a/b/W" is the dataset W in the group b of the group a. The
// HDF5 library reads and writes them. It is optional (CATENA_WITH_HDF5) and loaded by the first call that needs it;
// without it, every function here throws a RuntimeError that says so.
//
//   save_hdf5("model.h5", model);
//   load_hdf5("model.h5", model);
//
//   HDF5File file("run.h5", "w");                                      // several objects in one file
//   HDF5Serializer(file.create_group("model")).save(model);
//   HDF5Serializer(file.create_group("optimizer")).save(optimizer);
//
// Arrays of more than one element are compressed by gzip, in chunks of at most 1 MiB, without shuffle filter; bool is
// h5py's enumeration, complex numbers its compound {r, i}, text a scalar of variable length in UTF-8. The reader takes
// any layout, filter and byte order that the library knows, and text of fixed length; floats of other widths are
// widened. It does not follow links into other files, and refuses datasets that claim more than a thousand times what
// is stored for them. The library itself is not hardened against damaged files, so a child process (a fork of this one)
// reads them: where the library crashes, or does not come to an end, a ValueError says so and the program goes on;
// where the file system does not answer for a minute beside what the size of the file needs, an IOError (the
// environment variable CATENA_HDF5_TIMEOUT: other seconds in place of the minute). A file that is opened for writing,
// too, is examined by such a child before.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/named.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/serializer.h>

namespace nn::internal {
class Hdf5File;
}

namespace nn::serializers {

class HDF5Group;
namespace internal {
CATENA_EXPORT HDF5Group root_of(catena::Shared<nn::internal::Hdf5File> file);
}

// True if this build has HDF5.
CATENA_EXPORT bool hdf5_available() noexcept;

// A group of an open file. The file remains open while a group of it exists.
class CATENA_EXPORT HDF5Group {
 public:
  // Returns the path from the root: "/updater/model:main".
  std::string name() const { return "/" + path_; }
  // Returns the group `name` below this one. KeyError if there is none.
  HDF5Group operator[](std::string_view name) const;
  // Make the group and its parents. ValueError if create_group finds the group, or require_group a dataset of that
  // name.
  HDF5Group create_group(std::string_view name) const;
  HDF5Group require_group(std::string_view name) const;
  // True if there is a group or a dataset of that name.
  bool contains(std::string_view name) const;
  // Returns the paths of all datasets below this group.
  std::vector<std::string> keys() const;

 protected:
  friend class HDF5Serializer;
  friend class HDF5Deserializer;
  friend HDF5Group internal::root_of(catena::Shared<nn::internal::Hdf5File> file);
  HDF5Group(catena::Shared<nn::internal::Hdf5File> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  std::string below(std::string_view name) const;

  catena::Shared<nn::internal::Hdf5File> file_;
  std::string path_;
};

// A file and its root group. `mode` is as in h5py: "r" reads; "r+" reads and writes an existing file; "w" makes a new
// file and replaces an old one; "w-" or "x" makes a new file; "a" is "r+" or "w-". IOError if the file cannot be opened
// or written, ValueError if it is no HDF5 file.
class CATENA_EXPORT HDF5File : public HDF5Group {
 public:
  explicit HDF5File(const std::string& filename, std::string_view mode = "r");
  // Passes written data to the operating system. Without flush(), a file is complete when its last group is destroyed,
  // but only flush() reports errors.
  void flush();
};

class CATENA_EXPORT HDF5Serializer : public Serializer {
 public:
  // compression: the level of gzip, 0 to 9; nullopt: no compression. ValueError for other levels.
  explicit HDF5Serializer(const HDF5Group& group, std::optional<int> compression = 4);
  bool is_writer() const noexcept override { return true; }

 protected:
  catena::Owned<Serializer> child(std::string path) const override;
  void store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
             std::span<const std::byte> bytes) override;
  void store_text(const std::string& path, std::string_view text) override;
  std::string source() const override;

 private:
  HDF5Group group_;
  std::optional<int> compression_;
};

// Reads what HDF5Serializer has written.
class CATENA_EXPORT HDF5Deserializer : public Serializer {
 public:
  explicit HDF5Deserializer(const HDF5Group& group, bool strict = true);
  // LoadOptions::path is relative to the group.
  HDF5Deserializer(const HDF5Group& group, const LoadOptions& options);
  bool is_writer() const noexcept override { return false; }
  std::vector<std::string> keys() const override;

 protected:
  HDF5Deserializer(const HDF5Group& group, std::string path, bool strict);
  catena::Owned<Serializer> child(std::string path) const override;
  std::optional<catena::NpyArray> fetch(const std::string& path) const override;
  std::string source() const override;

 private:
  HDF5Group group_;
};

namespace internal {
CATENA_EXPORT catena::Shared<nn::internal::Hdf5File> new_hdf5_in_memory(const std::string& filename);
CATENA_EXPORT void write_hdf5(const std::string& filename, const nn::internal::Hdf5File& file);
CATENA_EXPORT HDF5Group open_hdf5(const std::string& filename);
}  // namespace internal

struct SaveHdf5Options {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> compression = 4;  // see HDF5Serializer
};
namespace internal {
struct SaveHdf5 {
  template <class T>
  void operator()(const std::string& filename, T& object, std::optional<int> compression = 4) const try {
    const auto file = new_hdf5_in_memory(filename);
    HDF5Serializer s(root_of(file), compression);
    s.save(object);
    write_hdf5(filename, *file);
  } catch (...) {
    catena::rethrow_standard("save_hdf5");
  }
  template <class T, std::same_as<SaveHdf5Options> O = SaveHdf5Options>
  void operator()(const std::string& filename, T& object, const O& options) const {
    (*this)(filename, object, options.compression);
  }
};
}  // namespace internal
// save_hdf5(filename, object) writes `filename` atomically, as save_npz does: the file is made in memory, compressed.
// An object, as save_npz.
inline constexpr internal::SaveHdf5 save_hdf5;
// Options and errors of load_npz.
template <class T> LoadReport load_hdf5(const std::string& filename, T& object, const LoadOptions& options = {}) try {
  HDF5Deserializer s(internal::open_hdf5(filename), options);
  return s.load(object);
} catch (...) {
  catena::rethrow_standard("load_hdf5");
}
template <class T, class First, class... More>
LoadReport load_hdf5(const std::string& filename, T& object, const First& first,
                     const More&... more) requires(!std::same_as<First, LoadOptions>) {
  return load_hdf5(filename, object, nn::internal::load_options(first, more...));
}

}  // namespace nn::serializers
