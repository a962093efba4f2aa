#include <catena/nn/serializers/torch_pickle.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace nn::serializers::internal {

using catena::Dtype;
using catena::PickleNode;

namespace {

constexpr int kMostNested = 64;                                // of dictionaries and lists
constexpr std::size_t kMostValues = 1'000'000;                 // a value counts once for each of its places
constexpr std::size_t kMostNameBytes = std::size_t(1) << 28;   // of all names and texts together
constexpr std::int64_t kMostRepeated = std::int64_t(1) << 26;  // elements of a tensor larger than its storage

struct TypeName {
  std::string_view storage, dtype;  // the class of the storage and the name of the dtype, without "torch "
  std::optional<Dtype> type;
  std::int64_t itemsize;
};
constexpr TypeName kTypes[] = {{"FloatStorage", "float32", Dtype::float32, 4},
                               {"DoubleStorage", "float64", Dtype::float64, 8},
                               {"HalfStorage", "float16", Dtype::float16, 2},
                               {"BFloat16Storage", "bfloat16", Dtype::bfloat16, 2},
                               {"LongStorage", "int64", Dtype::int64, 8},
                               {"IntStorage", "int32", Dtype::int32, 4},
                               {"ShortStorage", "int16", Dtype::int16, 2},
                               {"CharStorage", "int8", Dtype::int8, 1},
                               {"ByteStorage", "uint8", Dtype::uint8, 1},
                               {"BoolStorage", "bool", Dtype::bool_, 1},
                               {"ComplexFloatStorage", "complex64", Dtype::complex64, 8},
                               {"ComplexDoubleStorage", "complex128", Dtype::complex128, 16},
                               {"", "uint16", Dtype::uint16, 2},
                               {"", "uint32", Dtype::uint32, 4},
                               {"", "uint64", Dtype::uint64, 8},
                               {"", "float8_e4m3fn", {}, 1},
                               {"", "float8_e5m2", {}, 1},
                               {"", "float8_e4m3fnuz", {}, 1},
                               {"", "float8_e5m2fnuz", {}, 1}};
constexpr std::string_view kTorch = "torch ", kUntyped = "torch.storage UntypedStorage";

constexpr std::array<std::string_view, 6> kFunctions = {"torch._utils _rebuild_tensor_v2",
                                                        "torch._utils _rebuild_tensor_v3",
                                                        "torch._utils _rebuild_parameter",
                                                        "collections OrderedDict",
                                                        "torch Size",
                                                        kUntyped};

// Returns the type of a class of storages, or of a dtype; null for other names.
const TypeName* type_of(std::string_view global) {
  if (!global.starts_with(kTorch)) return nullptr;
  const std::string_view name = global.substr(kTorch.size());
  for (const TypeName& t : kTypes)
    if (name == t.storage || name == t.dtype) return &t;
  return nullptr;
}

bool is_integer(const PickleNode& n) { return n.kind == PickleNode::Kind::integer; }
bool are_integers(const PickleNode& tuple) {
  return tuple.kind == PickleNode::Kind::tuple &&
         std::all_of(tuple.items.begin(), tuple.items.end(), [](const PickleNode* n) { return is_integer(*n); });
}

}  // namespace

TorchPickle::TorchPickle(const std::string& context, std::string_view bytes)
    : PickleReader(context, bytes, "which is no part of a state dictionary") {
  run();
}

bool TorchPickle::can_call(std::string_view global) const {
  return type_of(global) != nullptr || std::find(kFunctions.begin(), kFunctions.end(), global) != kFunctions.end();
}

PickleNode& TorchPickle::call(const PickleNode& function, const std::vector<PickleNode*>& given) {
  const std::string_view name = function.text;
  if (name == kFunctions[0]) return tensor(given, false);
  if (name == kFunctions[1]) return tensor(given, true);
  if (name == kFunctions[2] && !given.empty() && given[0]->kind == Kind::array) return *given[0];
  if (name == kFunctions[3]) return ordered_dict(given);
  if (name == kFunctions[4] && given.size() == 1 && given[0]->kind == Kind::tuple) return *given[0];
  refuse("the pickle calls ", name, " with unexpected arguments");
}

