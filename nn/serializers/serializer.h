// Saving and loading with one visitor: an object's serialize(Serializer&) names its entries once, and the same code
// writes them or reads them back. Keys form paths ("predictor/l1/W"); file formats differ only in where a path is
// stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <catena/autograd/array.h>
#include <catena/kernels/formats/npy.h>

namespace nn {

class CATENA_EXPORT Serializer {
 public:
  virtual ~Serializer();

  // Several objects save and load differently (a trainer, a link with pending parameters).
  virtual bool is_writer() const noexcept = 0;
  // The serializer whose keys are prefixed with `key` and "/".
  std::unique_ptr<Serializer> operator[](std::string_view key) const { return child(join(key)); }

  // Saving stores `value` under `key`. Loading replaces it:
  //  arrays    contents are copied into the given array (identity kept, any device); shapes must be equal (ValueError),
  //  floats
  //            do not go into integers (TypeError), other dtypes are cast. A null array becomes a fresh one on the
  //            host.
  //  numbers   converted from any stored numeric dtype; text from any text.
  // A missing key is a KeyError when strict; otherwise the value is left as it is.
  void operator()(std::string_view key, autograd::Array& value);
  void operator()(std::string_view key, bool& value);
  void operator()(std::string_view key, std::int32_t& value);
  void operator()(std::string_view key, std::int64_t& value);
  void operator()(std::string_view key, std::uint64_t& value);
  void operator()(std::string_view key, double& value);
  void operator()(std::string_view key, std::string& value);
  // One-dimensional int64 arrays (permutations).
  void operator()(std::string_view key, std::vector<std::int64_t>& value);

  // Loading: whether the key is there. Saving: false.
  bool contains(std::string_view key) const;
  // Loading: the stored array as it is, for entries whose form varies between versions; nothing when it is missing.
  std::optional<catena::NpyArray> stored(std::string_view key) const;
  // Loading: the keys below this serializer (relative paths), to name what is available in messages.
  virtual std::vector<std::string> keys() const;
  const std::string& path() const noexcept { return path_; }
  bool is_strict() const noexcept { return strict_; }

  void save(auto& object) { object.serialize(*this); }
  void load(auto& object) { object.serialize(*this); }

 protected:
  explicit Serializer(std::string path, bool strict = true) : path_(std::move(path)), strict_(strict) {}
  virtual std::unique_ptr<Serializer> child(std::string path) const = 0;
  virtual void store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
                     std::span<const std::byte> bytes);
  virtual void store_text(const std::string& path, std::string_view text);
  virtual std::optional<catena::NpyArray> fetch(const std::string& path) const;
  virtual std::string source() const = 0;  // for messages: the file's name

 private:
  // A leading "/" of a key is dropped, so serializer["/l1"]("/W") and serializer("l1/W") name the same entry.
  std::string join(std::string_view key) const;
  template <class T>
  void number(std::string_view key, T& value);
  std::optional<catena::NpyArray> require(std::string_view key) const;

  std::string path_;
  bool strict_;
};

}  // namespace nn
