// State dicts: the entries of an object in memory, as PyTorch's state_dict() returns them.
//
//   nn::StateDict best = model.state_dict();            // of any object with serialize(): nn::state_dict(optimizer)
//   model.load_state_dict(best);                        // nn::load_state_dict(optimizer, state)
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/serializers/serializer.h>

namespace nn {

namespace internal {
// A Variable, whose array is saved. (autograd/variable.h is not included here.)
template <class T>
concept HasArrayData = requires(const T& v) {
  { v.data() } -> std::convertible_to<autograd::Array>;
  v.creator();
};
// A map of the standard library from keys to variables or arrays that is no StateDict.
template <class M>
concept MapOfArrays = std::is_convertible_v<const typename M::key_type&, std::string> &&
    (HasArrayData<typename M::mapped_type> || autograd::ForeignArray<typename M::mapped_type> ||
     std::is_same_v<typename M::mapped_type, autograd::Array>);
}  // namespace internal

// Arrays on the CPU by key ("l1/W"), copies of those of the object. Numbers are arrays of shape (). Texts, which a
// trainer has, are in `texts`.
class CATENA_EXPORT StateDict : public std::map<std::string, autograd::Array> {
 public:
  using std::map<std::string, autograd::Array>::map;
  // Of the program's own map from keys, also from PyTorch's names, to variables or arrays.
  template <internal::MapOfArrays M> StateDict(const M& arrays) {
    for (const auto& [key, value] : arrays) {
      if constexpr (internal::HasArrayData<typename M::mapped_type>) insert_or_assign(std::string(key), value.data());
      else insert_or_assign(std::string(key), autograd::Array(value));
    }
  }
  std::map<std::string, std::string> texts;
  // Where the keys come from. The keys of a link are PyTorch's names in a file of PyTorch (.pt), and a state from such
  // a file is loaded by these names unless its keys have slashes.
  enum class Origin { other, link, torch } origin = Origin::other;
  std::vector<std::string> keys() const;  // in alphabetical order, without those of texts
  // The entries whose keys begin with "name/" (in files of PyTorch also "name."), under the rest of their keys: one of
  // several states in a file. KeyError if there are none.
  StateDict below(const std::string& name) const;
  // The key with this name in PyTorch, "fc2/b" for "fc2.bias"; the name itself if it is a key or no entry has that
  // name. The functions below take either name.
  std::string key_of(const std::string& name) const;
  using std::map<std::string, autograd::Array>::erase;
  size_type erase(const std::string& name) { return map::erase(key_of(name)); }
  bool contains(const std::string& name) const { return map::contains(key_of(name)); }
  autograd::Array& at(const std::string& name) { return map::at(key_of(name)); }
  const autograd::Array& at(const std::string& name) const { return map::at(key_of(name)); }
  // The entry of a key: its array (null if there is none), or, as a StateDict, below(key). An assignment sets the
  // array of key_of(key): state["l1.weight"] = a replaces "l1/W". (insert_or_assign takes keys alone.) This object
  // must outlive the entry.
  class CATENA_EXPORT Entry;
  Entry operator[](const std::string& key);
  // A variable of the only array, which has the empty key: that of a file of one array. KeyError if there are others.
  template <internal::HasArrayData V> operator V() const { return V(only()); }

 private:
  autograd::Array only() const;
};

class CATENA_EXPORT StateDict::Entry : public autograd::Array {
 public:
  Entry(StateDict& of, std::string key);
  operator StateDict() const { return of_->below(key_); }
  // The number of an array with one element: int epoch = checkpoint["epoch"]. ValueError for other arrays, TypeError if
  // there is none.
  template <class T> operator T() const requires(catena::Number<T> && !std::is_same_v<T, bool>) {
    return item_of_entry().template to<T>();
  }
  // A text: std::string arch = checkpoint["arch"]. TypeError if there is none.
  operator std::string() const;
  // An entry of the state below this one: checkpoint["config"]["lr"].
  using Array::operator[];
  Entry operator[](const char* key) const;
  Entry operator[](const std::string& key) const { return (*this)[key.c_str()]; }
  // The conversion of Array, which the operator before it hides.
  template <autograd::ForeignArray T> operator T() const { return static_cast<const autograd::Array&>(*this); }
  Entry& operator=(const autograd::Array& a);
  Entry& operator=(const Entry& e) { return *this = static_cast<const autograd::Array&>(e); }
  Entry(const Entry&) = default;

