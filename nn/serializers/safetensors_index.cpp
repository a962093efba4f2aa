#include <catena/nn/serializers/safetensors_index.h>

#include <nlohmann/json.hpp>
#include <unordered_set>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>

namespace nn::serializers::internal {

using catena::check;
using catena::fail;
using catena::ValueError;
using nlohmann::json;

namespace {

constexpr std::string_view kSuffix = ".index.json", kExtension = ".safetensors";
constexpr int kMaxDepth = 8;
constexpr std::size_t kDigits = 5;

// Returns the name without folders.
std::string last_part(const std::string& filename) { return filename.substr(filename.rfind('/') + 1); }

json parsed(const std::string& context, const std::string& text) {
  std::unordered_set<std::string> names, outer;
  const auto refuse_deep_or_repeated = [&](int depth, json::parse_event_t event, json& value) {
    check<ValueError>(depth <= kMaxDepth, context, "the index is nested more than ", kMaxDepth, " deep");
    if (event == json::parse_event_t::key && depth == 1) names.clear();  // a name counts in its own object
    if (event == json::parse_event_t::key && depth <= 2)
      check<ValueError>((depth == 1 ? outer : names).insert(value.get<std::string>()).second, context,
                        "the index has the name ", value.get<std::string>(), " twice");
    return true;
  };
  try {
    return json::parse(text, refuse_deep_or_repeated);
  } catch (const json::exception& e) {
    fail<ValueError>(context, "the index is no JSON: ", e.what());
  }
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

std::string padded(std::size_t number) {
  const std::string digits = std::to_string(number);
  return digits.size() < kDigits ? std::string(kDigits - digits.size(), '0') + digits : digits;
}

// The name without the extension .safetensors.
std::string stem_of(const std::string& filename) {
  return filename.ends_with(kExtension) ? filename.substr(0, filename.size() - kExtension.size()) : filename;
}

}  // namespace

bool is_safetensors_index(const std::string& filename) noexcept { return filename.ends_with(kSuffix); }

SafetensorsIndex read_safetensors_index(std::string_view op, const std::string& filename) {
  const std::string context = catena::io_context(op, filename);
  const json all = parsed(context, catena::read_file(op, filename));
  const auto map = all.is_object() ? all.find("weight_map") : all.end();
  check<ValueError>(all.is_object() && map != all.end() && map->is_object(), context,
                    "is no index of safetensors files: it has no weight_map");
  SafetensorsIndex index;
  for (const auto& [name, file] : map->items()) {
    check<ValueError>(file.is_string() && is_plain_name(file.get<std::string>()), context, "the file of the tensor ",
                      name, " is ", file.dump(), "; the name of a file in the same folder is needed");
    index.weight_map.emplace_back(name, file.get<std::string>());
  }
  const auto metadata = all.find("metadata");
  if (metadata != all.end() && metadata->is_object())
    for (const auto& [key, value] : metadata->items())
      if (value.is_string()) index.metadata.emplace_back(key, value.get<std::string>());
  return index;
}

void write_safetensors_index(const std::string& filename, const SafetensorsIndex& index, std::uint64_t total_size) {
  json all = {{"metadata", {{"total_size", total_size}}}, {"weight_map", json::object()}};
  for (const auto& [key, value] : index.metadata) all["metadata"][key] = value;
  for (const auto& [name, file] : index.weight_map) all["weight_map"][name] = file;
  const std::string text = all.dump(2) + "\n";
  catena::AtomicFile file("save_safetensors", filename);
  file.write(text.data(), text.size());
  file.commit();
}

std::string beside(const std::string& filename, const std::string& name) {
  return filename.substr(0, filename.size() - last_part(filename).size()) + name;
}
std::string shard_name(const std::string& filename, std::size_t part, std::size_t parts) {
  return last_part(stem_of(filename)) + "-" + padded(part + 1) + "-of-" + padded(parts) + std::string(kExtension);
}
std::string index_name(const std::string& filename) {
  return last_part(stem_of(filename)) + std::string(kExtension) + std::string(kSuffix);
}

}  // namespace nn::serializers::internal
