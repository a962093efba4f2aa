// The keys of a file below the path of a deserializer. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nn::serializers {

class KeysBelow {
 public:
  // `all`: the file has names that do not begin with the path, so every key is below it.
  KeysBelow(std::string_view path, bool all) : prefix_(path.empty() || all ? "" : std::string(path) + "/") {}
  void add(std::string_view key) {
    if (key.starts_with(prefix_)) keys_.emplace_back(key.substr(prefix_.size()));
  }
  std::vector<std::string> take() { return std::move(keys_); }  // without the path, in the order of add()

 private:
  std::string prefix_;
  std::vector<std::string> keys_;
};

}  // namespace nn::serializers
