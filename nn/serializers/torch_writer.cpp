#include <catena/nn/serializers/torch_writer.h>

#include <bit>
#include <limits>
#include <string_view>
#include <vector>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/zip.h>
#include <catena/nn/serializers/key_style.h>

namespace nn::serializers::internal {

using catena::Dtype;
using Entry = DictionarySerializer::Entry;

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

const char* storage_of(const std::string& key, Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_: return "BoolStorage";
    case Dtype::uint8: return "ByteStorage";
    case Dtype::int8: return "CharStorage";
    case Dtype::int16: return "ShortStorage";
    case Dtype::int32: return "IntStorage";
    case Dtype::int64: return "LongStorage";
    case Dtype::float16: return "HalfStorage";
    case Dtype::bfloat16: return "BFloat16Storage";
    case Dtype::float32: return "FloatStorage";
    case Dtype::float64: return "DoubleStorage";
    case Dtype::complex64: return "ComplexFloatStorage";
    case Dtype::complex128: return "ComplexDoubleStorage";
    default:
      catena::fail<catena::TypeError>("save", "the array of \"", key, "\" is ", dtype,
                                      ", of which PyTorch's files have no storage");
  }
}

// The instructions of a pickle of protocol 2 (Python's module pickletools names them).
class Pickle {
 public:
  Pickle() : bytes_("\x80\x02", 2) {}
  void op(char c) { bytes_ += c; }
  void global(std::string_view module, std::string_view name) {
    bytes_.append("c").append(module).append("\n").append(name).append("\n");
  }
  void text(std::string_view s) {
    op('X');
    little(std::uint64_t(s.size()), 4);
    bytes_ += s;
  }
  void integer(std::int64_t v) {
    if (v >= 0 && v < 256) op('K'), little(std::uint64_t(v), 1);
    else if (v >= std::numeric_limits<std::int32_t>::min() && v <= std::numeric_limits<std::int32_t>::max())
      op('J'), little(std::uint64_t(v), 4);
    else op('\x8a'), little(8, 1), little(std::uint64_t(v), 8);
  }
  void number(double v) {
    op('G');
    const auto bits = std::bit_cast<std::uint64_t>(v);
    for (int k = 8; k-- > 0;) op(char(bits >> (8 * k) & 0xff));
  }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  void little(std::uint64_t v, int n) {
    for (int k = 0; k < n; ++k) op(char(v >> (8 * k) & 0xff));
  }
  std::string bytes_;
};

std::vector<Entry> entries_of(const StateDict& state) {
  std::vector<Entry> entries;
  for (const auto& [key, array] : state) {
    catena::check<catena::TypeError>(bool(array), "save", "the array of \"", key, "\" is null");
    Entry e{.key = key, .dtype = array.dtype(), .shape = array.shape(), .bytes = {}, .text = {}};
    e.bytes.resize(std::size_t(array.size()) * catena::itemsize(array.dtype()));
    autograd::to_host(array, e.bytes.data());
    entries.push_back(std::move(e));
  }
  return state.origin == StateDict::Origin::link ? nn::internal::styled_entries(entries, KeyStyle::pytorch, {})
                                                 : entries;
}

// A file while it is made: the pickle and the storages, of which the pickle has the numbers.
struct Archive {
  Pickle pickle;
  std::vector<Entry> storages;

  // torch._utils._rebuild_tensor_v2(storage, 0, shape, strides, False, OrderedDict()), the storage being the persistent
  // id ("storage", class, key, "cpu", number of elements).
  void tensor(Entry e) {
    std::int64_t size = 1;
    for (int k = 0; k < e.shape.size(); ++k) size *= e.shape[k];
    pickle.global("torch._utils", "_rebuild_tensor_v2");
    pickle.op('(');
    pickle.op('(');
    pickle.text("storage");
    pickle.global("torch", storage_of(e.key, e.dtype));
    pickle.text(std::to_string(storages.size()));
    pickle.text("cpu");
    pickle.integer(size);
    pickle.op('t');
    pickle.op('Q');
    pickle.integer(0);
    pickle.op('(');
    for (int k = 0; k < e.shape.size(); ++k) pickle.integer(e.shape[k]);
    pickle.op('t');
    strides(e.shape);
    pickle.op('\x89');
    pickle.global("collections", "OrderedDict");
    pickle.op(')');
    pickle.op('R');
    pickle.op('t');
    pickle.op('R');
    storages.push_back(std::move(e));
  }
  void dictionary(std::vector<Entry> entries, const std::map<std::string, std::string>& texts) {
    pickle.op('}');
    pickle.op('(');
    for (Entry& e : entries) {
      pickle.text(e.key);
      tensor(std::move(e));
    }
    for (const auto& [key, text] : texts) {
      pickle.text(key);
      pickle.text(text);
    }
    pickle.op('u');
  }
  void part(const NamedState& part) {
    const StateDict& state = part.state();
    if (part.kind() == NamedState::Kind::arrays) {
      const bool is_array = state.size() == 1 && state.begin()->first.empty();
      std::vector<Entry> entries = entries_of(state);
      if (is_array) tensor(std::move(entries[0]));
      else dictionary(std::move(entries), state.texts);
    } else if (part.kind() == NamedState::Kind::text) {
      pickle.text(state.texts.begin()->second);
    } else {
      const catena::Scalar number = autograd::item(state.begin()->second);
      if (part.kind() == NamedState::Kind::integer) pickle.integer(number.to<std::int64_t>());
      else pickle.number(number.to<double>());
    }
  }

 private:
  void strides(const autograd::Shape& shape) {
    pickle.op('(');
    for (int k = 0; k < shape.size(); ++k) {
      std::int64_t step = 1;
      for (int j = k + 1; j < shape.size(); ++j) step *= std::max<std::int64_t>(shape[j], 1);
      pickle.integer(step);
    }
    pickle.op('t');
  }
};

void write_member(catena::ZipWriter& zip, const std::string& name, const void* data, std::size_t n) {
  zip.begin(name, catena::ZipMethod::stored).write(data, n);
  zip.end();
}

}  // namespace

void write_torch(const std::string& filename, const NamedStates& parts) try {
  Archive archive;
  if (parts.size() == 1 && parts[0].first.empty()) archive.part(parts[0].second);
  else {
    archive.pickle.op('}');
    archive.pickle.op('(');
    for (const auto& [name, part] : parts) {
      archive.pickle.text(name);
      archive.part(part);
    }
    archive.pickle.op('u');
  }
  archive.pickle.op('.');
  catena::AtomicFile file("save", filename);
  catena::ZipWriter zip(file);
  const std::string& pickle = archive.pickle.bytes();
  write_member(zip, "archive/data.pkl", pickle.data(), pickle.size());
  write_member(zip, "archive/byteorder", "little", 6);
  for (std::size_t i = 0; i < archive.storages.size(); ++i)
    write_member(zip, catena::concat("archive/data/", i), archive.storages[i].bytes.data(),
                 archive.storages[i].bytes.size());
  write_member(zip, "archive/version", "3\n", 2);
  zip.finish();
  file.commit();
} catch (...) {
  catena::rethrow_standard("save");
}

}  // namespace nn::serializers::internal
