#include <catena/nn/serializers/serializer.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <unordered_set>

#include <catena/autograd/array_reader.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/scalar.h>
#include <catena/kernels/formats/npy_stream.h>
#include <catena/nn/parameter.h>
#include <catena/nn/serializers/key_style.h>

namespace nn {

bool IgnoreNames::operator()(const std::string& key) const {
  return std::find(names_.begin(), names_.end(), key) != names_.end() || (predicate_ && predicate_(key));
}

std::string LoadReport::to_string() const {
  std::string text = std::to_string(loaded.size()) + " loaded";
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += "\n" + std::to_string(names.size()) + " " + what + ":";
    for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? " " : ", ") + names[i];
  };
  add("missing", missing);
  add("unexpected", unexpected);
  add("ignored", ignored);
  return text;
}
std::ostream& operator<<(std::ostream& out, const LoadReport& report) { return out << report.to_string(); }

std::string internal::without_slashes(std::string_view path) {
  const std::size_t begin = path.find_first_not_of('/');
  if (begin == path.npos) return {};
  return std::string(path.substr(begin, path.find_last_not_of('/') + 1 - begin));
}

using autograd::Array;
using autograd::Dtype;
using catena::check;
using catena::KeyError;
using catena::NpyArray;
using catena::NpyStream;
using catena::Owned;
using catena::TypeError;
using catena::ValueError;

Serializer::Serializer(const LoadOptions& options)
    : path_(internal::without_slashes(options.path)),
      strict_(options.strict),
      options_(catena::Shared<const LoadOptions>::make(internal::with_plain_renames(options))) {}
Serializer::~Serializer() = default;
std::vector<std::string> Serializer::keys() const { return {}; }
void Serializer::store(const std::string&, Dtype, const autograd::Shape&, std::span<const std::byte>) {}
void Serializer::store_text(const std::string&, std::string_view) {}
std::optional<NpyArray> Serializer::fetch(const std::string&) const { return {}; }
Owned<NpyStream> Serializer::open(const std::string& path) const {
  std::optional<NpyArray> found = fetch(path);
  if (!found) return {};
  return Owned<NpyStream>(new NpyStream(source(), *std::move(found)));
}

std::string Serializer::join(std::string_view key) const {
  while (!key.empty() && key.front() == '/') key.remove_prefix(1);
  while (!key.empty() && key.back() == '/') key.remove_suffix(1);
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : path_ + "/" + std::string(key);
}

std::string Serializer::where(std::string_view key) const { return source() + ": entry " + join(key); }

catena::Owned<Serializer> Serializer::operator[](std::string_view key) const {
  catena::Owned<Serializer> result = child(join(key));
  result->state_ = state_;
  result->options_ = options_;
  return result;
}

bool Serializer::has_names_of_its_own() const noexcept {
  return options_ && (options_->style != KeyStyle::chainer || !options_->rename.empty());
}
bool Serializer::ignores(const std::string& path) const { return options_ && options_->ignore_names(path); }

bool Serializer::contains(std::string_view key) const {
  const std::string full = join(key);
  return !is_writer() && !ignores(full) && open_named(full, false);
}
std::optional<NpyArray> Serializer::stored(std::string_view key) const {
  const Owned<NpyStream> found = is_writer() ? Owned<NpyStream>() : open_and_note(key);
  if (!found) return {};
  return found->read_all();
}

Owned<NpyStream> Serializer::open_named(const std::string& path, bool note) const {
  const auto by_name = [&](const std::string& name) {
    Owned<NpyStream> found = open(name);
    if (found && note && state_) state_->asked.push_back(name);
    return found;
  };
  return has_names_of_its_own() ? internal::open_styled(*options_, path, by_name) : by_name(path);
}

