// The function table of the HDF5 module (kernels/base/module.h) and its class for one file with paths. Internal to this
// folder. All code that uses the HDF5 library is in modules/hdf5.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/formats/npy.h>

namespace nn::internal {

// Paths are HDF5 paths from the root of the file; "" is the root, and doubled slashes count once. Several threads may
// call every function.
class CATENA_EXPORT Hdf5File {
 public:
  virtual ~Hdf5File() = default;

  // Returns the beginning of error messages: `load_hdf5: "model.h5"`.
  virtual const std::string& context() const noexcept = 0;
  virtual bool is_group(const std::string& path) const = 0;
  // Returns the dataset at `path`; nothing if there is none. A text has kind S, in UTF-8; a null dataspace is None.
  virtual std::optional<catena::NpyArray> read(const std::string& path) const = 0;
  virtual bool is_dataset(const std::string& path) const = 0;
  // Returns the paths of all datasets below a group, relative to it.
  virtual std::vector<std::string> datasets(const std::string& group) const = 0;

  // Makes the group at `path` and its parents; does nothing if it exists.
  virtual void make_group(const std::string& path) = 0;
  // Makes parent groups as needed. `compression` (gzip, 0 to 9) applies to arrays of more than one element.
  virtual void write(const std::string& path, catena::Dtype dtype, const catena::Shape& shape,
                     std::span<const std::byte> c_order, std::optional<int> compression) = 0;
  virtual void write_text(const std::string& path, const std::string& utf8) = 0;
  virtual void flush() = 0;
  // Returns the bytes of the file, as they would be on the disk.
  virtual std::vector<std::byte> image() const = 0;
};

// memory: a new file that is accessible only through image().
enum class Hdf5Mode { read, read_write, create, create_new, memory };

struct Hdf5Module {
  catena::Owned<Hdf5File> (*open)(std::string_view op, const std::string& filename, Hdf5Mode mode);
};

extern "C" CATENA_EXPORT const Hdf5Module* catena_nn_hdf5();

}  // namespace nn::internal
