// State dicts: the entries of an object in memory, as PyTorch's state_dict() returns them.
//
//   nn::StateDict best = model.state_dict();            // of any object with serialize(): nn::state_dict(optimizer)
//   model.load_state_dict(best);                        // nn::load_state_dict(optimizer, state)
#pragma once

#include <map>
#include <string>

#include <catena/autograd/array.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/serializers/serializer.h>

namespace nn {

// Arrays on the CPU by key ("l1/W"), copies of those of the object. Numbers are arrays of shape (). Texts, which a
// trainer has, are in `texts`.
class CATENA_EXPORT StateDict : public std::map<std::string, autograd::Array> {
 public:
  using std::map<std::string, autograd::Array>::map;
  std::map<std::string, std::string> texts;
};

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

// Writes the arrays to a file, as safetensors or npz by the end of its name: save(model.state_dict(), "m.safetensors").
// ValueError for another one, such as .pt; TypeError for texts in a safetensors file.
CATENA_EXPORT void save(const StateDict& state, const std::string& filename);
// Reads such a file, or one of PyTorch (.pt, .pth) with its keys.
CATENA_EXPORT StateDict load(const std::string& filename);
// The names of Python's safetensors, whose files may have any name.
CATENA_EXPORT void save_file(const StateDict& state, const std::string& filename);
CATENA_EXPORT StateDict load_file(const std::string& filename);

}  // namespace nn
