#include <catena/nn/serializers/torch.h>

#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/zip.h>
#include <catena/nn/serializers/torch_pickle.h>

namespace nn::serializers {

using catena::check;
using catena::Dtype;
using catena::fail;
using catena::NpyArray;
using catena::ValueError;
using internal::TorchPickle;
using internal::TorchTensor;

static_assert(std::endian::native == std::endian::little, "numbers are used as they lie in the file");

namespace {

// The pickle of torch's magic number, with which files of versions before 1.6 begin.
constexpr std::string_view kMagic{"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15};
constexpr std::string_view kZip = "PK\x03\x04";
constexpr std::string_view kPickleName = "/data.pkl";

using Bytes = std::vector<std::byte>;

// The storages of a file.
class Storages {
 public:
  virtual ~Storages() = default;
  // Returns n bytes of a storage from byte `from` on. ValueError if it is missing or shorter.
  virtual Bytes read(const std::string& key, std::uint64_t from, std::uint64_t n) const = 0;
};

// A zip archive: data/<key> for each storage.
class ZipStorages final : public Storages {
 public:
  explicit ZipStorages(catena::ZipReader zip) : zip_(std::move(zip)) {
    for (const catena::ZipMember& m : zip_.members())
      if (m.name.ends_with(kPickleName)) folder_ = m.name.substr(0, m.name.size() - kPickleName.size() + 1);
    check<ValueError>(!folder_.empty(), context(), "is no file of torch.save: the archive has no data.pkl");
    check<ValueError>(!has("constants.pkl"), context(), "is a TorchScript program, whose code is not executed: save ",
                      "its state_dict()");
    if (has("byteorder")) {
      const Bytes order = zip_.read(*zip_.find(folder_ + "byteorder"));
      const std::string_view text(reinterpret_cast<const char*>(order.data()), order.size());
      check<ValueError>(text == "little", context(), "its numbers have the byte order ", text, "; little is needed");
    }
  }
  const std::string& context() const noexcept { return zip_.context(); }
  Bytes pickle() const { return zip_.read(*zip_.find(folder_ + "data.pkl")); }
  Bytes read(const std::string& key, std::uint64_t from, std::uint64_t n) const override {
    const catena::ZipMember* const m = zip_.find(folder_ + "data/" + key);
    check<ValueError>(m != nullptr, context(), "the archive lacks the storage ", key);
    check<ValueError>(from <= m->size && n <= m->size - from, context(), "the storage ", key, " has ", m->size,
                      " bytes; ", n, " from byte ", from, " on are needed");
    if (m->size == n) return zip_.read(*m);
    // Tensors that are parts of one storage follow each other, as the weights of recurrent layers do.
    const std::lock_guard lock(shared_mutex_);
    if (shared_key_ != key) {
      shared_ = zip_.read(*m);
      shared_key_ = key;
    }
    return {shared_.begin() + std::ptrdiff_t(from), shared_.begin() + std::ptrdiff_t(from + n)};
  }

 private:
  bool has(const std::string& name) const { return zip_.find(folder_ + name) != nullptr; }

  catena::ZipReader zip_;
  std::string folder_;  // with a slash
  // The last storage of which a part was read. Several threads may read.
  mutable std::mutex shared_mutex_;
  mutable std::string shared_key_;
  mutable Bytes shared_;
};

// Storages behind the pickles of an old file: the number of elements and the bytes of each.
class OldStorages final : public Storages {
 public:
  OldStorages(std::string context, std::string content) : context_(std::move(context)), content_(std::move(content)) {}
  Bytes read(const std::string& key, std::uint64_t from, std::uint64_t n) const override {
    const auto found = places_.find(key);
    check<ValueError>(found != places_.end(), context_, "the file lacks the storage ", key);
    const auto [begin, size] = found->second;
    check<ValueError>(from <= size && n <= size - from, context_, "the storage ", key, " has ", size, " bytes; ", n,
                      " from byte ", from, " on are needed");
    const auto* const first = reinterpret_cast<const std::byte*>(content_.data()) + begin + from;
    return {first, first + n};
  }
  std::string_view content() const noexcept { return content_; }
  // Finds the storages of the given keys, which begin at byte `at`; `itemsizes` are those of the storages that tensors
  // have.
  void find_storages(const catena::PickleNode& keys, std::size_t at,
                     const std::unordered_map<std::string, std::uint64_t>& itemsizes) {
    check<ValueError>(keys.kind == catena::PickleNode::Kind::list, context_, "it has no list of storages");
    for (const catena::PickleNode* key : keys.items) {
      check<ValueError>(content_.size() - at >= sizeof(std::uint64_t), context_, "it ends within the storages");
      std::uint64_t n = 0;
      std::memcpy(&n, content_.data() + at, sizeof(n));
      at += sizeof(n);
      const auto found = itemsizes.find(key->text);
      check<ValueError>(found != itemsizes.end(), context_, "no tensor has the storage ", key->text,
                        ", so that its size is not known");
      check<ValueError>(n <= (content_.size() - at) / found->second, context_, "it ends within the storage ",
                        key->text);
      places_[key->text] = {at, n * found->second};
      at += n * found->second;
    }
  }

 private:
  std::string context_, content_;
  std::unordered_map<std::string, std::pair<std::size_t, std::uint64_t>> places_;  // first byte, number of bytes
};

// Returns the elements of a tensor in C order from those of its storage, of which `stored` begins with the first one.
Bytes in_c_order(const TorchTensor& t, const Bytes& stored) {
  const std::size_t item = catena::itemsize(*t.dtype);
  Bytes result(static_cast<std::size_t>(t.size) * item);
  catena::Dims index = catena::Dims::filled(t.shape.size(), 0);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < result.size(); i += item) {
    std::memcpy(result.data() + i, stored.data() + std::size_t(at) * item, item);
    for (int k = t.shape.size(); k-- > 0;) {
      at += t.strides[k];
      if (++index[k] < t.shape[k]) break;
      at -= t.strides[k] * t.shape[k];
      index[k] = 0;
    }
  }
  return result;
}

bool is_contiguous(const TorchTensor& t) {
  std::int64_t step = 1;
  for (int k = t.shape.size(); k-- > 0;) {
    if (t.shape[k] != 1 && t.strides[k] != step) return false;
    step *= t.shape[k];
  }
  return true;
}

Bytes number_bytes(const TorchTensor& t) {
  Bytes bytes(catena::itemsize(*t.dtype));
  if (*t.dtype == Dtype::float64) std::memcpy(bytes.data(), &*t.number, bytes.size());
  else std::memcpy(bytes.data(), &t.integer, bytes.size());
  return bytes;
}

class TorchFile final : public NamedTensors {
 public:
  TorchFile(std::string context, const TorchPickle& pickle, catena::Owned<Storages> storages)
      : context_(std::move(context)),
        tensors_(pickle.tensors()),
        texts_(pickle.texts()),
        storages_(std::move(storages)) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].name] = i;
  }
  const std::string& context() const noexcept override { return context_; }
  std::vector<std::string> keys() const override {
    std::vector<std::string> names;
    for (const TorchTensor& t : tensors_) names.push_back(t.name);
    return names;
  }
  std::map<std::string, std::string> texts() const override { return texts_; }
  std::optional<NpyArray> read(std::string_view name) const override {
    const auto found = index_.find(name);
    if (found == index_.end()) return {};
    const TorchTensor& t = tensors_[found->second];
    NpyArray a;
    a.shape = t.shape;
    a.descr = t.dtype_name;
    if (!t.dtype) return a;
    a.dtype = t.dtype;
    a.descr = catena::npy_descr(*t.dtype);
    a.itemsize = catena::itemsize(*t.dtype);
    a.data = t.number ? number_bytes(t) : elements(t);
    if (*t.dtype == Dtype::bool_)
      for (std::byte& b : a.data) b = std::byte(b != std::byte{0});
    return a;
  }

 private:
  Bytes elements(const TorchTensor& t) const {
    if (t.size == 0) return {};
    std::int64_t last = 0;  // the offset of the last element; the pickle's reader has checked that it fits
    for (int k = 0; k < t.shape.size(); ++k) last += (t.shape[k] - 1) * t.strides[k];
    const std::uint64_t item = catena::itemsize(*t.dtype);
    Bytes stored = storages_->read(t.storage, std::uint64_t(t.offset) * item, std::uint64_t(last + 1) * item);
    return is_contiguous(t) ? stored : in_c_order(t, stored);
  }

  std::string context_;
  std::vector<TorchTensor> tensors_;
  std::map<std::string, std::string> texts_;
  std::unordered_map<std::string_view, std::size_t> index_;  // the names are those of the tensors
  catena::Owned<Storages> storages_;
};

