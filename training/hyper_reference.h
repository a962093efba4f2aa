// A hyperparameter as it is read and written in Python: a member of an optimizer, a group or the rule of a parameter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace training {

class Optimizer;
namespace internal {
// The name by which an optimizer has a hyperparameter: "alpha" for "lr" and "weight_decay_rate" for "weight_decay" if
// it has that one instead; else the name itself.
CATENA_EXPORT std::string own_name(const Optimizer& optimizer, std::string_view name);
CATENA_EXPORT std::int64_t number_of_updates(const Optimizer& optimizer);
template <class Owner> const Optimizer& optimizer_of(const Owner& owner) {
  if constexpr (requires { owner.optimizer(); }) return owner.optimizer();
  else return owner;
}
// The number of updates. The rule of a parameter has its own; for a group it is the optimizer's.
template <class Owner> std::int64_t updates_of(const Owner& owner) {
  if constexpr (requires {
                  owner.optimizer();
                  owner.t();
                })
    return owner.t();
  else return number_of_updates(optimizer_of(owner));
}
}  // namespace internal

// Stands for the value of a hyperparameter; an assignment changes it:
//
//   optimizer.lr *= 0.1;                                          // as optimizer.set_lr
//   for (auto& group : optimizer.param_groups()) group.lr = 0.01;
//   group["weight_decay"] = 0;                                    // a name that is given at run time
//
// "lr" stands for "alpha" if the optimizer has no "lr" to set, and "weight_decay" likewise for "weight_decay_rate". A
// call, optimizer.lr(), returns the rate of the last update, which Adam computes from alpha; before the first update,
// it returns the value. KeyError for a name that the optimizer lacks. A copy (auto before = optimizer.lr) is the number
// of that moment. The owner must outlive the reference.
class HyperReference {
 public:
  template <class Owner>
  HyperReference(Owner& owner, std::string_view name) noexcept
      : owner_(&owner),
        name_(name),
        get_([](const void* from, std::string_view key) {
          const auto& o = *static_cast<const Owner*>(from);
          return o.get_hyper(internal::own_name(internal::optimizer_of(o), key));
        }),
        call_([](const void* from, std::string_view key) {
          const auto& o = *static_cast<const Owner*>(from);
          const bool has_followed = key == "lr" && internal::updates_of(o) > 0;
          return o.get_hyper(has_followed ? std::string(key) : internal::own_name(internal::optimizer_of(o), key));
        }),
        set_([](void* to, std::string_view key, double value) {
          auto& o = *static_cast<Owner*>(to);
          o.set_hyper(internal::own_name(internal::optimizer_of(o), key), value);
        }) {}
  HyperReference(const HyperReference& o) : value_(o.value()) {}
  HyperReference& operator=(const HyperReference& o) { return *this = o.value(); }
  HyperReference& operator=(double value) {
    if (owner_ != nullptr) set_(owner_, name_, value);
    value_ = value;
    return *this;
  }
  ~HyperReference() = default;

  double value() const { return owner_ != nullptr ? get_(owner_, name_) : value_; }
  operator double() const { return value(); }
  double operator()() const { return owner_ != nullptr ? call_(owner_, name_) : value_; }
  HyperReference& operator+=(double by) { return *this = value() + by; }
  HyperReference& operator-=(double by) { return *this = value() - by; }
  HyperReference& operator*=(double by) { return *this = value() * by; }
  HyperReference& operator/=(double by) { return *this = value() / by; }

 private:
  void* owner_ = nullptr;  // null: a number
  std::string_view name_ = {};
  double (*get_)(const void* from, std::string_view key) = nullptr;
  double (*call_)(const void* from, std::string_view key) = nullptr;
  void (*set_)(void* to, std::string_view key, double value) = nullptr;
  double value_ = 0;
};

}  // namespace training