// The attributes of an OrderedDict: versions of the modules of a state dictionary.
void TorchPickle::set_state(PickleNode& object, const PickleNode& state) {
  if (object.kind != Kind::dict || state.kind != Kind::dict) PickleReader::set_state(object, state);
}

PickleNode& TorchPickle::ordered_dict(const std::vector<PickleNode*>& given) {
  PickleNode& dict = make(Kind::dict);
  if (given.empty()) return dict;
  if (given.size() != 1 || given[0]->kind != Kind::list) refuse("the pickle calls OrderedDict without a list of pairs");
  for (const PickleNode* pair : given[0]->items) {
    if ((pair->kind != Kind::list && pair->kind != Kind::tuple) || pair->items.size() != 2)
      refuse("the pickle calls OrderedDict without a list of pairs");
    dict.items.insert(dict.items.end(), pair->items.begin(), pair->items.end());
  }
  return dict;
}

// ("storage", class, key, device, number of elements[, view]): an object with the class and the key.
PickleNode& TorchPickle::persistent(const PickleNode& id) {
  const std::vector<PickleNode*>& given = id.items;
  const bool is_storage = id.kind == Kind::tuple && (given.size() == 5 || given.size() == 6) &&
                          given[0]->kind == Kind::text && given[0]->text == "storage" &&
                          given[1]->kind == Kind::global && given[2]->kind == Kind::text && is_integer(*given[4]) &&
                          given[4]->integer >= 0;
  if (!is_storage) refuse("the pickle refers to a value outside of it that is no storage");
  if (given.size() == 6 && given[5]->kind != Kind::none) refuse("the pickle has a view of a storage");
  const bool untyped = given[1]->text == kUntyped;
  const TypeName* const type = type_of(given[1]->text);
  if (type == nullptr && !untyped) refuse("the pickle has a storage of ", given[1]->text);
  storages_[given[2]->text] = untyped ? 1 : static_cast<std::uint64_t>(type->itemsize);
  PickleNode& storage = make(Kind::object);
  storage.text = given[2]->text;
  storage.integer = given[4]->integer;
  storage.items = {given[1]};
  return storage;
}

// (storage, offset, size, strides, requires_grad, hooks[, metadata]), or with a dtype behind the hooks, and a storage
// whose elements are bytes.
PickleNode& TorchPickle::tensor(const std::vector<PickleNode*>& given, bool has_dtype) {
  const std::size_t least = has_dtype ? 7 : 6;
  const bool fits = given.size() >= least && given.size() <= least + 1 && given[0]->kind == Kind::object &&
                    is_integer(*given[1]) && are_integers(*given[2]) && are_integers(*given[3]) &&
                    given[2]->items.size() == given[3]->items.size();
  if (!fits) refuse("the pickle has a tensor of an unknown form");
  const PickleNode& type = has_dtype ? *given[6] : *given[0]->items[0];
  const TypeName* const known = type.kind == Kind::global ? type_of(type.text) : nullptr;
  if (known == nullptr) refuse("the pickle has a tensor of the unknown type ", type.text.substr(0, 40));
  if (given[2]->items.size() > std::size_t(catena::kMaxRank))
    refuse("the pickle has a tensor of ", given[2]->items.size(), " axes, more than ", catena::kMaxRank);
  PickleNode& tensor = make(Kind::array);
  tensor.text = known->dtype;
  tensor.items = {given[0]};
  tensor.integer = given[1]->integer;
  for (std::size_t k = 0; k < given[2]->items.size(); ++k) {
    tensor.shape.push_back(given[2]->items[k]->integer);
    tensor.strides.push_back(given[3]->items[k]->integer);
  }
  check_within_storage(tensor, given[0]->integer / (has_dtype ? known->itemsize : 1));
  return tensor;
}

