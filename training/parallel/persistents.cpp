#include <catena/training/parallel/persistents.h>

#include <type_traits>

#include <catena/kernels/base/error.h>

namespace training::internal {
namespace {

// Calls f(path, value) for every persistent of a model, in order.
template <class F> class EachPersistent final : public nn::MemberVisitor {
 public:
  EachPersistent(F& f, std::string path) : f_(f), path_(std::move(path)) {}
  void persistent(std::string_view name, nn::Persistent& v) override { f_(at(name), v); }
  void persistent(std::string_view name, bool& v) override { f_(at(name), v); }
  void persistent(std::string_view name, std::int64_t& v) override { f_(at(name), v); }
  void persistent(std::string_view name, double& v) override { f_(at(name), v); }
  void persistent(std::string_view name, std::string& v) override { f_(at(name), v); }
  void link(std::string_view name, nn::Link& child) override {
    EachPersistent of_child(f_, at(name));
    child.visit_members(of_child);
  }

 private:
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }
  F& f_;
  std::string path_;
};
template <class F> void for_each_persistent(nn::Link& model, F&& f) {
  EachPersistent<F> visitor(f, "");
  model.visit_members(visitor);
}

}  // namespace

Persistents::Persistents(nn::Link& model) {
  for_each_persistent(model, [&](const std::string& path, auto& v) { values_.emplace_back(path, v); });
}

void Persistents::apply_to(nn::Link& model) const {
  if (values_.empty()) return;
  std::size_t k = 0;
  for_each_persistent(model, [&]<class V>(const std::string& path, V& v) {
    const V* const value =
        k < values_.size() && values_[k].first == path ? std::get_if<V>(&values_[k].second) : nullptr;
    catena::check<catena::RuntimeError>(value != nullptr, "Persistents", "the model has no counterpart of ", path);
    v = *value;
    ++k;
  });
}

void Persistents::serialize(nn::Serializer& s) {
  for (auto& [path, value] : values_)
    std::visit(
        [&, &path = path]<class V>(V& v) {
          if constexpr (std::is_same_v<V, nn::Persistent>) {
            if (v.array() || s.contains(path)) s(path, v.array());
          } else {
            s(path, v);
          }
        },
        value);
}

}  // namespace training::internal
