// The HDF5 module: all code that uses the HDF5 library, through its C interface of version 1.10.
#define H5_USE_110_API
#include <hdf5.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/nn/serializers/hdf5_file.h>
#include <catena/nn/serializers/modules/hdf5_process.h>

namespace nn::internal {
namespace {

using catena::check;
using catena::Dtype;
using catena::fail;
using catena::IOError;
using catena::NpyArray;
using catena::Shape;
using catena::ValueError;

static_assert(std::endian::native == std::endian::little, "the elements are written as they lie in memory");

constexpr hsize_t kChunkBytes = 1 << 20;  // the size of the library's chunk cache
// The declared size of a dataset must not exceed the maximal expansion of deflate, unless it is small.
constexpr std::uint64_t kMostExpansion = 1040, kSmall = std::uint64_t(1) << 24;

// The library may be compiled without thread safety, so only one thread may call it at a time.
std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

// The files that this process has open for writing, by device and inode; one entry per opening. Call only within a Use.
std::multiset<std::pair<dev_t, ino_t>>& written_files() {
  static auto& files = *new std::multiset<std::pair<dev_t, ino_t>>;
  return files;
}
std::pair<dev_t, ino_t> identity_of(const std::string& filename) {
  struct stat status {};
  return ::stat(filename.c_str(), &status) == 0 ? std::pair(status.st_dev, status.st_ino) : std::pair(dev_t(), ino_t());
}

// One use of the library: holds the library's lock, and turns off the printing of its errors.
class Use {
 public:
  Use() : lock_(library_mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5Eclear2(H5E_DEFAULT);
  }
  ~Use() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// An object of the library, closed by the destructor. Create and destroy only within a Use.
class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) noexcept : id_(id) {}
  Id(Id&& o) noexcept : id_(std::exchange(o.id_, H5I_INVALID_HID)) {}
  Id& operator=(Id o) noexcept {
    std::swap(id_, o.id_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

herr_t note_reason(unsigned, const H5E_error2_t* error, void* to) {
  auto& reasons = *static_cast<std::vector<std::string>*>(to);
  if (error->desc == nullptr || *error->desc == '\0') return 0;
  try {
    if (reasons.empty() || reasons.back() != error->desc) reasons.emplace_back(error->desc);
  } catch (...) {  // no exception passes through the library
    return -1;
  }
  return 0;
}

// Returns the library's record of its last failure, the cause first.
std::string reasons() {
  std::vector<std::string> all;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_reason, &all);
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i) text += (i > 0 ? "; " : "") + all[i];
  return text.empty() ? "the HDF5 library gives no reason" : text;
}

template <class E, class... Parts> hid_t must(hid_t id, const std::string& context, const Parts&... parts) {
  if (id < 0) {
    const std::string why = reasons();
    fail<E>(context, parts..., ": ", why);
  }
  return id;
}

// ---- element types --------------------------------------------------------------------------------

// Returns a float type of 2 bytes with these numbers of bits of exponent and mantissa.
Id small_float(std::size_t exponent, std::size_t mantissa, std::size_t bias) {
  Id type(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_fields(type.get(), 15, mantissa, exponent, 0, mantissa);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), bias);
  return type;
}

Id boolean() {
  Id type(H5Tenum_create(H5T_STD_I8LE));
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

Id complex_of(hid_t real, std::size_t itemsize) {
  Id type(H5Tcreate(H5T_COMPOUND, 2 * itemsize));
  H5Tinsert(type.get(), "r", 0, real);
  H5Tinsert(type.get(), "i", itemsize, real);
  return type;
}

// Returns the type in memory and in written files. For bool, it is the type in files; the type in memory is int8.
Id type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_: return boolean();
    case Dtype::int8: return Id(H5Tcopy(H5T_STD_I8LE));
    case Dtype::uint8: return Id(H5Tcopy(H5T_STD_U8LE));
    case Dtype::int16: return Id(H5Tcopy(H5T_STD_I16LE));
    case Dtype::uint16: return Id(H5Tcopy(H5T_STD_U16LE));
    case Dtype::int32: return Id(H5Tcopy(H5T_STD_I32LE));
    case Dtype::uint32: return Id(H5Tcopy(H5T_STD_U32LE));
    case Dtype::int64: return Id(H5Tcopy(H5T_STD_I64LE));
    case Dtype::uint64: return Id(H5Tcopy(H5T_STD_U64LE));
    case Dtype::float16: return small_float(5, 10, 15);
    case Dtype::bfloat16: return small_float(8, 7, 127);
    case Dtype::float32: return Id(H5Tcopy(H5T_IEEE_F32LE));
    case Dtype::float64: return Id(H5Tcopy(H5T_IEEE_F64LE));
    case Dtype::complex64: return complex_of(H5T_IEEE_F32LE, 4);
    case Dtype::complex128: return complex_of(H5T_IEEE_F64LE, 8);
  }
  return {};
}

