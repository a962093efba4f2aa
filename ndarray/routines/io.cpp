#include <catena/ndarray/routines/io.h>

#include <algorithm>
#include <cstddef>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>

#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npz.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/array_reader.h>
#include <catena/ndarray/routines/element_format.h>

namespace nd {

using catena::check;
using catena::fail;

namespace {

// The elements of an array in C order on the host: the array's memory if possible, else a copy.
class HostElements {
 public:
  explicit HostElements(const Array& a) {
    if (a.device().kind == Device::Kind::cpu) {
      packed_ = internal::contiguous(a);
      bytes_ = {packed_->data, packed_.nbytes()};
    } else {
      memory_.resize(a.nbytes());
      internal::to_host(a, memory_.data());
      bytes_ = memory_;
    }
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Array packed_;
  std::vector<std::byte> memory_;
  std::span<const std::byte> bytes_;
};

// For a source of unknown length, the size in the header cannot be checked, so memory grows with the data.
Array read_growing(catena::ByteSource& source) {
  const catena::NpyArray n = catena::read_npy(source);
  check<ValueError>(n.dtype.has_value(), source.context(), "element type '", n.descr, "' is not supported");
  const Array a(internal::new_array(n.shape, *n.dtype, current_device(), source.context()));
  internal::from_host(a, n.data.data());
  return a;
}

// Reads the elements directly into the array's memory; on a GPU, through pinned buffers.
Array read_array(catena::NpyStream& stream) {
  const Array a = internal::array_from_reader(stream.shape_in_file(), stream.dtype(), current_device(),
                                              [&](void* to, std::size_t bytes) { stream.read(to, bytes); });
  return stream.is_transposed() ? a.transpose().copy() : a;
}

void write_array(catena::ByteSink& sink, const Array& a) {
  catena::write_npy(sink, a.dtype(), a.shape(), HostElements(a).bytes());
}
void write_file(std::string_view op, const std::string& path, const Array& a) {
  const HostElements elements(a);  // before the file, so that a failure on the device leaves no file
  catena::AtomicFile file(op, path);
  catena::write_npy(file, a.dtype(), a.shape(), elements.bytes());
  file.commit();
}

bool is_archive(const std::string& path) {
  unsigned char head[2] = {};
  catena::FileSource file("load", path);
  return file.read(head, 2) == 2 && head[0] == 'P' && head[1] == 'K';
}

std::string with_suffix(const std::string& path, std::string_view suffix) {
  return path.ends_with(suffix) ? path : path + std::string(suffix);
}

void check_arrays(std::string_view op, const NamedArrays& arrays) {
  for (const auto& [name, a] : arrays) check<TypeError>(!a.is_null(), op, "the array \"", name, "\" is null");
}

void write_archive(catena::ByteSink& sink, const NamedArrays& arrays, bool compressed) {
  catena::NpzWriter npz(sink, compressed);
  for (const auto& [name, a] : arrays) npz.add(name, a.dtype(), a.shape(), HostElements(a).bytes());
  npz.finish();
}

void write_archive(std::string_view op, const std::string& path, const NamedArrays& arrays, bool compressed) try {
  check_arrays(op, arrays);
  catena::AtomicFile file(op, with_suffix(path, ".npz"));
  write_archive(file, arrays, compressed);
  file.commit();
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

void write_archive(std::string_view op, std::ostream& out, const NamedArrays& arrays, bool compressed) try {
  check_arrays(op, arrays);
  catena::StreamSink sink(catena::io_context(op, "stream"), out);
  write_archive(sink, arrays, compressed);
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

NamedArrays numbered(const std::vector<Array>& arrays, const NamedArrays& named) {
  NamedArrays all;
  for (std::size_t i = 0; i < arrays.size(); ++i) all.emplace_back("arr_" + std::to_string(i), arrays[i]);
  all.insert(all.end(), named.begin(), named.end());
  return all;
}

}  // namespace

// ---- npy ----------------------------------------------------------------------------------------
namespace {

void check_mmap_mode(std::optional<std::string_view> mode) {
  const bool known = !mode || *mode == "r" || *mode == "r+" || *mode == "w+" || *mode == "c";
  check<ValueError>(known, "load", "mmap_mode '", mode.value_or(""), "' is none of r, r+, w+ and c");
}

}  // namespace

LoadedFile load(const std::string& path, std::optional<std::string_view> mmap_mode) try {
  check_mmap_mode(mmap_mode);
  catena::Owned<catena::ByteSource> file(new catena::FileSource("load", path));
  const std::string context = file->context();
  if (!file->remaining()) return {read_growing(*file), context};  // a pipe
  if (is_archive(path)) return {NpzFile(path), context};
  catena::NpyStream stream(std::move(file));
  return {read_array(stream), context};
} catch (...) {
  internal::rethrow_out_of_memory("load");
}

LoadedFile load(std::istream& in, std::optional<std::string_view> mmap_mode) try {
  check_mmap_mode(mmap_mode);
  const std::string context = catena::io_context("load", "stream");
  if (in.peek() == 'P') return {NpzFile(in), context};  // an npy file begins with \x93
  catena::StreamSource source(context, in);
  return {read_growing(source), context};
} catch (...) {
  internal::rethrow_out_of_memory("load");
}

Array LoadedFile::single_output() const try {
  check<ValueError>(!is_archive_, context_,
                    "is an npz archive of several arrays, not one array: take it as an nd::NpzFile");
  return static_cast<const Array&>(*this);  // the base class, not this function
} catch (...) {
  internal::rethrow_out_of_memory("load");
}

const NpzFile& LoadedFile::archive() const try {
  check<ValueError>(is_archive_, context_, "is an array, not an npz archive");
  return archive_;
} catch (...) {
  internal::rethrow_out_of_memory("load");
}

void save(const std::string& path, const Array& a) try {
  check<TypeError>(!a.is_null(), "save", "the array is null");
  write_file("save", with_suffix(path, ".npy"), a);
} catch (...) {
  internal::rethrow_out_of_memory("save");
}

void save(std::ostream& out, const Array& a) try {
  check<TypeError>(!a.is_null(), "save", "the array is null");
  catena::StreamSink sink(catena::io_context("save", "stream"), out);
  write_array(sink, a);
} catch (...) {
  internal::rethrow_out_of_memory("save");
}

// ---- members of Array ---------------------------------------------------------------------------
namespace {

void write_elements(catena::ByteSink& sink, const Array& a, std::string_view sep, std::string_view format) {
  if (sep.empty()) {
    const HostElements elements(a);
    return sink.write(elements.bytes().data(), elements.bytes().size());
  }
  const internal::ElementFormat text_of("tofile", format);
  visit_dtype(a.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    std::string_view before;
    for (const E value : a.to_vector<E>()) {
      const std::string text = text_of(Scalar(value));
      sink.write(before.data(), before.size());
      sink.write(text.data(), text.size());
      before = sep;
    }
  });
}

}  // namespace

void Array::tofile(const std::string& path, std::string_view sep, std::string_view format) const try {
  catena::AtomicFile file("tofile", path);
  write_elements(file, *this, sep, format);
  file.commit();
} catch (...) {
  internal::rethrow_out_of_memory("tofile");
}

std::string Array::tobytes(OrderLike order) const try {
  const Array line = ravel(order).to_host();
  return std::string(reinterpret_cast<const char*>(line->data), line.nbytes());
} catch (...) {
  internal::rethrow_out_of_memory("tobytes");
}

void Array::tofile(std::ostream& out, std::string_view sep, std::string_view format) const try {
  catena::StreamSink sink(catena::io_context("tofile", "stream"), out);
  write_elements(sink, *this, sep, format);
} catch (...) {
  internal::rethrow_out_of_memory("tofile");
}

void Array::dump(const std::string& path) const { write_file("dump", path, *this); }

std::string Array::dumps() const try {
  catena::MemorySink sink;
  write_array(sink, *this);
  const auto& bytes = sink.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
} catch (...) {
  internal::rethrow_out_of_memory("dumps");
}

// ---- npz ----------------------------------------------------------------------------------------
void savez(const std::string& path, const NamedArrays& arrays) { write_archive("savez", path, arrays, false); }
void savez(const std::string& path, const std::vector<Array>& arrays, const NamedArrays& named) {
  savez(path, numbered(arrays, named));
}
void savez(std::ostream& out, const NamedArrays& arrays) { write_archive("savez", out, arrays, false); }

void savez_compressed(const std::string& path, const NamedArrays& arrays) {
  write_archive("savez_compressed", path, arrays, true);
}
void savez_compressed(const std::string& path, const std::vector<Array>& arrays, const NamedArrays& named) {
  savez_compressed(path, numbered(arrays, named));
}
void savez_compressed(std::ostream& out, const NamedArrays& arrays) {
  write_archive("savez_compressed", out, arrays, true);
}

NpzFile::NpzFile(const std::string& path)
    : path_(path), reader_(catena::Shared<const catena::NpzReader>::make("loadz", path)) {}

namespace {

// The rest of a stream, for a zip reader, which reads in any order.
class StreamContent final : public catena::RandomAccess {
 public:
  explicit StreamContent(std::istream& in) : content_(std::istreambuf_iterator<char>(in), {}), access_(bytes()) {}
  std::uint64_t size() const override { return access_.size(); }
  void read_at(std::uint64_t position, void* to, std::size_t n) const override { access_.read_at(position, to, n); }

 private:
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(content_)); }
  const std::string content_;
  const catena::MemoryAccess access_;
};

}  // namespace

NpzFile::NpzFile(std::istream& in)
    : path_("stream"),
      reader_(catena::Shared<const catena::NpzReader>::make(
          catena::ZipReader(catena::io_context("loadz", path_), std::make_unique<StreamContent>(in)))) {}

const catena::NpzReader& NpzFile::reader() const try {
  check<ValueError>(reader_ != nullptr, catena::io_context("loadz", path_), "has been closed");
  return *reader_;
} catch (...) {
  internal::rethrow_out_of_memory("load");
}

std::vector<std::string> NpzFile::keys() const { return reader().keys(); }
bool NpzFile::contains(std::string_view key) const { return reader().contains(key); }

Array NpzFile::at(std::string_view key) const try {
  catena::NpyStream stream = reader().stream(key);
  const Array a = read_array(stream);
  stream.finish();
  return a;
} catch (...) {
  internal::rethrow_out_of_memory("load");
}

NpzFile loadz(const std::string& path) { return NpzFile(path); }

}  // namespace nd
