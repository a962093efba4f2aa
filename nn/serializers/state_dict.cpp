#include <catena/nn/serializers/state_dict.h>

#include <algorithm>

#include <catena/kernels/base/device_name.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/link.h>
#include <catena/nn/serializers/key_style.h>
#include <catena/nn/serializers/keys_below.h>
#include <catena/nn/serializers/safetensors.h>
#include <catena/nn/serializers/torch.h>
#include <catena/nn/serializers/torch_writer.h>

namespace nn {

namespace serializers {

namespace {

// The keys of a file of PyTorch are its names, unless they have slashes, as those of an optimizer of Catena do; and so
// are keys of a program with points and without slashes.
LoadOptions with_style_of(const StateDict& state, LoadOptions options) {
  const auto has_slash = [](const auto& entry) { return entry.first.find('/') != std::string::npos; };
  const auto has_point = [](const auto& entry) { return entry.first.find('.') != std::string::npos; };
  const bool may_have_names = state.origin == StateDict::Origin::torch ||
                              (state.origin == StateDict::Origin::other && std::ranges::any_of(state, has_point));
  if (may_have_names && std::ranges::none_of(state, has_slash)) options.style = KeyStyle::pytorch;
  return options;
}

}  // namespace

StateDictDeserializer::StateDictDeserializer(const StateDict& state, const LoadOptions& options)
    : Serializer(with_style_of(state, options)), state_(&state) {}
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
  found.origin = origin;
  const std::string prefix = name + "/", dotted = name + ".";
  const auto is_below = [&](const std::string& key) {
    return key.starts_with(prefix) || (origin == Origin::torch && key.starts_with(dotted));
  };
  for (const auto& [key, array] : *this)
    if (is_below(key)) found.insert_or_assign(key.substr(prefix.size()), array);
  for (const auto& [key, text] : texts)
    if (is_below(key)) found.texts[key.substr(prefix.size())] = text;
  catena::check<catena::KeyError>(!found.empty() || !found.texts.empty(), "StateDict.below",
                                  "there are no keys under \"", name, "/\"");
  return found;
}

std::vector<std::string> StateDict::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, array] : *this) all.push_back(key);
  return all;
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

catena::Scalar StateDict::Entry::item_of_entry() const {
  catena::check<catena::TypeError>(bool(*this), "StateDict", "there is no array \"", key_, "\"");
  return autograd::item(*this);
}

StateDict::Entry::operator std::string() const {
  const auto at = of_->texts.find(key_);
  catena::check<catena::TypeError>(at != of_->texts.end(), "StateDict", "there is no text \"", key_, "\"");
  return at->second;
}

StateDict::Entry StateDict::Entry::operator[](const char* key) const {
  const std::string below = catena::concat(key_, '/', key), dotted = catena::concat(key_, '.', key);
  const bool is_dotted = !of_->map::contains(below) && !of_->texts.contains(below) &&
                         (of_->map::contains(dotted) || of_->texts.contains(dotted) || of_->origin == Origin::torch);
  return {*of_, is_dotted ? dotted : of_->key_of(below)};
}

autograd::Array StateDict::only() const {
  catena::check<catena::KeyError>(size() == 1 && begin()->first.empty(), "StateDict",
                                  "a file of one array is a Variable; this one has names, such as \"",
                                  empty() ? "" : begin()->first, '"');
  return begin()->second;
}

StateDict deepcopy(const StateDict& state) {
  StateDict copy = state;
  for (auto& [key, array] : copy)
    if (array) array = autograd::copy(array);
  return copy;
}

LoadFileOptions::MapLocation::MapLocation(const char* name) : device(catena::device_from_name("load", name)) {}

namespace {
// The parts under their names.
StateDict flattened(const NamedStates& parts) {
  StateDict all;
  const auto below = [](const std::string& name, const std::string& key) {
    return key.empty() ? name : catena::concat(name, '/', key);
  };
  for (const auto& [name, part] : parts) {
    for (const auto& [key, array] : part.state()) all.insert_or_assign(below(name, key), array);
    for (const auto& [key, text] : part.state().texts) all.texts[below(name, key)] = text;
  }
  return all;
}
}  // namespace

NamedState::NamedState(const autograd::Array& a) { state_[""] = a; }
NamedState::NamedState(const std::vector<double>& numbers)
    : NamedState(autograd::array(numbers, {std::int64_t(numbers.size())})) {}