bool has_name(hid_t type, unsigned member, std::string_view name) {
  char* const found = H5Tget_member_name(type, member);
  const bool same = found != nullptr && name == found;
  H5free_memory(found);
  return same;
}

std::optional<Dtype> integer_dtype(hid_t type) {
  const bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
  switch (H5Tget_size(type)) {
    case 1: return is_signed ? Dtype::int8 : Dtype::uint8;
    case 2: return is_signed ? Dtype::int16 : Dtype::uint16;
    case 4: return is_signed ? Dtype::int32 : Dtype::uint32;
    case 8: return is_signed ? Dtype::int64 : Dtype::uint64;
    default: return {};
  }
}

Dtype float_dtype(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  std::size_t sign = 0, exponent_at = 0, exponent = 0, mantissa_at = 0, mantissa = 0;
  H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa);
  if (exponent <= 5 && mantissa <= 10) return Dtype::float16;
  if (size == 2 && exponent == 8 && mantissa == 7) return Dtype::bfloat16;
  return size <= 4 ? Dtype::float32 : Dtype::float64;
}

bool is_boolean(hid_t type) {
  return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 && has_name(type, 0, "FALSE") &&
         has_name(type, 1, "TRUE");
}

// Returns the dtype for elements of a type; nothing for types that no array can have.
std::optional<Dtype> dtype_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return integer_dtype(type);
    case H5T_FLOAT: return float_dtype(type);
    case H5T_ENUM: return is_boolean(type) ? Dtype::bool_ : integer_dtype(Id(H5Tget_super(type)).get());
    case H5T_COMPOUND: {
      if (H5Tget_nmembers(type) != 2 || !has_name(type, 0, "r") || !has_name(type, 1, "i")) return {};
      const Id real(H5Tget_member_type(type, 0));
      if (H5Tget_class(real.get()) != H5T_FLOAT) return {};
      return float_dtype(real.get()) == Dtype::float64 ? Dtype::complex128 : Dtype::complex64;
    }
    default: return {};
  }
}

std::string class_name(H5T_class_t c) {
  switch (c) {
    case H5T_STRING: return "string";
    case H5T_COMPOUND: return "compound";
    case H5T_OPAQUE: return "opaque";
    case H5T_REFERENCE: return "reference";
    case H5T_VLEN: return "variable length";
    case H5T_ARRAY: return "array";
    case H5T_BITFIELD: return "bitfield";
    case H5T_TIME: return "time";
    default: return "number of unusual size";
  }
}

// ---- files ----------------------------------------------------------------------------------------

herr_t refuse_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) { return -1; }

class File final : public Hdf5File {
 public:
  File(std::string_view op, const std::string& filename, Hdf5Mode mode) : context_(catena::io_context(op, filename)) {
    if (mode == Hdf5Mode::read || mode == Hdf5Mode::read_write)
      catena::FileAccess(op, filename);  // throws an IOError with the reason
    const Use use;
    Id file(open(filename, mode)), link_access(H5Pcreate(H5P_LINK_ACCESS)), link_creation(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_elink_cb(link_access.get(), refuse_link, nullptr);
    H5Pset_create_intermediate_group(link_creation.get(), 1);
    H5Pset_char_encoding(link_creation.get(), H5T_CSET_UTF8);
    if (mode != Hdf5Mode::read && mode != Hdf5Mode::memory) written_ = written_files().insert(identity_of(filename));
    file_ = std::move(file);
    link_access_ = std::move(link_access);
    link_creation_ = std::move(link_creation);
  }
  ~File() override {
    const Use use;
    if (written_) written_files().erase(*written_);
    file_ = {};
    link_access_ = {};
    link_creation_ = {};
  }

  const std::string& context() const noexcept override { return context_; }
  bool is_group(const std::string& path) const override { return is_a(path, H5I_GROUP); }
  bool is_dataset(const std::string& path) const override { return is_a(path, H5I_DATASET); }
  std::optional<NpyArray> read_to(const std::string& path, const Place& place) const override;
  std::vector<std::string> datasets(const std::string& group) const override;
  void make_group(const std::string& path) override;
  void write(const std::string& path, Dtype dtype, const Shape& shape, std::span<const std::byte> c_order,
             std::optional<int> compression) override;
  void write_text(const std::string& path, const std::string& utf8) override;
  void flush() override {
    const Use use;
    must<IOError>(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), context_, "cannot be written");
  }
  std::vector<std::byte> image() const override;