Owned<NpyStream> Serializer::open_and_note(std::string_view key) const {
  const std::string full = join(key);
  if (ignores(full)) {
    if (state_) {
      state_->report.ignored.push_back(full);
      if (!has_names_of_its_own()) state_->asked.push_back(full);
      else
        for (std::string& name : internal::styled_names(*options_, full)) state_->asked.push_back(std::move(name));
    }
    return {};
  }
  Owned<NpyStream> found = open_named(full, true);
  if (found && state_) state_->report.loaded.push_back(full);
  return found;
}

Owned<NpyStream> Serializer::require(std::string_view key) const {
  Owned<NpyStream> found = open_and_note(key);
  if (found) return found;
  const std::string full = join(key);
  if (ignores(full) || (options_ && internal::may_be_missing(*options_, full))) return found;
  if (strict_) {
    std::string name = full;
    if (has_names_of_its_own()) {
      const std::vector<std::string> names = internal::styled_names(*options_, full);
      name = names.size() > 1 ? names.front() + " or " + names.back() : names.front();
    }
    const std::string key_of = name == full ? "" : " (for " + full + ")";
    catena::fail<KeyError>(source(), "there is no entry ", name, key_of);
  }
  if (state_) state_->report.missing.push_back(full);
  return found;
}

// Returns the entry with its elements, for values on the host. None counts as a missing entry.
std::optional<NpyArray> Serializer::require_array(std::string_view key) const {
  const Owned<NpyStream> found = require(key);
  if (!found || found->is_none()) return {};
  return found->read_all();
}

// ---- loads as a whole ---------------------------------------------------------------------------

Serializer::Transaction::Transaction(Serializer& s) : serializer_(s) {
  if (s.is_writer()) return;
  if (!s.state_) s.state_ = catena::Shared<LoadState>::make();
  if (s.state_->transactions++ == 0) {
    s.state_->report = {};
    s.state_->asked.clear();
  }
  start_ = s.state_->undo.size();
}

Serializer::Transaction::~Transaction() {
  if (serializer_.is_writer()) return;
  LoadState& state = *serializer_.state_;
  if (!committed_) {
    for (; state.undo.size() > start_; state.undo.pop_back()) {
      try {
        state.undo.back()();
      } catch (const catena::Error&) {  // the error that ended the load is the one to report
      }
    }
  }
  if (--state.transactions == 0) state.undo.clear();
}

void Serializer::on_rollback(catena::Function<void()> undo) {
  if (in_transaction()) state_->undo.push_back(std::move(undo));
}

namespace {

// HDF5 treats doubled slashes as one.
std::string with_single_slashes(std::string path) {
  const auto both = [](char a, char b) { return a == '/' && b == '/'; };
  path.erase(std::unique(path.begin(), path.end(), both), path.end());
  return path;
}

}  // namespace

LoadReport Serializer::report() const {
  if (!state_) return {};
  LoadReport result = state_->report;
  std::unordered_set<std::string> asked;
  for (const std::string& name : state_->asked) asked.insert(with_single_slashes(name));
  for (const std::string& key : keys()) {
    std::string name = has_names_of_its_own() ? key : join(key);
    if (!asked.contains(with_single_slashes(name))) result.unexpected.push_back(std::move(name));
  }
  for (const std::string& key : result.missing) result.missing_keys.push_back(internal::name_in_pytorch(key));
  for (const std::string& key : result.unexpected) result.unexpected_keys.push_back(internal::name_in_pytorch(key));
  return result;
}

