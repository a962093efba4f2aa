// The function table of the HDF5 module (kernels/base/module.h) and its class for one file with paths. Internal to this
// folder. All code that uses the HDF5 library is in modules/hdf5.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/function.h>
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
  // The dataset at `path`; nothing where there is none. Text as kind S, UTF-8; a null dataspace as None.
  std::optional<catena::NpyArray> read(const std::string& path) const {
    std::vector<std::byte> elements;
    std::optional<catena::NpyArray> a = read_to(path, [&](std::size_t bytes) {
      elements.resize(bytes);
      return elements.data();
    });
    if (a) a->data = std::move(elements);
    return a;
  }
  // The same without the elements, which are written to place(their number of bytes); it is called once at most.
  using Place = catena::Function<std::byte*(std::size_t bytes)>;
  virtual std::optional<catena::NpyArray> read_to(const std::string& path, const Place& place) const = 0;
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