 private:
  hid_t open(const std::string& filename, Hdf5Mode mode) const;
  Id find(const std::string& path) const;
  bool is_a(const std::string& path, H5I_type_t kind) const {
    const Use use;
    const Id object = find(path);
    return object && H5Iget_type(object.get()) == kind;
  }
  Shape shape_of(hid_t space, const std::string& where) const;
  void check_claim(hid_t dataset, const Shape& shape, std::size_t itemsize, const std::string& where) const;
  NpyArray read_text(hid_t dataset, hid_t type, const Shape& shape, const std::string& where, const Place& place) const;
  void write_dataset(const std::string& path, hid_t type, hid_t space, hid_t properties, const void* data) const;

  std::string context_;
  Id file_, link_access_, link_creation_;
  std::optional<std::multiset<std::pair<dev_t, ino_t>>::iterator> written_;
};

hid_t File::open(const std::string& filename, Hdf5Mode mode) const {
  catena::reserve_standard_descriptors();  // libhdf5 opens the file itself
  const Id access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  switch (mode) {
    case Hdf5Mode::read:
    case Hdf5Mode::read_write: {
      const unsigned flags = mode == Hdf5Mode::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR;
      return must<ValueError>(H5Fopen(filename.c_str(), flags, access.get()), context_, "is no readable HDF5 file");
    }
    case Hdf5Mode::memory: {
      static std::uint64_t number = 0;  // files in memory are distinguished by their names
      const std::string name = filename + "#" + std::to_string(number++);
      H5Pset_fapl_core(access.get(), kChunkBytes, 0);
      return must<IOError>(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), context_,
                           "cannot be created");
    }
    case Hdf5Mode::create:
      return must<IOError>(H5Fcreate(filename.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), context_,
                           "cannot be created");
    case Hdf5Mode::create_new:
      return must<IOError>(H5Fcreate(filename.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()), context_,
                           "cannot be created");
  }
  return H5I_INVALID_HID;
}

// Returns the object at a path; nothing if there is none. Links to other files are not followed.
Id File::find(const std::string& path) const {
  Id at(H5Gopen2(file_.get(), "/", H5P_DEFAULT));
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    if (H5Iget_type(at.get()) != H5I_GROUP) return {};
    const htri_t there = H5Lexists(at.get(), name.c_str(), link_access_.get());
    must<ValueError>(there, context_, "entry ", path, ": it cannot be looked up");
    if (there == 0) return {};
    at = Id(must<ValueError>(H5Oopen(at.get(), name.c_str(), link_access_.get()), context_, "entry ", path, ": ", name,
                             " cannot be opened"));
  }
  return at;
}

Shape File::shape_of(hid_t space, const std::string& where) const {
  const int rank = H5Sget_simple_extent_ndims(space);
  hsize_t sizes[H5S_MAX_RANK];
  must<ValueError>(rank, where, "it has no shape");
  must<ValueError>(H5Sget_simple_extent_dims(space, sizes, nullptr), where, "it has no shape");
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    check<ValueError>(sizes[i] <= INT64_MAX, where, "a length of ", sizes[i], " does not fit 63 bits");
    shape.push_back(static_cast<std::int64_t>(sizes[i]));
  }
  return shape;
}

// Compares the declared size of a dataset with its stored size, before memory is allocated.
void File::check_claim(hid_t dataset, const Shape& shape, std::size_t itemsize, const std::string& where) const {
  const Id properties(H5Dget_create_plist(dataset));
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  check<ValueError>(H5Pget_external_count(properties.get()) <= 0 && layout != H5D_VIRTUAL, where,
                    "its data lies in other files, which are not read");
  std::uint64_t size = 0;
  try {
    size = static_cast<std::uint64_t>(catena::checked_size(shape));
  } catch (const ValueError& e) {
    fail<ValueError>(where, e.what());
  }
  hsize_t stored = 0;  // uncompressed: the declared size must not exceed the stored one
  must<ValueError>(H5Fget_filesize(file_.get(), &stored), context_, "its size cannot be found");
  stored = std::min(stored, H5Dget_storage_size(dataset));
  const auto is_claim_fine = [&](std::uint64_t elements) {
    std::uint64_t bytes = 0;
    return !__builtin_mul_overflow(elements, std::uint64_t(itemsize), &bytes) && bytes <= INT64_MAX &&
           (bytes <= kSmall || bytes / kMostExpansion <= std::uint64_t(stored));
  };
  check<ValueError>(is_claim_fine(size), where, "the shape ", shape, " of ", itemsize,
                    "-byte elements is claimed, but only ", stored, " bytes are stored");
  if (layout != H5D_CHUNKED) return;
  hsize_t sizes[H5S_MAX_RANK];
  const int rank = H5Pget_chunk(properties.get(), H5S_MAX_RANK, sizes);
  std::uint64_t chunk = 1;
  for (int i = 0; i < std::min(rank, H5S_MAX_RANK); ++i)
    if (__builtin_mul_overflow(chunk, std::uint64_t(sizes[i]), &chunk)) chunk = UINT64_MAX;
  check<ValueError>(is_claim_fine(chunk), where, "chunks of ", chunk, " elements are claimed, but only ", stored,
                    " bytes are stored");
}