void TorchPickle::check_within_storage(const PickleNode& t, std::int64_t storage_size) const {
  std::int64_t size = 1, last = t.integer;
  bool fits = t.integer >= 0;
  for (std::size_t k = 0; k < t.shape.size(); ++k) {
    std::int64_t step = 0;
    fits = fits && t.shape[k] >= 0 && t.strides[k] >= 0 && !__builtin_mul_overflow(size, t.shape[k], &size) &&
           !__builtin_mul_overflow(std::max<std::int64_t>(t.shape[k] - 1, 0), t.strides[k], &step) &&
           !__builtin_add_overflow(last, step, &last);
  }
  if (fits && size == 0) return;
  if (!fits || last >= storage_size || (size > storage_size && size > kMostRepeated))
    refuse("the pickle has a tensor that does not lie within its storage of ", storage_size, " elements");
}

// ---- names ----
namespace {

TorchTensor number_of(const PickleNode& node, const std::string& name) {
  using Kind = PickleNode::Kind;
  TorchTensor t;
  t.name = name;
  t.dtype = node.kind == Kind::number ? Dtype::float64 : node.kind == Kind::integer ? Dtype::int64 : Dtype::bool_;
  t.dtype_name = catena::name_of(*t.dtype);
  t.size = 1;
  t.number = node.number;
  t.integer = node.integer;
  return t;
}

TorchTensor described(const PickleNode& node, const std::string& name) {
  const TypeName& type = *type_of(std::string(kTorch) + node.text);
  TorchTensor t;
  t.name = name;
  t.dtype_name = type.dtype;
  t.dtype = type.type;
  const PickleNode& storage = *node.items[0];
  t.storage = storage.text;
  t.storage_size = storage.items[0]->text == kUntyped ? storage.integer / type.itemsize : storage.integer;
  t.offset = node.integer;
  t.size = 1;
  for (std::size_t k = 0; k < node.shape.size(); ++k) {
    t.shape.push_back(node.shape[k]);
    t.strides.push_back(node.strides[k]);
    t.size *= node.shape[k];
  }
  return t;
}

}  // namespace

void TorchPickle::collect(const PickleNode& node, const std::string& name, int depth, Found& to) const {
  if (depth > kMostNested) refuse("the pickle has values nested more than ", kMostNested, " deep");
  if (++to.values > kMostValues)
    refuse("the pickle has more than ", kMostValues, " values, counted at all their places");
  if ((to.name_bytes += name.size()) > kMostNameBytes)
    refuse("the names of the values of the pickle have more than ", kMostNameBytes, " bytes");
  switch (node.kind) {
    case Kind::array: to.tensors.push_back(described(node, name)); return;
    case Kind::boolean:
    case Kind::integer:
    case Kind::number: to.tensors.push_back(number_of(node, name)); return;
    case Kind::text:
      // A text that stands in the file once may have many places.
      if ((to.name_bytes += node.text.size()) > kMostNameBytes)
        refuse("the names and texts of the pickle have more than ", kMostNameBytes,
               " bytes, counted at all their places");
      if (!to.texts.emplace(name, node.text).second) refuse("the pickle has two texts named ", name);
      return;
    case Kind::dict:
    case Kind::list:
    case Kind::tuple: collect_children(node, name, depth, to); return;
    default: return;
  }
}

void TorchPickle::collect_children(const PickleNode& node, const std::string& name, int depth, Found& to) const {
  const std::string prefix = name.empty() ? "" : name + ".";
  if (node.kind != Kind::dict) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      collect(*node.items[i], prefix + std::to_string(i), depth + 1, to);
    return;
  }
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const PickleNode& key = *node.items[i];
    if (key.kind != Kind::text && key.kind != Kind::integer)
      refuse("the pickle has a dictionary with a key that is neither a text nor an integer");
    collect(*node.items[i + 1], prefix + (key.kind == Kind::text ? key.text : std::to_string(key.integer)), depth + 1,
            to);
  }
}

std::map<std::string, std::string> TorchPickle::texts() const {
  Found found;
  collect(root(), "", 0, found);
  return std::move(found.texts);
}

std::vector<TorchTensor> TorchPickle::tensors() const {
  Found found;
  collect(root(), "", 0, found);
  std::vector<std::string_view> names;
  for (const TorchTensor& t : found.tensors) names.push_back(t.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) refuse("the pickle has two values named ", *twice);
  return std::move(found.tensors);
}

}  // namespace nn::serializers::internal
