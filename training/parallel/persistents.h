// The persistents of a model: saved values other than parameters, such as running statistics. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <catena/nn/link.h>
#include <catena/nn/serializers/serializer.h>

namespace training::internal {

// Copies of the persistents of a model, by path.
class Persistents {
 public:
  Persistents() = default;
  explicit Persistents(nn::Link& model);
  // Sets the persistents of a model of the same structure; does nothing if there are none.
  void apply_to(nn::Link& model) const;
  void serialize(nn::Serializer& s);
  bool is_empty() const noexcept { return values_.empty(); }

 private:
  using Value = std::variant<nn::Persistent, bool, std::int64_t, double, std::string>;
  std::vector<std::pair<std::string, Value>> values_;
};

}  // namespace training::internal
