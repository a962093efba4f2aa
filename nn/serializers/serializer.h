// Room nn/serializers: saving and loading of parameters and state: the Serializer interface and its implementation for
// npz files. The bytes of npy and zip files are in kernels/formats. This room may use nn, autograd
// and kernels.
//
// Serializer: one visitor for saving and loading. An object's serialize(Serializer&) names its entries once, and the
// same code writes or reads them. Keys form paths ("predictor/l1/W"); file formats differ only in where a path is
// stored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/formats/npy.h>

namespace autograd {
class Variable;
}

namespace nn {

class Parameter;

// What a load did, as full keys: "predictor/l1/W". `missing` is empty when strict, `unexpected` are keys that nothing
// asked for.
struct LoadReport {
  std::vector<std::string> loaded, missing, unexpected;
};

class CATENA_EXPORT Serializer {
 public:
  virtual ~Serializer();

  // Needed where saving and loading differ (a trainer, a link with pending parameters).
  virtual bool is_writer() const noexcept = 0;
  // A serializer that prefixes keys with `key` and "/".
  catena::Owned<Serializer> operator[](std::string_view key) const;

  // Saving stores `value` under `key`. Loading replaces it:
  //   arrays    The contents are copied into the given array, on any device. ValueError when the shapes differ,
  //             TypeError from float to integer; other dtypes are cast. A null array becomes a new one on the host.
  //   numbers   are converted from any stored numeric dtype; text from any text.
  // A missing key is a KeyError when strict; otherwise the value is unchanged.
  void operator()(std::string_view key, autograd::Array& value);
  void operator()(std::string_view key, bool& value);
  void operator()(std::string_view key, std::int32_t& value);
  void operator()(std::string_view key, std::int64_t& value);
  void operator()(std::string_view key, std::uint64_t& value);
  void operator()(std::string_view key, double& value);
  void operator()(std::string_view key, std::string& value);
  // One-dimensional int64 arrays, e.g. permutations.
  void operator()(std::string_view key, std::vector<std::int64_t>& value);
  // A parameter's data, under the key itself, as links store it. Saving a pending one is a ValueError; loading creates
  // it with the stored shape (ValueError if a size that it knows differs) in its own dtype, on its own device.
  void operator()(std::string_view key, Parameter& value);
  // A variable: "<key>/data", "<key>/grad" if it has one, "<key>/volatile" and "<key>/name". A loaded one has no
  // creator.
  void operator()(std::string_view key, autograd::Variable& value);

  // When loading, whether the key exists. When saving, false.
  bool contains(std::string_view key) const;
  // When loading, the stored array without conversion, for entries whose form varies between versions; empty when
  // missing.
  std::optional<catena::NpyArray> stored(std::string_view key) const;
  // When loading, the keys below this serializer (relative paths), for error messages.
  virtual std::vector<std::string> keys() const;
  const std::string& path() const noexcept { return path_; }
  bool is_strict() const noexcept { return strict_; }

  void save(auto& object) { object.serialize(*this); }
  // A load that fails, for whatever reason, leaves arrays, parameters and the members of links as they were.
  LoadReport load(auto& object) {
    Transaction transaction(*this);
    object.serialize(*this);
    transaction.commit();
    return report();
  }

  // While loading: what is to be called, in reverse order, if the load fails after all. No effect otherwise.
  void on_rollback(catena::Function<void()> undo);

  // A part of a load that is done as a whole or not at all. The outermost one counts: what an inner one has committed
  // is undone, too, when an outer one ends without commit(). Without effect when saving.
  class CATENA_EXPORT Transaction {
   public:
    explicit Transaction(Serializer& s);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit() noexcept { committed_ = true; }

   private:
    Serializer& serializer_;
    std::size_t start_ = 0;  // of its undo steps
    bool committed_ = false;
  };

 protected:
  explicit Serializer(std::string path, bool strict = true) : path_(std::move(path)), strict_(strict) {}
  virtual catena::Owned<Serializer> child(std::string path) const = 0;
  virtual void store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
                     std::span<const std::byte> bytes);
  virtual void store_text(const std::string& path, std::string_view text);
  virtual std::optional<catena::NpyArray> fetch(const std::string& path) const;
  virtual std::string source() const = 0;  // for messages: the file's name

 private:
  // A leading "/" of a key is removed, so serializer["/l1"]("/W") and serializer("l1/W") name the same entry.
  std::string join(std::string_view key) const;
  template <class T> void number(std::string_view key, T& value);
  std::optional<catena::NpyArray> require(std::string_view key) const;
  std::optional<catena::NpyArray> fetch_and_note(std::string_view key) const;
  std::string where(std::string_view key) const;
  bool in_transaction() const noexcept { return state_ && state_->transactions > 0; }
  LoadReport report() const;

  // Of the serializer of a load and all its children.
  struct LoadState {
    int transactions = 0;
    std::vector<catena::Function<void()>> undo;
    LoadReport report;
  };

  std::string path_;
  bool strict_;
  catena::Shared<LoadState> state_;
};

}  // namespace nn
