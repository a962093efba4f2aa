// The index of a model whose tensors lie in several safetensors files: model.safetensors.index.json. Internal to this
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nn::serializers::internal {

// The contents of an index: "weight_map" and the texts of "metadata".
struct SafetensorsIndex {
  std::vector<std::pair<std::string, std::string>> weight_map;  // name of a tensor, file in the folder of the index
  std::vector<std::pair<std::string, std::string>> metadata;
};

bool is_safetensors_index(const std::string& filename) noexcept;
// IOError if the file cannot be read; ValueError if it is no index, names a tensor twice, or names a file of another
// folder.
SafetensorsIndex read_safetensors_index(std::string_view op, const std::string& filename);
void write_safetensors_index(const std::string& filename, const SafetensorsIndex& index, std::uint64_t total_size);

// Returns the path of a file beside another one.
std::string beside(const std::string& filename, const std::string& name);
// Returns the name of part `part` (from 0 on) of `parts`: "model-00001-of-00003.safetensors" for
// "model.safetensors", and the name of the index, "model.safetensors.index.json".
std::string shard_name(const std::string& filename, std::size_t part, std::size_t parts);
std::string index_name(const std::string& filename);

}  // namespace nn::serializers::internal
