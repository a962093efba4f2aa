// The persistents of a model: what it saves beside its parameters, such as running statistics. Internal to this folder.
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
  // Into a model of the same structure; without effect when there are none.
  void apply_to(nn::Link& model) const;
  void serialize(nn::Serializer& s);
  bool is_empty() const noexcept { return values_.empty(); }

 private:
  using Value = std::variant<nn::Persistent, bool, std::int64_t, double, std::string>;
  std::vector<std::pair<std::string, Value>> values_;
};

}  // namespace training::internal
