// Folder nn/serializers: saving and loading of parameters and state. It has the Serializer interface and its
// implementations for npz, HDF5 and safetensors files. The bytes of npy and zip files are handled in kernels/formats.
// This folder may use nn, autograd and kernels.
//
// Serializer: one visitor for saving and loading. An object's serialize(Serializer&) lists its entries once, and the
// same code writes or reads them. Keys form paths ("predictor/l1/W"); file formats differ only in where they store a
// path.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/formats/npy.h>

namespace autograd {
class Variable;
}

namespace catena {
class NpyStream;
}

namespace nn {

class Parameter;

// The result of a load, as full keys: "predictor/l1/W". `missing` is empty if strict; `unexpected` are keys of the file
// that no member has; `ignored` are keys excluded by LoadOptions::ignore_names.
struct CATENA_EXPORT LoadReport {
  std::vector<std::string> loaded, missing, unexpected, ignored;
  // The same keys by PyTorch's names, "fc2.weight" for "fc2/W".
  std::vector<std::string> missing_keys = {}, unexpected_keys = {};

  // True if every key of the object and of the file has been used.
  bool is_complete() const noexcept { return missing.empty() && unexpected.empty() && ignored.empty(); }
  // "12 loaded", and a line for each other list that is not empty: "2 missing: l2/W, l2/b".
  std::string to_string() const;
};
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const LoadReport& report);

// Keys that a load does not change: a key, a list of keys, or a function that returns true for them. They are full
// keys.
//   {.ignore_names = {"predictor/fc8/W", "predictor/fc8/b"}}
//   {.ignore_names = [](std::string_view key) { return key.starts_with("predictor/fc8/"); }}
class CATENA_EXPORT IgnoreNames {
 public:
  IgnoreNames() = default;
  IgnoreNames(const char* name) : names_{name} {}
  IgnoreNames(std::string name) : names_{std::move(name)} {}
  IgnoreNames(std::initializer_list<std::string> names) : names_(names) {}
  IgnoreNames(std::vector<std::string> names) : names_(std::move(names)) {}
  template <class F>
  IgnoreNames(F predicate) requires std::is_invocable_r_v<bool, F&, const std::string&>
      : predicate_(std::move(predicate)) {}
  bool operator()(const std::string& key) const;

 private:
  std::vector<std::string> names_;
  catena::Function<bool(const std::string&)> predicate_;
};

// The naming of parameters in the file.
//   chainer   by the keys of this library and of Chainer: "conv/W"
//   pytorch   as a state dict of PyTorch does: "conv.weight". Only names differ, the last one by this table, and gates
//             of an LSTM:
//               W, b                             weight, bias     Linear, Convolution2D, Deconvolution2D, EmbedID, ...
//               gamma, beta                      weight, bias     BatchNormalization, LayerNormalization, RMSNorm, ...
//               avg_mean, avg_var, N             running_mean, running_var, num_batches_tracked (which may be missing)
//               upward/W, upward/b, lateral/W    weight_ih_l0, bias_ih_l0 + bias_hh_l0, weight_hh_l0, with the rows of
//                                                nn.LSTM's order i, f, g, o in that of the LSTM link, a, i, f, o by
//                                                unit
//             Other names are kept, with "." between them. PyTorch's momentum is 1 - decay of BatchNormalization, and
//             the default eps is 1e-5 in PyTorch and 2e-5 here; no file has these numbers.
enum class KeyStyle : std::uint8_t { chainer, pytorch };

// Pairs {path here, path in the file} of links: with KeyStyle::pytorch, {{"body/0", "features"}} reads "body/0/W" from
// "features.weight". A pair for a whole key gives the full name: {"body/0/W", "kernel"}. The first matching pair is
// used.
using KeyRenames = std::vector<std::pair<std::string, std::string>>;

struct LoadOptions {
  std::string path = {};          // the part of the file to read: "predictor" or "updater/model:main/"
  bool strict = true;             // true: a missing key is a KeyError
  IgnoreNames ignore_names = {};  // keys whose values do not change, whether the file has them or not
  bool allow_broadcast = false;   // true: accept an array of another shape that broadcasts, as Chainer does
  KeyStyle style = KeyStyle::chainer;
  KeyRenames rename = {};
};

class CATENA_EXPORT Serializer {
 public:
  virtual ~Serializer();

  // Needed if saving and loading differ (a trainer, a link with pending parameters).
  virtual bool is_writer() const noexcept = 0;
  // Returns a serializer that prefixes keys with `key` and "/".
  catena::Owned<Serializer> operator[](std::string_view key) const;

