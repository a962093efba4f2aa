#include <catena/nn/serializers/state_dict.h>

#include <algorithm>

#include <catena/kernels/base/error_context.h>
#include <catena/nn/link.h>
#include <catena/nn/serializers/key_style.h>
#include <catena/nn/serializers/keys_below.h>
#include <catena/nn/serializers/safetensors.h>
#include <catena/nn/serializers/torch.h>

namespace nn {

namespace serializers {

StateDictDeserializer::StateDictDeserializer(const StateDict& state, const LoadOptions& options)
    : Serializer(options), state_(&state) {}
StateDictDeserializer::StateDictDeserializer(const StateDict& state, std::string path, bool strict)
    : Serializer(std::move(path), strict), state_(&state) {}

catena::Owned<Serializer> StateDictDeserializer::child(std::string path) const {
  return catena::Owned<Serializer>(new StateDictDeserializer(*state_, std::move(path), is_strict()));
}

std::optional<catena::NpyArray> StateDictDeserializer::fetch(const std::string& path) const {
  if (const auto text = state_->texts.find(path); text != state_->texts.end()) {
    const std::size_t length = std::max<std::size_t>(text->second.size(), 1);
    catena::NpyArray found;
    found.descr = catena::concat("|S", length);
    found.itemsize = length;
    for (const char c : text->second) found.data.push_back(std::byte(c));
    found.data.resize(length);
    return found;
  }
  const auto entry = state_->find(path);
  if (entry == state_->end()) return {};
  const autograd::Array& a = entry->second;
  catena::check<catena::TypeError>(bool(a), "load_state_dict", "the array of \"", path, "\" is null");
  catena::NpyArray found;
  found.descr = std::string(catena::npy_descr(a.dtype()));
  found.dtype = a.dtype();
  found.itemsize = catena::itemsize(a.dtype());
  found.shape = a.shape();
  found.data.resize(std::size_t(a.size()) * found.itemsize);
  autograd::to_host(a, found.data.data());
  return found;
}

std::vector<std::string> StateDictDeserializer::keys() const {
  KeysBelow below(path(), has_names_of_its_own());
  for (const auto& [key, array] : *state_) below.add(key);
  for (const auto& [key, text] : state_->texts) below.add(key);
  return below.take();
}

}  // namespace serializers

// ---- state dicts --------------------------------------------------------------------------------
StateDict StateDict::below(const std::string& name) const {
  StateDict found;
  const std::string prefix = name + "/";
  for (const auto& [key, array] : *this)
    if (key.starts_with(prefix)) found.insert_or_assign(key.substr(prefix.size()), array);
  for (const auto& [key, text] : texts)
    if (key.starts_with(prefix)) found.texts[key.substr(prefix.size())] = text;
  catena::check<catena::KeyError>(!found.empty() || !found.texts.empty(), "StateDict.below",
                                  "there are no keys under \"", name, "/\"");
  return found;
}

std::string StateDict::key_of(const std::string& name) const {
  if (map::contains(name)) return name;
  for (const auto& [key, array] : *this)
    if (internal::name_in_pytorch(key) == name) return key;
  return name;
}
StateDict::Entry StateDict::operator[](const std::string& key) { return {*this, key_of(key)}; }

StateDict::Entry::Entry(StateDict& of, std::string key) : of_(&of), key_(std::move(key)) {
  if (const auto at = of.find(key_); at != of.end()) Array::operator=(at->second);
}
StateDict::Entry& StateDict::Entry::operator=(const autograd::Array& a) {
  Array::operator=(a);
  of_->insert_or_assign(key_, a);
  return *this;
}

NamedState::NamedState(const autograd::Array& a) { state_[""] = a; }
autograd::Array NamedState::of_number(double number) {
  return autograd::full({}, number, autograd::Dtype::float64, autograd::Device{});
}

StateDict internal::state_of(const serializers::DictionarySerializer& s) {
  StateDict state;
  for (const serializers::DictionarySerializer::Entry& e : s.entries()) {
    if (e.is_text) state.texts[e.key] = e.text;
    else state.insert_or_assign(e.key, autograd::from_host(e.bytes.data(), e.shape, e.dtype, autograd::Device{}));
  }
  return state;
}

// ---- files --------------------------------------------------------------------------------------
namespace {

// The entries of a StateDict, as an object that a serializer saves and loads.
struct Entries {
  StateDict state = {};
  void serialize(Serializer& s) {
    if (s.is_writer()) {
      for (auto& [key, array] : state) s(key, array);
      for (auto& [key, text] : state.texts) s(key, text);
      return;
    }
    for (const std::string& key : s.keys()) {
      const std::string descr = s.stored(key)->descr;
      if (descr.starts_with("|S") || descr.starts_with("<U")) s(key, state.texts[key]);
      else {
        autograd::Array array;
        s(key, array);
        state.insert_or_assign(key, array);
      }
    }
  }
};

StateDict state_from(serializers::ArrayMap&& arrays) {
  StateDict state;
  state.merge(arrays);
  return state;
}

}  // namespace

void save_file(const StateDict& state, const std::string& filename) {
  Entries entries{state};
  serializers::save_safetensors(filename, entries);
}
StateDict load_file(const std::string& filename) { return state_from(serializers::read_safetensors(filename)); }

void save(const StateDict& state, const std::string& filename) {
  if (filename.ends_with(".safetensors")) return save_file(state, filename);
  catena::check<catena::ValueError>(filename.ends_with(".npz"), "save", "the file \"", filename,
                                    "\" would have another format; write \".safetensors\", which PyTorch's users read ",
                                    "as well, or \".npz\"");
  Entries entries{state};
  serializers::save_npz(filename, entries);
}

void save(std::initializer_list<std::pair<std::string, NamedState>> parts, const std::string& filename) {
  StateDict all;
  for (const auto& [name, part] : parts) {
    for (const auto& [key, array] : part.state())
      all.insert_or_assign(key.empty() ? name : catena::concat(name, "/", key), array);
    for (const auto& [key, text] : part.state().texts) all.texts[catena::concat(name, "/", key)] = text;
  }
  save(all, filename);
}

StateDict load(const std::string& filename) {
  if (filename.ends_with(".safetensors")) return load_file(filename);
  if (filename.ends_with(".pt") || filename.ends_with(".pth")) return state_from(serializers::read_torch(filename));
  Entries entries;
  serializers::load_npz(filename, entries);
  return std::move(entries.state);
}

std::vector<NamedParam> Link::named_parameters() const {
  std::vector<NamedParam> all = namedparams();
  for (NamedParam& p : all) p.path = internal::name_in_pytorch(p.path.substr(1));
  return all;
}
std::vector<NamedLink> Link::named_modules() {
  std::vector<NamedLink> all = namedlinks();
  for (NamedLink& l : all) {
    l.path.erase(0, 1);
    std::ranges::replace(l.path, '/', '.');
  }
  return all;
}

StateDict Link::state_dict() try { return nn::state_dict(*this); } catch (...) {
  catena::rethrow_standard("Link.state_dict");
}
LoadReport Link::load_state_dict(const StateDict& state) { return load_state_dict(state, LoadOptions{}); }
LoadReport Link::load_state_dict(const StateDict& state, const LoadOptions& options) try {
  return nn::load_state_dict(*this, state, options);
} catch (...) {
  catena::rethrow_standard("Link.load_state_dict");
}

}  // namespace nn