namespace {

// A stored dtype may be converted to one of the same or a later kind in the order bool, integer < float < complex.
void check_load_cast(const std::string& where, Dtype from, Dtype to) {
  const bool loses = kind_of(from) >= catena::DtypeKind::floating && kind_of(from) > kind_of(to);
  check<TypeError>(!loses, where, "cannot load ", from, " values into an array of ", to);
}

// Reads all elements of an entry to a device.
Array read_array(NpyStream& entry, autograd::Backend& backend, autograd::Device device) {
  const Array a = autograd::array_from_reader(backend, entry.shape_in_file(), entry.dtype(), device,
                                              [&](void* to, std::size_t bytes) { entry.read(to, bytes); });
  entry.finish();
  return entry.is_transposed() ? autograd::transpose(a) : a;
}

void convert_bytes(Dtype from, const std::byte* in, Dtype to, std::byte* out, std::int64_t n) {
  catena::visit_dtype(from, [&](auto f) {
    catena::visit_dtype(to, [&](auto t) {
      using F = typename decltype(f)::type;
      using T = typename decltype(t)::type;
      for (std::int64_t i = 0; i < n; ++i) {
        F v;
        std::memcpy(&v, in + i * std::int64_t(sizeof(F)), sizeof(F));
        const T r = catena::convert<T>(v);
        std::memcpy(out + i * std::int64_t(sizeof(T)), &r, sizeof(T));
      }
    });
  });
}

// A number that is to become an integer, which drops its fraction.
void check_integer(const std::string& where, const NpyArray& number) {
  if (!catena::is_floating(*number.dtype)) return;
  double value = 0;
  convert_bytes(*number.dtype, number.data.data(), Dtype::float64, reinterpret_cast<std::byte*>(&value), 1);
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  check<ValueError>(std::fabs(value) < kLimit, where, "it is ", value, ", which no integer can hold");
}

}  // namespace

void Serializer::operator()(std::string_view key, Array& value) {
  const std::string full = join(key);
  if (is_writer()) {
    check<ValueError>(bool(value), source(), "the entry ", full, " has no array");
    std::vector<std::byte> bytes(static_cast<std::size_t>(value.size()) * catena::itemsize(value.dtype()));
    autograd::to_host(value, bytes.data());
    store(full, value.dtype(), value.shape(), bytes);
    return;
  }
  const Owned<NpyStream> found = require(key);
  if (!found || found->is_none()) return;
  const std::string where = this->where(key);
  check<TypeError>(found->header().dtype.has_value(), where, "it has the element type ", found->header().descr,
                   ", which no array can hold");
  if (value) load_array(where, *found, value);
  else value = autograd::contiguous(read_array(*found, autograd::default_backend(), autograd::Device{}));
}

// Reads an entry into an existing array, which changes only after the whole entry has been read.
void Serializer::load_array(const std::string& where, NpyStream& found, const Array& value) {
  const bool same = found.shape() == value.shape();
  const bool broadcasts = !same && catena::broadcasts_to(found.shape(), value.shape());
  const bool allowed = same || (broadcasts && options_ && options_->allow_broadcast);
  check<ValueError>(allowed, where, "its shape is ", found.shape(), ", but ", value.shape(), " is needed",
                    broadcasts ? " (LoadOptions::allow_broadcast repeats its elements)" : "");
  check_load_cast(where, found.dtype(), value.dtype());
  Array stored = autograd::astype(read_array(found, value.backend(), value.device()), value.dtype());
  if (!same) stored = autograd::broadcast_to(stored, value.shape());
  if (in_transaction()) {  // the old contents are kept on the host, where memory is less scarce
    const autograd::Device host{};
    const Array before = value.device() == host ? autograd::copy(value) : autograd::to_device(value, host);
    on_rollback([value, before] { autograd::copy_across(value, before); });
  }
  autograd::copy_across(value, stored);
}

template <class T> void Serializer::number(std::string_view key, T& value) {
  constexpr Dtype dtype = catena::dtype_of<T>;
  if (is_writer()) {
    store(join(key), dtype, {}, std::as_bytes(std::span<const T>(&value, 1)));
    return;
  }
  const std::optional<NpyArray> found = require_array(key);
  if (!found) return;
  const std::string where = this->where(key);
  check<TypeError>(found->dtype.has_value(), where, "it has the element type ", found->descr,
                   ", but a number is needed");
  check<ValueError>(found->size() == 1, where, "its shape is ", found->shape, ", but one number is needed");
  if constexpr (std::is_integral_v<T>) check_integer(where, *found);
  convert_bytes(*found->dtype, found->data.data(), dtype, reinterpret_cast<std::byte*>(&value), 1);
}

