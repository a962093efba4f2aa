#include <catena/nn/serializers/key_style.h>

#include <cstring>
#include <unordered_set>

#include <catena/kernels/base/scalar.h>

namespace nn::internal {

using catena::check;
using catena::NpyArray;
using catena::NpyStream;
using catena::ValueError;
using serializers::DictionarySerializer;
using Entry = DictionarySerializer::Entry;

namespace {

struct Name {
  std::string_view ours, pytorch;
};
constexpr Name kNames[] = {{"W", "weight"},
                           {"b", "bias"},
                           {"gamma", "weight"},
                           {"beta", "bias"},
                           {"avg_mean", "running_mean"},
                           {"avg_var", "running_var"},
                           {"N", "num_batches_tracked"}};

// Names of the arrays of an LSTM link and of PyTorch's nn.LSTM, whose bias is the sum of two.
struct GateName {
  std::string_view ours, pytorch, added;
};
constexpr GateName kGates[] = {
    {"upward/W", "weight_ih_l0", ""}, {"upward/b", "bias_ih_l0", "bias_hh_l0"}, {"lateral/W", "weight_hh_l0", ""}};
// For each gate of nn.LSTM (i, f, g, o): its position among the gates of a unit of the link (a, i, f, o).
constexpr std::int64_t kGateOf[] = {1, 2, 0, 3};

// True if `key` is `end` or ends with "/" and `end`; `parent` becomes the part before.
bool ends_with(std::string_view key, std::string_view end, std::string_view& parent) {
  if (!key.ends_with(end)) return false;
  parent = key.substr(0, key.size() - end.size());
  if (parent.empty()) return true;
  if (parent.back() != '/') return false;
  parent.remove_suffix(1);
  return true;
}

std::string joined(std::string_view parent, std::string_view name, char separator) {
  return parent.empty() ? std::string(name) : std::string(parent) + separator + std::string(name);
}

std::string with_dots(std::string_view path) {
  std::string result(path);
  for (char& c : result)
    if (c == '/') c = '.';
  return result;
}

KeyRenames plain(const KeyRenames& rename) {
  KeyRenames result;
  for (const auto& [ours, theirs] : rename) result.emplace_back(without_slashes(ours), theirs);
  return result;
}

using Rename = KeyRenames::value_type;

// Returns the first pair for `key` or for a link that contains it; null if there is none.
const Rename* rename_of(const KeyRenames& rename, std::string_view key) {
  for (const Rename& r : rename) {
    const std::string& ours = r.first;
    if (!key.starts_with(ours)) continue;
    if (ours.empty() || key.size() == ours.size() || key[ours.size()] == '/') return &r;
  }
  return nullptr;
}
bool is_of_whole(const Rename* r, std::string_view key) { return r != nullptr && r->first == key; }

// Returns the file's name of `path`; `r` (may be null) renames the first part.
std::string styled_path(KeyStyle style, const Rename* r, std::string_view path) {
  const bool dots = style == KeyStyle::pytorch;
  if (r == nullptr) return dots ? with_dots(path) : std::string(path);
  std::string_view rest = path.substr(r->first.size());
  if (rest.empty()) return r->second;
  if (rest.front() == '/') rest.remove_prefix(1);
  return joined(r->second, dots ? with_dots(rest) : std::string(rest), dots ? '.' : '/');
}

std::string name_of(KeyStyle style, const KeyRenames& rename, const std::string& key) {
  const Rename* const r = rename_of(rename, key);
  if (is_of_whole(r, key)) return r->second;
  if (style == KeyStyle::chainer) return styled_path(style, r, key);
  const std::size_t slash = key.rfind('/');
  const std::string_view parent = slash == key.npos ? std::string_view() : std::string_view(key).substr(0, slash);
  std::string_view last = std::string_view(key).substr(slash == key.npos ? 0 : slash + 1);
  for (const Name& n : kNames)
    if (last == n.ours) {
      last = n.pytorch;
      break;
    }
  return joined(styled_path(style, r, parent), last, '.');
}

// The file's names of an array of gates, and of the array to be added to it (empty: none).
struct GateEntry {
  std::string name, added;
};

// A pair that renames a whole key gives an array of gates if the new name is that of an array of nn.LSTM, of any layer.
std::optional<GateEntry> renamed_gates(const std::string& name) {
  for (const std::string_view part : {"weight_ih_l", "weight_hh_l", "bias_hh_l"})
    if (name.find(part) != name.npos) return GateEntry{name, ""};
  const std::string_view bias = "bias_ih_l";
  const std::size_t at = name.rfind(bias);
  if (at == name.npos) return {};
  return GateEntry{name, std::string(name).replace(at, bias.size(), "bias_hh_l")};
}

std::optional<GateEntry> gates_of(KeyStyle style, const KeyRenames& rename, const std::string& key,
                                  std::string_view& parent) {
  if (style != KeyStyle::pytorch) return {};
  for (const GateName& g : kGates) {
    if (!ends_with(key, g.ours, parent)) continue;
    const Rename* r = rename_of(rename, key);
    if (is_of_whole(r, key)) return renamed_gates(r->second);
    // A pair that renames the child ("upward") does not make the key an array of gates: only its path is renamed.
    if (r != nullptr && r->first.size() > parent.size()) return {};
    const std::string path = styled_path(style, r, parent);
    return GateEntry{joined(path, g.pytorch, '.'), g.added.empty() ? "" : joined(path, g.added, '.')};
  }
  return {};
}

// Moves row `gate` * n + `unit` to row 4 `unit` + (position of the gate), or back.
std::vector<std::byte> reordered(const std::string& key, const autograd::Shape& shape, std::size_t itemsize,
                                 const std::vector<std::byte>& bytes, bool to_pytorch) {
  check<ValueError>(!shape.empty() && shape[0] % 4 == 0, "LSTM", "the entry ", key, " has the shape ", shape,
                    ", which is not that of four gates");
  std::size_t row = itemsize;
  for (int k = 1; k < shape.size(); ++k) row *= static_cast<std::size_t>(shape[k]);
  check<ValueError>(bytes.size() == row * static_cast<std::size_t>(shape[0]), "LSTM", "the entry ", key, " has ",
                    bytes.size(), " bytes, which is not the size of shape ", shape);
  std::vector<std::byte> result(bytes.size());
  if (bytes.empty()) return result;
  const std::int64_t n = shape[0] / 4;
  for (std::int64_t gate = 0; gate < 4; ++gate)
    for (std::int64_t unit = 0; unit < n; ++unit) {
      const auto theirs = static_cast<std::size_t>(gate * n + unit) * row;
      const auto ours = static_cast<std::size_t>(4 * unit + kGateOf[gate]) * row;
      std::memcpy(result.data() + (to_pytorch ? theirs : ours), bytes.data() + (to_pytorch ? ours : theirs), row);
    }
  return result;
}

// 16-bit floats are added in float32: PyTorch adds the products, not the biases, so the sum of the biases must not be
// rounded.
NpyArray sum(const std::string& name, const NpyArray& a, const NpyArray& b) {
  check<ValueError>(a.dtype && a.dtype == b.dtype && a.shape == b.shape, "LSTM", "the entry ", name, " has ", b.descr,
                    " of shape ", b.shape, ", but it is to be added to ", a.descr, " of shape ", a.shape);
  NpyArray result = a;
  result.dtype = catena::compute_dtype(*a.dtype);
  result.descr = catena::npy_descr(*result.dtype);
  result.itemsize = catena::itemsize(*result.dtype);
  const auto n = static_cast<std::size_t>(a.size());
  result.data.resize(n * result.itemsize);
  catena::visit_real_dtype("LSTM", *a.dtype, [&](auto from) {
    catena::visit_real_dtype("LSTM", *result.dtype, [&](auto to) {
      using From = typename decltype(from)::type;
      using To = typename decltype(to)::type;
      for (std::size_t i = 0; i < n; ++i) {
        From x, y;
        std::memcpy(&x, a.data.data() + i * sizeof(From), sizeof(From));
        std::memcpy(&y, b.data.data() + i * sizeof(From), sizeof(From));
        const To z = catena::convert<To>(catena::convert<double>(x) + catena::convert<double>(y));
        std::memcpy(result.data.data() + i * sizeof(To), &z, sizeof(To));
      }
    });
  });
  return result;
}

}  // namespace

LoadOptions with_plain_renames(const LoadOptions& options) {
  LoadOptions result = options;
  result.rename = plain(options.rename);
  return result;
}

std::string name_in_pytorch(const std::string& key) { return name_of(KeyStyle::pytorch, {}, key); }

std::vector<std::string> styled_names(const LoadOptions& options, const std::string& key) {
  std::string_view parent;
  std::vector<std::string> result;
  if (std::optional<GateEntry> gates = gates_of(options.style, options.rename, key, parent)) {
    result.push_back(std::move(gates->name));
    if (!gates->added.empty()) result.push_back(std::move(gates->added));
  }
  std::string name = name_of(options.style, options.rename, key);
  if (result.empty() || result.front() != name) result.push_back(std::move(name));
  return result;
}

catena::Owned<NpyStream> open_styled(const LoadOptions& options, const std::string& key, const Open& open) {
  std::string_view parent;
  if (const std::optional<GateEntry> gates = gates_of(options.style, options.rename, key, parent)) {
    if (catena::Owned<NpyStream> found = open(gates->name)) {
      if (!found->header().dtype) return found;  // no array has such a type: the caller throws the error
      NpyArray array = found->read_all();
      if (!gates->added.empty())
        if (const catena::Owned<NpyStream> other = open(gates->added))
          array = sum(gates->added, array, other->read_all());
      array.data = reordered(key, array.shape, catena::itemsize(*array.dtype), array.data, false);
      return catena::Owned<NpyStream>(new NpyStream(gates->name, std::move(array)));
    }
  }
  return open(name_of(options.style, options.rename, key));
}

bool may_be_missing(const LoadOptions& options, const std::string& key) {
  std::string_view parent;
  return options.style == KeyStyle::pytorch && ends_with(key, "N", parent);
}

std::vector<Entry> styled_entries(const std::vector<Entry>& entries, KeyStyle style, const KeyRenames& renames) {
  const KeyRenames rename = plain(renames);
  std::unordered_set<std::string> keys;
  for (const Entry& e : entries) keys.insert(e.key);
  std::vector<Entry> result;
  for (const Entry& e : entries) {
    std::string_view parent;
    const std::optional<GateEntry> gates = gates_of(style, rename, e.key, parent);
    result.push_back(e);
    // A link named "upward" need not belong to an LSTM.
    const bool is_lstm =
        gates && keys.contains(joined(parent, "upward/W", '/')) && keys.contains(joined(parent, "lateral/W", '/'));
    if (!is_lstm) {
      result.back().key = name_of(style, rename, e.key);
      continue;
    }
    result.back().key = gates->name;
    result.back().bytes = reordered(e.key, e.shape, catena::itemsize(e.dtype), e.bytes, true);
    if (gates->added.empty()) continue;
    Entry zeros = e;
    zeros.key = gates->added;
    zeros.bytes.assign(e.bytes.size(), std::byte{0});
    result.push_back(std::move(zeros));
  }
  return result;
}

}  // namespace nn::internal
