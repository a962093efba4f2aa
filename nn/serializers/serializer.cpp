#include <catena/nn/serializers/serializer.h>

#include <cstring>

#include <catena/kernels/base/scalar.h>

namespace nn {

using autograd::Array;
using autograd::Dtype;
using catena::check;
using catena::KeyError;
using catena::NpyArray;
using catena::TypeError;
using catena::ValueError;

Serializer::~Serializer() = default;
std::vector<std::string> Serializer::keys() const { return {}; }
void Serializer::store(const std::string&, Dtype, const autograd::Shape&, std::span<const std::byte>) {}
void Serializer::store_text(const std::string&, std::string_view) {}
std::optional<NpyArray> Serializer::fetch(const std::string&) const { return {}; }

std::string Serializer::join(std::string_view key) const {
  while (!key.empty() && key.front() == '/') key.remove_prefix(1);
  while (!key.empty() && key.back() == '/') key.remove_suffix(1);
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : path_ + "/" + std::string(key);
}

bool Serializer::contains(std::string_view key) const { return !is_writer() && fetch(join(key)).has_value(); }
std::optional<NpyArray> Serializer::stored(std::string_view key) const {
  return is_writer() ? std::nullopt : fetch(join(key));
}

std::optional<NpyArray> Serializer::require(std::string_view key) const {
  std::optional<NpyArray> found = fetch(join(key));
  check<KeyError>(found.has_value() || !strict_, source(), "there is no entry ", join(key));
  return found;
}

namespace {

// A stored dtype may be loaded into one of the same kind or a later one of bool, integer < float < complex.
void check_load_cast(const std::string& where, Dtype from, Dtype to) {
  const bool loses = kind_of(from) >= catena::DtypeKind::floating && kind_of(from) > kind_of(to);
  check<TypeError>(!loses, where, "cannot load ", from, " values into an array of ", to);
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
  const std::optional<NpyArray> found = require(key);
  if (!found || found->is_none()) return;
  const std::string where = source() + ": entry " + full;
  check<TypeError>(found->dtype.has_value(), where, "it has the element type ", found->descr,
                   ", which no array can hold");
  if (!value) {
    value = autograd::from_host(found->data.data(), found->shape, *found->dtype, autograd::Device{});
    return;
  }
  check<ValueError>(found->shape == value.shape(), where, "its shape is ", found->shape, ", but ", value.shape(),
                    " is needed");
  check_load_cast(where, *found->dtype, value.dtype());
  std::vector<std::byte> bytes(static_cast<std::size_t>(value.size()) * catena::itemsize(value.dtype()));
  convert_bytes(*found->dtype, found->data.data(), value.dtype(), bytes.data(), value.size());
  autograd::copy_across(value, value.backend().from_host(bytes.data(), value.shape(), value.dtype(), value.device()));
}

template <class T> void Serializer::number(std::string_view key, T& value) {
  constexpr Dtype dtype = catena::dtype_of<T>;
  if (is_writer()) {
    store(join(key), dtype, {}, std::as_bytes(std::span<const T>(&value, 1)));
    return;
  }
  const std::optional<NpyArray> found = require(key);
  if (!found || found->is_none()) return;
  const std::string where = source() + ": entry " + join(key);
  check<TypeError>(found->dtype.has_value(), where, "it has the element type ", found->descr,
                   ", but a number is needed");
  check<ValueError>(found->size() == 1, where, "its shape is ", found->shape, ", but one number is needed");
  convert_bytes(*found->dtype, found->data.data(), dtype, reinterpret_cast<std::byte*>(&value), 1);
}

void Serializer::operator()(std::string_view key, bool& value) { number(key, value); }
void Serializer::operator()(std::string_view key, std::int64_t& value) { number(key, value); }
void Serializer::operator()(std::string_view key, double& value) { number(key, value); }
// The format has one integer type, int64.
void Serializer::operator()(std::string_view key, std::int32_t& value) {
  std::int64_t wide = value;
  number(key, wide);
  check<ValueError>(wide >= INT32_MIN && wide <= INT32_MAX, source() + ": entry " + join(key), wide,
                    " does not fit 32 bits");
  value = static_cast<std::int32_t>(wide);
}
void Serializer::operator()(std::string_view key, std::uint64_t& value) {
  std::int64_t same_bits = static_cast<std::int64_t>(value);
  number(key, same_bits);
  value = static_cast<std::uint64_t>(same_bits);
}

void Serializer::operator()(std::string_view key, std::string& value) {
  if (is_writer()) return store_text(join(key), value);
  const std::optional<NpyArray> found = require(key);
  if (!found || found->is_none()) return;
  check<TypeError>(found->is_text(), source() + ": entry " + join(key), "it has the element type ", found->descr,
                   ", but a text is needed");
  value = catena::npy_text(*found);
}

void Serializer::operator()(std::string_view key, std::vector<std::int64_t>& value) {
  if (is_writer()) {
    store(join(key), Dtype::int64, {std::int64_t(value.size())}, std::as_bytes(std::span<const std::int64_t>(value)));
    return;
  }
  const std::optional<NpyArray> found = require(key);
  if (!found || found->is_none()) return;
  const std::string where = source() + ": entry " + join(key);
  check<TypeError>(found->dtype && !catena::is_floating(*found->dtype), where, "it has the element type ", found->descr,
                   ", but integers are needed");
  check<ValueError>(found->shape.size() == 1, where, "its shape is ", found->shape, ", but one dimension is needed");
  value.resize(static_cast<std::size_t>(found->size()));
  convert_bytes(*found->dtype, found->data.data(), Dtype::int64, reinterpret_cast<std::byte*>(value.data()),
                found->size());
}

}  // namespace nn