  // Saving stores `value` under `key`. Loading replaces it:
  //   arrays    The contents are copied into the given array, on any device. ValueError when the shapes differ (see
  //             LoadOptions::allow_broadcast), TypeError from float to integer; other dtypes are cast. A null array
  //             becomes a new one on the host.
  //   numbers   are converted from any stored numeric dtype; ValueError for NaN and others that no integer can hold
  //             where one is needed; text from any text.
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
  // A parameter's data, stored under the key itself, as links do. Saving a pending parameter is a ValueError. Loading
  // creates its data with the stored shape, in the dtype and on the device of the parameter (ValueError if a known size
  // differs).
  void operator()(std::string_view key, Parameter& value);
  // A variable: "<key>/data", "<key>/grad" if it has a gradient, "<key>/volatile" and "<key>/name". A loaded variable
  // has no creator.
  void operator()(std::string_view key, autograd::Variable& value);

  // When loading, true if the key exists and is not ignored. When saving, false.
  bool contains(std::string_view key) const;
  // When loading, returns the stored array without conversion, for entries whose form differs between versions; nothing
  // if missing.
  std::optional<catena::NpyArray> stored(std::string_view key) const;
  // When loading, returns the keys below this serializer (relative paths), for error messages and reports; with a
  // KeyStyle or renames of LoadOptions, all names of the file.
  virtual std::vector<std::string> keys() const;
  const std::string& path() const noexcept { return path_; }
  bool is_strict() const noexcept { return strict_; }

  void save(auto& object) { object.serialize(*this); }
  // A load that fails, for whatever reason, leaves arrays, parameters, the members of links, and all that the classes
  // of training store as they were. A class that stores other numbers or texts uses on_rollback().
  LoadReport load(auto& object) {
    Transaction transaction(*this);
    object.serialize(*this);
    transaction.commit();
    return report();
  }

  // While loading: registers a function that is called, in reverse order, if the load fails. No effect otherwise.
  void on_rollback(catena::Function<void()> undo);

  // A part of a load that is done completely or not at all. The outermost transaction decides: changes that an inner
  // one has committed are undone if an outer one ends without commit(). No effect when saving.
  class CATENA_EXPORT Transaction {
   public:
    explicit Transaction(Serializer& s);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit() noexcept { committed_ = true; }

   private:
    Serializer& serializer_;
    std::size_t start_ = 0;  // index of its first undo step
    bool committed_ = false;
  };

 protected:
  explicit Serializer(std::string path, bool strict = true) : path_(std::move(path)), strict_(strict) {}
  // For the outermost serializer of a load; its children have the same options.
  explicit Serializer(const LoadOptions& options);
  bool has_names_of_its_own() const noexcept;  // true if the names in the file differ from the keys
  // `path` is a full path. A format with groups creates them here.
  virtual catena::Owned<Serializer> child(std::string path) const = 0;
  virtual void store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
                     std::span<const std::byte> bytes);
  virtual void store_text(const std::string& path, std::string_view text);
  // A format overrides one of the two. fetch() reads an entry; nothing if it is missing. open() reads only the header
  // of an entry, so that the elements can be read directly to their destination; null if it is missing.
  virtual std::optional<catena::NpyArray> fetch(const std::string& path) const;
  virtual catena::Owned<catena::NpyStream> open(const std::string& path) const;
  virtual std::string source() const = 0;  // name of the file, for messages

 private:
  // Removes a leading "/" of the key, so serializer["/l1"]("/W") and serializer("l1/W") are the same entry.
  std::string join(std::string_view key) const;
  template <class T> void number(std::string_view key, T& value);
  catena::Owned<catena::NpyStream> require(std::string_view key) const;
  std::optional<catena::NpyArray> require_array(std::string_view key) const;
  catena::Owned<catena::NpyStream> open_and_note(std::string_view key) const;
  catena::Owned<catena::NpyStream> open_named(const std::string& path, bool note) const;
  bool ignores(const std::string& path) const;
  void load_array(const std::string& where, catena::NpyStream& found, const autograd::Array& value);
  std::string where(std::string_view key) const;
  bool in_transaction() const noexcept { return state_ && state_->transactions > 0; }
  LoadReport report() const;

  // The state shared by the serializer of a load and all its children.
  struct LoadState {
    int transactions = 0;
    std::vector<catena::Function<void()>> undo;
    LoadReport report;
    std::vector<std::string> asked;  // requested names in the file
  };

  std::string path_;
  bool strict_;
  catena::Shared<const LoadOptions> options_;  // null: the defaults
  catena::Shared<LoadState> state_;
};

namespace internal {

// "predictor/" and "/predictor" mean "predictor".
CATENA_EXPORT std::string without_slashes(std::string_view path);

// Converts arguments of a load by position: load_npz(file, object, strict) and load_npz(file, object, path, strict,
// ignore_names).
LoadOptions load_options(std::same_as<bool> auto strict) { return {.strict = strict}; }
inline LoadOptions load_options(std::string path, bool strict = true, IgnoreNames ignore_names = {}) {
  return {.path = std::move(path), .strict = strict, .ignore_names = std::move(ignore_names)};
}

}  // namespace internal
}  // namespace nn
