#include <catena/nn/serializers/hdf5.h>

#include <unistd.h>

#include <catena/kernels/base/module.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/nn/serializers/hdf5_file.h>

namespace nn::serializers {

using catena::check;
using catena::IOError;
using catena::KeyError;
using catena::RuntimeError;
using catena::ValueError;
using nn::internal::Hdf5File;
using nn::internal::Hdf5Mode;
using nn::internal::without_slashes;

#ifdef CATENA_HAS_HDF5
bool hdf5_available() noexcept { return true; }
#else
bool hdf5_available() noexcept { return false; }
#endif

namespace {

catena::Shared<Hdf5File> open_file(std::string_view op, const std::string& filename, Hdf5Mode mode) {
#ifdef CATENA_HAS_HDF5
  using nn::internal::catena_nn_hdf5;
  static const nn::internal::Hdf5Module& module = *CATENA_LOAD_MODULE(catena_nn_hdf5);
  catena::Owned<Hdf5File> file = module.open(op, filename, mode);
  Hdf5File* const kept = file.get();
  return catena::Shared<Hdf5File>::kept_by(kept, std::move(file));
#else
  static_cast<void>(mode);
  catena::fail<RuntimeError>(
      catena::io_context(op, filename),
      "this build of Catena has no HDF5. Install its library (Debian: libhdf5-dev) and configure "
      "with -DCATENA_WITH_HDF5=ON, or use save_npz and load_npz");
#endif
}

Hdf5Mode mode_of(const std::string& filename, std::string_view mode) {
  if (mode == "r") return Hdf5Mode::read;
  if (mode == "r+") return Hdf5Mode::read_write;
  if (mode == "w") return Hdf5Mode::create;
  if (mode == "w-" || mode == "x") return Hdf5Mode::create_new;
  check<ValueError>(mode == "a", "HDF5File", "the mode \"", mode, "\" is none of r, r+, w, w-, x and a");
  return ::access(filename.c_str(), F_OK) == 0 ? Hdf5Mode::read_write : Hdf5Mode::create_new;
}

}  // namespace

// ---- groups and files -----------------------------------------------------------------------------

std::string HDF5Group::below(std::string_view name) const {
  const std::string more = without_slashes(name);
  if (path_.empty()) return more;
  return more.empty() ? path_ : path_ + "/" + more;
}

HDF5Group HDF5Group::operator[](std::string_view name) const {
  std::string path = below(name);
  check<KeyError>(file_->is_group(path), file_->context(), "there is no group ", path);
  return {file_, std::move(path)};
}

HDF5Group HDF5Group::create_group(std::string_view name) const {
  check<ValueError>(!contains(name), file_->context(), "there is a ",
                    file_->is_group(below(name)) ? "group" : "dataset", " ", below(name), " already");
  return require_group(name);
}

HDF5Group HDF5Group::require_group(std::string_view name) const {
  std::string path = below(name);
  file_->make_group(path);
  return {file_, std::move(path)};
}

bool HDF5Group::contains(std::string_view name) const {
  const std::string path = below(name);
  return file_->is_group(path) || file_->is_dataset(path);
}

std::vector<std::string> HDF5Group::keys() const { return file_->datasets(path_); }

HDF5File::HDF5File(const std::string& filename, std::string_view mode)
    : HDF5Group(open_file("HDF5File", filename, mode_of(filename, mode)), "") {}
void HDF5File::flush() { file_->flush(); }

// ---- serializers ----------------------------------------------------------------------------------

// The path of a serializer is its path in the file, so one function joins both.
HDF5Serializer::HDF5Serializer(const HDF5Group& group, std::optional<int> compression)
    : Serializer(group.path_), group_(group), compression_(compression) {
  check<ValueError>(!compression || (*compression >= 0 && *compression <= 9), "HDF5Serializer", "the compression ",
                    compression.value_or(0), " is not a level of gzip, 0 to 9; std::nullopt means none");
}

// Groups without entries are written to the file, too.
catena::Owned<Serializer> HDF5Serializer::child(std::string path) const {
  group_.file_->make_group(path);
  return catena::Owned<Serializer>(new HDF5Serializer(HDF5Group(group_.file_, std::move(path)), compression_));
}
void HDF5Serializer::store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
                           std::span<const std::byte> bytes) {
  group_.file_->write(path, dtype, shape, bytes, compression_);
}
void HDF5Serializer::store_text(const std::string& path, std::string_view text) {
  catena::MemorySink checked;
  catena::write_npy_text(checked, text);  // ValueError for invalid UTF-8
  group_.file_->write_text(path, std::string(text));
}
std::string HDF5Serializer::source() const { return group_.file_->context(); }

namespace {

LoadOptions below_group(const std::string& group, LoadOptions options) {
  options.path = without_slashes(group + "/" + without_slashes(options.path));
  return options;
}

}  // namespace

HDF5Deserializer::HDF5Deserializer(const HDF5Group& group, bool strict)
    : HDF5Deserializer(group, group.path_, strict) {}
HDF5Deserializer::HDF5Deserializer(const HDF5Group& group, const LoadOptions& options)
    : Serializer(below_group(group.path_, options)), group_(group) {}
HDF5Deserializer::HDF5Deserializer(const HDF5Group& group, std::string path, bool strict)
    : Serializer(std::move(path), strict), group_(group) {}

catena::Owned<Serializer> HDF5Deserializer::child(std::string path) const {
  return catena::Owned<Serializer>(new HDF5Deserializer(group_, std::move(path), is_strict()));
}
std::optional<catena::NpyArray> HDF5Deserializer::fetch(const std::string& path) const {
  return group_.file_->read(path);
}
std::vector<std::string> HDF5Deserializer::keys() const {
  return group_.file_->datasets(has_names_of_its_own() ? "" : path());
}
std::string HDF5Deserializer::source() const { return group_.file_->context(); }

// ---- files as a whole -----------------------------------------------------------------------------

HDF5Group internal::root_of(catena::Shared<Hdf5File> file) { return {std::move(file), ""}; }
catena::Shared<Hdf5File> internal::new_hdf5_in_memory(const std::string& filename) {
  return open_file("save_hdf5", filename, Hdf5Mode::memory);
}
void internal::write_hdf5(const std::string& filename, const Hdf5File& file) {
  const std::vector<std::byte> image = file.image();
  catena::AtomicFile to("save_hdf5", filename);
  to.write(image.data(), image.size());
  to.commit();
}
HDF5Group internal::open_hdf5(const std::string& filename) {
  return root_of(open_file("load_hdf5", filename, Hdf5Mode::read));
}

}  // namespace nn::serializers