std::optional<NpyArray> File::read_to(const std::string& path, const Place& place) const {
  const Use use;
  const Id dataset = find(path);
  if (!dataset || H5Iget_type(dataset.get()) != H5I_DATASET) return {};
  const std::string where = context_ + ": entry " + path;
  const Id space(must<ValueError>(H5Dget_space(dataset.get()), where, "it has no shape"));
  const Id type(must<ValueError>(H5Dget_type(dataset.get()), where, "it has no element type"));
  NpyArray a;
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    a.descr = "|O";  // None
    return a;
  }
  a.shape = shape_of(space.get(), where);
  const std::size_t stored_size = H5Tget_size(type.get());
  check_claim(dataset.get(), a.shape, stored_size, where);
  if (H5Tget_class(type.get()) == H5T_STRING) return read_text(dataset.get(), type.get(), a.shape, where, place);
  a.dtype = dtype_of(type.get());
  a.descr = a.dtype ? std::string(catena::npy_descr(*a.dtype)) : class_name(H5Tget_class(type.get()));
  if (!a.dtype) return a;
  a.itemsize = catena::itemsize(*a.dtype);
  const Id memory = type_of(a.dtype == Dtype::bool_ ? Dtype::int8 : *a.dtype);
  const std::size_t bytes = static_cast<std::size_t>(a.size()) * a.itemsize;
  if (bytes == 0) return a;
  std::byte* const data = place(bytes);
  must<ValueError>(H5Dread(dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), where,
                   "its data cannot be read");
  if (a.dtype == Dtype::bool_)  // a C++ bool with any other byte would be undefined
    for (std::byte& b : std::span(data, bytes)) b = std::byte(b != std::byte(0));
  return a;
}

// One text, of fixed or of variable length, as kind S without its padding.
NpyArray File::read_text(hid_t dataset, hid_t type, const Shape& shape, const std::string& where,
                         const Place& place) const {
  NpyArray a;
  a.descr = "|S";
  a.shape = shape;
  if (catena::size_of(shape) != 1) return a;  // an array of texts: not needed
  a.shape = {};
  std::string text;
  if (H5Tis_variable_str(type) > 0) {
    const Id memory(H5Tcopy(H5T_C_S1));
    H5Tset_size(memory.get(), H5T_VARIABLE);
    H5Tset_cset(memory.get(), H5Tget_cset(type));
    char* read = nullptr;
    must<ValueError>(H5Dread(dataset, memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &read), where,
                     "its text cannot be read");
    if (read != nullptr) text = read;
    H5free_memory(read);
  } else {
    text.resize(H5Tget_size(type));
    must<ValueError>(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), where,
                     "its text cannot be read");
    if (H5Tget_strpad(type) == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
    else text.resize(std::min(text.find('\0'), text.size()));
  }
  a.itemsize = text.size();
  a.descr += std::to_string(text.size());
  if (!text.empty()) std::memcpy(place(text.size()), text.data(), text.size());
  return a;
}

struct Visit {
  hid_t link_access;
  std::vector<std::string>* found;
};
herr_t note_dataset(hid_t group, const char* name, const H5L_info_t*, void* to) {
  const auto& visit = *static_cast<Visit*>(to);
  const Id object(H5Oopen(group, name, visit.link_access));
  try {
    if (object && H5Iget_type(object.get()) == H5I_DATASET) visit.found->emplace_back(name);
  } catch (...) {  // no exception passes through the library
    return -1;
  }
  return 0;
}