void Serializer::operator()(std::string_view key, bool& value) { number(key, value); }
void Serializer::operator()(std::string_view key, std::int64_t& value) { number(key, value); }
void Serializer::operator()(std::string_view key, double& value) { number(key, value); }
// The format has only one integer type, int64.
void Serializer::operator()(std::string_view key, std::int32_t& value) {
  std::int64_t wide = value;
  number(key, wide);
  check<ValueError>(wide >= INT32_MIN && wide <= INT32_MAX, where(key), wide, " does not fit 32 bits");
  value = static_cast<std::int32_t>(wide);
}
void Serializer::operator()(std::string_view key, std::uint64_t& value) {
  std::int64_t same_bits = static_cast<std::int64_t>(value);
  number(key, same_bits);
  value = static_cast<std::uint64_t>(same_bits);
}

void Serializer::operator()(std::string_view key, std::string& value) {
  if (is_writer()) return store_text(join(key), value);
  const std::optional<NpyArray> found = require_array(key);
  if (!found) return;
  check<TypeError>(found->is_text(), where(key), "it has the element type ", found->descr, ", but a text is needed");
  value = catena::npy_text(*found);
}

void Serializer::operator()(std::string_view key, std::vector<std::int64_t>& value) {
  if (is_writer()) {
    store(join(key), Dtype::int64, {std::int64_t(value.size())}, std::as_bytes(std::span<const std::int64_t>(value)));
    return;
  }
  const std::optional<NpyArray> found = require_array(key);
  if (!found) return;
  const std::string where = this->where(key);
  check<TypeError>(found->dtype && !catena::is_floating(*found->dtype), where, "it has the element type ", found->descr,
                   ", but integers are needed");
  check<ValueError>(found->shape.size() == 1, where, "its shape is ", found->shape, ", but one dimension is needed");
  value.resize(static_cast<std::size_t>(found->size()));
  convert_bytes(*found->dtype, found->data.data(), Dtype::int64, reinterpret_cast<std::byte*>(value.data()),
                found->size());
}

void Serializer::operator()(std::string_view key, Parameter& value) {
  Array data = value.data();
  if (is_writer())
    check<ValueError>(bool(data), "save", "the parameter ", join(key),
                      " has no data yet: call the link once before it is saved");
  const bool pending = !data;
  (*this)(key, data);
  if (!pending || !data) return;
  check<ValueError>(value.accepts(data.shape()), where(key), "its shape is ", data.shape(), ", but ",
                    value.known_shape(), " is needed, -1 being what the first call finds");
  check_load_cast(where(key), data.dtype(), value.own_dtype());
  value.initialize_from(data);
  on_rollback([&value] { value.uninitialize(); });
}

void Serializer::operator()(std::string_view key, autograd::Variable& value) {
  const catena::Owned<Serializer> s = (*this)[key];
  Array data = value ? value.data() : Array();
  (*s)("data", data);
  if (!data) return;  // missing, and the load is not strict
  if (!is_writer()) {
    if (!value) value = autograd::Variable(data, autograd::VariableOptions{});
    else if (!value.data()) value.set_data(data);
    value.unchain();
  }
  std::string name = value.name(), volatile_flag = catena::concat(value.volatile_flag());
  (*s)("volatile", volatile_flag);
  (*s)("name", name);
  Array grad = is_writer() ? value.grad() : Array();
  if (is_writer() ? bool(grad) : s->contains("grad")) (*s)("grad", grad);
  if (is_writer()) return;
  value.set_volatile(autograd::Flag(std::string_view(volatile_flag)));
  value.set_name(name);
  value.set_grad(grad ? autograd::to_device(grad, value.device()) : grad);
}

}  // namespace nn