 private:
  catena::Scalar item_of_entry() const;
  StateDict* of_;
  std::string key_;
};

// Arithmetic with an entry is that of its array, not that of its number.
#define CATENA_ENTRY_OPERATOR(op)                                                                             \
  template <class T> auto operator op(const StateDict::Entry& a, const T& b) {                                \
    return static_cast<const autograd::Array&>(a) op b;                                                       \
  }                                                                                                           \
  template <class T>                                                                                          \
  auto operator op(const T& a, const StateDict::Entry& b) requires(!std::is_base_of_v<StateDict::Entry, T>) { \
    return a op static_cast<const autograd::Array&>(b);                                                       \
  }
CATENA_ENTRY_OPERATOR(+)
CATENA_ENTRY_OPERATOR(-)
CATENA_ENTRY_OPERATOR(*)
CATENA_ENTRY_OPERATOR(/)
#undef CATENA_ENTRY_OPERATOR

// A part that save() writes under a name: an array or a variable, a number (int64 or float64), a text, a list of
// numbers, a state dict, or a list of parts.
class CATENA_EXPORT NamedState {
 public:
  NamedState(StateDict state) : state_(std::move(state)) {}
  NamedState(const autograd::Array& a);
  template <autograd::ForeignArray T> NamedState(const T& a) : NamedState(autograd::Array(a)) {}
  template <internal::HasArrayData V> NamedState(const V& v) : NamedState(autograd::Array(v.data())) {}
  template <class T> NamedState(T number) requires std::is_floating_point_v<T> : NamedState(of_number(double(number))) {
    kind_ = Kind::number;
  }
  template <class T>
  NamedState(T number) requires std::is_integral_v<T> : NamedState(of_integer(std::int64_t(number))) {
    kind_ = Kind::integer;
  }
  NamedState(const char* text);
  NamedState(const std::string& text);
  NamedState(std::initializer_list<std::pair<std::string, NamedState>> parts);
  NamedState(const std::vector<double>& numbers);
  const StateDict& state() const noexcept { return state_; }
  // A number and a text are those of Python in a file of PyTorch.
  enum class Kind { arrays, number, integer, text };
  Kind kind() const noexcept { return kind_; }

 private:
  static autograd::Array of_number(double number);
  static autograd::Array of_integer(std::int64_t number);
  StateDict state_;  // an array or a text has the empty key
  Kind kind_ = Kind::arrays;
};
using NamedStates = std::vector<std::pair<std::string, NamedState>>;

namespace serializers {

// Reads the entries of a StateDict, which must outlive it.
class CATENA_EXPORT StateDictDeserializer : public Serializer {
 public:
  explicit StateDictDeserializer(const StateDict& state, const LoadOptions& options = {});
  bool is_writer() const noexcept override { return false; }
  std::vector<std::string> keys() const override;

 protected:
  StateDictDeserializer(const StateDict& state, std::string path, bool strict);
  catena::Owned<Serializer> child(std::string path) const override;
  std::optional<catena::NpyArray> fetch(const std::string& path) const override;
  std::string source() const override { return "load_state_dict"; }