catena::Shared<const NamedTensors> shared(catena::Owned<NamedTensors> file) {
  const NamedTensors* const kept = file.get();
  return catena::Shared<const NamedTensors>::kept_by(kept, std::move(file));
}

std::string_view text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

catena::Shared<const NamedTensors> open_archive(std::string_view op, const std::string& filename) {
  ZipStorages* const archive = new ZipStorages(catena::ZipReader(op, filename));
  catena::Owned<Storages> storages(archive);
  const std::string context = archive->context();
  const Bytes pickle = archive->pickle();
  const TorchPickle value(context, text_of(pickle));
  return shared(catena::Owned<NamedTensors>(new TorchFile(context, value, std::move(storages))));
}

// Five pickles: the magic number, the version of the format, sizes of the machine, the value, the keys of the storages.
catena::Shared<const NamedTensors> open_old(const std::string& context, std::string content) {
  OldStorages* const file = new OldStorages(context, std::move(content));
  catena::Owned<Storages> storages(file);
  std::string_view rest = file->content().substr(kMagic.size());
  const TorchPickle version(context, rest);
  rest.remove_prefix(version.length());
  const TorchPickle machine(context, rest);
  rest.remove_prefix(machine.length());
  check<ValueError>(machine.member("little_endian", catena::PickleNode::Kind::boolean).integer != 0, context,
                    "its numbers have the byte order big; little is needed");
  const TorchPickle value(context, rest);
  rest.remove_prefix(value.length());
  const TorchPickle keys(context, rest);
  rest.remove_prefix(keys.length());
  file->find_storages(keys.root(), file->content().size() - rest.size(), value.storages());
  return shared(catena::Owned<NamedTensors>(new TorchFile(context, value, std::move(storages))));
}

}  // namespace

catena::Shared<const NamedTensors> open_torch(const std::string& filename, std::string_view op) {
  const std::string context = catena::io_context(op, filename);
  std::string begin(kMagic.size(), '\0');
  {
    catena::FileSource file(op, filename);
    begin.resize(file.read(begin.data(), begin.size()));
  }
  if (begin.starts_with(kZip)) return open_archive(op, filename);
  if (begin == kMagic) return open_old(context, catena::read_file(op, filename));
  fail<ValueError>(context, "is no file of torch.save",
                   begin.starts_with('\x80') ? ": it is a pickle of something else"
                                             : ", which begins with the signature of a zip archive or of a pickle; "
                                               "files of PyTorch before 0.1.10 (tar archives) are not read");
}

}  // namespace nn::serializers