NamedState::NamedState(const char* text) : NamedState(std::string(text)) {}
NamedState::NamedState(const std::string& text) : kind_(Kind::text) { state_.texts[""] = text; }
NamedState::NamedState(std::initializer_list<std::pair<std::string, NamedState>> parts)
    : state_(flattened({parts.begin(), parts.end()})) {}
autograd::Array NamedState::of_integer(std::int64_t number) {
  return autograd::array(std::vector<std::int64_t>{number}, Shape{});
}
autograd::Array NamedState::of_number(double number) {
  return autograd::arrays::full({}, number, autograd::Dtype::float64, autograd::Device{});
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

bool is_of_torch(const std::string& filename) {
  constexpr const char* kEnds[] = {".pt", ".pth", ".pt.tar", ".pth.tar", ".ckpt"};
  return std::ranges::any_of(kEnds, [&](const char* end) { return filename.ends_with(end); });
}

}  // namespace

void save_file(const StateDict& state, const std::string& filename) {
  Entries entries{state};
  serializers::save_safetensors(filename, entries);
}
StateDict load_file(const std::string& filename) { return state_from(serializers::read_safetensors(filename)); }

void save(const StateDict& state, const std::string& filename) {
  if (filename.ends_with(".safetensors")) return save_file(state, filename);
  if (is_of_torch(filename)) return serializers::internal::write_torch(filename, {{"", state}});
  catena::check<catena::ValueError>(filename.ends_with(".npz"), "save", "the name \"", filename,
                                    "\" does not say the format; write \".pt\", \".safetensors\" or \".npz\"");
  Entries entries{state};
  serializers::save_npz(filename, entries);
}

void save(std::initializer_list<std::pair<std::string, NamedState>> parts, const std::string& filename) {
  save(NamedStates(parts), filename);
}
void save(const NamedStates& parts, const std::string& filename) {
  if (is_of_torch(filename)) return serializers::internal::write_torch(filename, parts);
  save(flattened(parts), filename);
}

StateDict load(const std::string& filename) {
  if (filename.ends_with(".safetensors")) return load_file(filename);
  if (is_of_torch(filename)) {
    const auto file = serializers::open_torch(filename, "load");
    StateDict state = state_from(serializers::read_all(*file));
    state.texts = file->texts();
    state.origin = StateDict::Origin::torch;
    return state;
  }
  Entries entries;
  serializers::load_npz(filename, entries);
  return std::move(entries.state);
}

std::vector<NamedParam> Link::named_parameters() const {
  std::vector<NamedParam> all = namedparams();
  for (NamedParam& p : all) p.path = internal::name_in_pytorch(p.path.substr(1));
  return all;
}
std::vector<NamedParam> Link::named_buffers() {
  struct Arrays final : MemberVisitor {
    std::string prefix;
    std::vector<NamedParam> found;
    void persistent(std::string_view name, Persistent& a) override {
      if (!a.array()) return;
      found.push_back(
          {internal::name_in_pytorch(prefix + std::string(name)), Variable(a.array(), {.requires_grad = false})});
    }
  } arrays;
  for (const NamedLink& l : namedlinks()) {
    arrays.prefix = l.path == "/" ? std::string() : l.path.substr(1) + "/";
    l.link->visit_members(arrays);
  }
  return std::move(arrays.found);
}
std::vector<Variable> Link::buffers() {
  std::vector<Variable> all;
  for (const NamedParam& b : named_buffers()) all.push_back(b.param);
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

StateDict Link::state_dict() try {
  run_state_hooks(internal::StateMoment::before_state);
  StateDict state = nn::state_dict(*this);
  state.origin = StateDict::Origin::link;
  run_state_hooks(internal::StateMoment::after_state, &state);
  return state;
} catch (...) {
  catena::rethrow_standard("Link.state_dict");
}
LoadReport Link::load_state_dict(const StateDict& state) { return load_state_dict(state, LoadOptions{}); }
LoadReport Link::load_state_dict(const StateDict& state, const LoadOptions& options) try {
  StateDict changed = state;  // by hooks
  run_state_hooks(internal::StateMoment::before_load, &changed);
  const LoadReport report = nn::load_state_dict(*this, changed, options);
  run_state_hooks(internal::StateMoment::after_load, nullptr, &report);
  return report;
} catch (...) {
  catena::rethrow_standard("Link.load_state_dict");
}

}  // namespace nn