 private:
  const StateDict* state_;
};

}  // namespace serializers

namespace internal {
CATENA_EXPORT StateDict state_of(const serializers::DictionarySerializer& s);
}

// Returns copies of the entries of an object. ValueError for a parameter that has no values yet.
template <class T> StateDict state_dict(T& object) {
  serializers::DictionarySerializer s;
  s.save(object);
  return internal::state_of(s);
}
// Copies the entries back. Options, errors and the report are those of load_npz: a missing key is a KeyError unless
// {.strict = false}, and a load that fails leaves the object as it was.
template <class T> LoadReport load_state_dict(T& object, const StateDict& state, const LoadOptions& options = {}) {
  serializers::StateDictDeserializer s(state, options);
  return s.load(object);
}

// A copy with arrays of its own: Python's copy.deepcopy(model.state_dict()).
CATENA_EXPORT StateDict deepcopy(const StateDict& state);

namespace internal {
template <class L, std::same_as<bool> B> auto load_state_dict_strictly(L& link, const StateDict& state, B strict) {
  return link.load_state_dict(state, LoadOptions{.strict = strict});
}
}  // namespace internal

// Writes the arrays to a file, as safetensors, npz or a file of PyTorch by the end of its name: ".safetensors", ".npz",
// ".pt", ".pth", ".pt.tar", ".pth.tar" or ".ckpt" (ValueError for others). torch.load reads the last ones, and the
// state of a link has PyTorch's names there. TypeError for texts in a safetensors file, and for dtypes that PyTorch's
// files lack.
CATENA_EXPORT void save(const StateDict& state, const std::string& filename);
// save(model, "m.pt") writes model.state_dict(), of any object that has one.
template <class T> void save(T& object, const std::string& filename) requires requires {
  StateDict(object.state_dict());
}
{ save(object.state_dict(), filename); }
// Several states, numbers and texts in one file, PyTorch's checkpoint, with keys such as "model/l1/W":
//   save({{"model", model.state_dict()}, {"optimizer", optimizer.state_dict()}, {"epoch", 3}}, "c.pt");
//   nn::StateDict c = nn::load("c.pt");
//   model.load_state_dict(c["model"]), optimizer.load_state_dict(c["optimizer"]);
//   const int epoch = c["epoch"];
CATENA_EXPORT void save(std::initializer_list<std::pair<std::string, NamedState>> parts, const std::string& filename);
CATENA_EXPORT void save(const NamedStates& parts, const std::string& filename);
// One array, which load() gives back: autograd::Variable x = load("x.pt").
template <class A>
void save(const A& array, const std::string& filename) requires(internal::HasArrayData<A> ||
                                                                autograd::ForeignArray<A> ||
                                                                std::is_same_v<A, autograd::Array>) {
  save(NamedStates{{"", NamedState(array)}}, filename);
}
// Reads such a file, or one of PyTorch (.pt, .pth) with its keys.
CATENA_EXPORT StateDict load(const std::string& filename);
// PyTorch's options.
struct LoadFileOptions {
  // A device, or its name, to which the arrays are copied: "cpu", "cuda", "cuda:1" (ValueError for others). By default
  // they are on the CPU.
  struct MapLocation {
    MapLocation() = default;
    MapLocation(autograd::Device where) : device(where) {}
    CATENA_EXPORT MapLocation(const char* name);
    MapLocation(const std::string& name) : MapLocation(name.c_str()) {}
    autograd::Device device = {};
  };
  MapLocation map_location = {};
  bool weights_only = true;  // without effect: nothing of a file is executed
};
template <std::same_as<LoadFileOptions> O = LoadFileOptions> StateDict load(const std::string& filename, const O& o) {
  StateDict state = load(filename);
  for (auto& [key, array] : state) array = autograd::to_device(array, o.map_location.device);
  return state;
}
// load(model, "m.pt") calls model.load_state_dict with the state in the file.
template <class T> LoadReport load(T& object, const std::string& filename) requires requires {
  StateDict(object.state_dict());
}
{ return object.load_state_dict(load(filename)); }
// The names of Python's safetensors, whose files may have any name.
CATENA_EXPORT void save_file(const StateDict& state, const std::string& filename);
CATENA_EXPORT StateDict load_file(const std::string& filename);
namespace safetensors {
using nn::save_file, nn::load_file;
// Writes or loads model.state_dict().
template <class L> void save_model(L& model, const std::string& filename) { save_file(model.state_dict(), filename); }
template <class L> LoadReport load_model(L& model, const std::string& filename) {
  return model.load_state_dict(load_file(filename));
}
}  // namespace safetensors

// auto [missing, unexpected] = model.load_state_dict(state, {.strict = false})
template <std::size_t I> const std::vector<std::string>& get(const LoadReport& report) noexcept {
  return I == 0 ? report.missing : report.unexpected;
}

}  // namespace nn

template <> struct std::tuple_size<nn::LoadReport> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, nn::LoadReport> { using type = const std::vector<std::string>; };