std::vector<std::string> File::datasets(const std::string& group) const {
  const Use use;
  std::vector<std::string> found;
  const Id at = find(group);
  if (!at || H5Iget_type(at.get()) != H5I_GROUP) return found;
  Visit visit{link_access_.get(), &found};
  must<ValueError>(H5Lvisit(at.get(), H5_INDEX_NAME, H5_ITER_INC, note_dataset, &visit), context_,
                   "its entries cannot be listed");
  return found;
}

void File::make_group(const std::string& path) {
  const Use use;
  if (const Id there = find(path)) {
    check<ValueError>(H5Iget_type(there.get()) == H5I_GROUP, context_, "there is a dataset ", path,
                      ", so that no group can have this name");
    return;
  }
  const Id made(must<IOError>(H5Gcreate2(file_.get(), path.c_str(), link_creation_.get(), H5P_DEFAULT, H5P_DEFAULT),
                              context_, "the group ", path, " cannot be made"));
}

void File::write_dataset(const std::string& path, hid_t type, hid_t space, hid_t properties, const void* data) const {
  check<ValueError>(!find(path), context_, "there is an entry ", path, " already");
  H5Pset_obj_track_times(properties, false);  // so that equal content gives equal bytes
  const Id dataset(
      must<IOError>(H5Dcreate2(file_.get(), path.c_str(), type, space, link_creation_.get(), properties, H5P_DEFAULT),
                    context_, "the entry ", path, " cannot be made"));
  if (data == nullptr) return;
  must<IOError>(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), context_, "the entry ", path,
                " cannot be written");
}

void File::write(const std::string& path, Dtype dtype, const Shape& shape, std::span<const std::byte> c_order,
                 std::optional<int> compression) {
  const Use use;
  hsize_t sizes[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
  hsize_t left = std::max<hsize_t>(kChunkBytes / catena::itemsize(dtype), 1);
  for (int i = shape.size() - 1; i >= 0; --i) {  // as many whole rows as fit
    sizes[i] = static_cast<hsize_t>(shape[i]);
    chunk[i] = std::clamp<hsize_t>(sizes[i], 1, left);
    left = std::max<hsize_t>(left / chunk[i], 1);
  }
  const Id space(shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape.size(), sizes, nullptr));
  const Id properties(H5Pcreate(H5P_DATASET_CREATE));
  if (compression && catena::size_of(shape) > 1) {
    check<IOError>(H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0, context_,
                   "this HDF5 library has no gzip: pass std::nullopt");
    H5Pset_chunk(properties.get(), shape.size(), chunk);
    H5Pset_deflate(properties.get(), static_cast<unsigned>(*compression));
  }
  write_dataset(path, type_of(dtype).get(), space.get(), properties.get(), c_order.empty() ? nullptr : c_order.data());
}

void File::write_text(const std::string& path, const std::string& utf8) {
  check<ValueError>(utf8.find('\0') == utf8.npos, context_, "the text ", path, " has a NUL, which HDF5 cannot store");
  const Use use;
  const Id type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const Id space(H5Screate(H5S_SCALAR));
  const Id properties(H5Pcreate(H5P_DATASET_CREATE));
  const char* const text = utf8.c_str();
  write_dataset(path, type.get(), space.get(), properties.get(), &text);
}

std::vector<std::byte> File::image() const {
  const Use use;
  must<IOError>(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), context_, "cannot be completed");
  const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
  must<IOError>(size, context_, "cannot be completed");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  must<IOError>(H5Fget_file_image(file_.get(), bytes.data(), bytes.size()), context_, "cannot be completed");
  return bytes;
}

bool is_written_here(const std::string& filename) {
  const Use use;
  return written_files().contains(identity_of(filename));
}

catena::Owned<Hdf5File> open_file(std::string_view op, const std::string& filename, Hdf5Mode mode) {
  const auto open_here = [op = std::string(op), filename](Hdf5Mode with) {
    return catena::Owned<Hdf5File>(new File(op, filename, with));
  };
  if (mode != Hdf5Mode::read && mode != Hdf5Mode::read_write) return open_here(mode);
  if (is_written_here(filename))
    return open_here(mode);  // no other process can open it, and this process wrote its contents
  catena::Owned<Hdf5File> read =
      open_in_process(op, filename, library_mutex(), [open_here] { return open_here(Hdf5Mode::read); });
  if (mode == Hdf5Mode::read) return read;
  // A file that will be written is opened in this process only after the child has opened all its objects.
  for (const std::string& path : read->datasets("")) static_cast<void>(read->is_dataset(path));
  read.reset();
  return open_here(mode);
}

constexpr Hdf5Module kModule = {open_file};

}  // namespace

const Hdf5Module* catena_nn_hdf5() { return &kModule; }

}  // namespace nn::internal
