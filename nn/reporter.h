// Reporter: links and extensions report values by name, and do not depend on how the values are used. The training loop
// collects them in an observation.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>

namespace nn {

class Link;
namespace internal {
class ObservationPlace;
}

// A reported value: a host number, or a 0-d variable that stays on its device until value() is called.
class CATENA_EXPORT Observed {
 public:
  Observed(double v) : number_(v) {}
  // TypeError for a variable or an array that is null, or whose data is (a parameter of unknown shape), and for complex
  // numbers.
  Observed(const autograd::Variable& v);
  Observed(const autograd::Array& a);
  template <autograd::ForeignArray T> Observed(const T& a) : Observed(autograd::Array(a)) {}
  Observed(const internal::ObservationPlace& place);
  // The value of an array that will not be written any more, so that it can be kept without a copy.
  static Observed constant(const autograd::Array& a);
  double value() const;                                                      // copies a device value to the host
  operator double() const { return value(); }                                // observation["main/loss"] < 0.1
  const autograd::Variable& variable() const noexcept { return variable_; }  // null for a number
  // The value as a number, a variable or an array. A variable or an array stays on its device.
  template <class V> V as() const {
    if constexpr (std::is_arithmetic_v<V>) return static_cast<V>(value());
    else if constexpr (std::constructible_from<V, const Observed&>) return V(*this);
    else if constexpr (std::same_as<V, autograd::Variable>) return as_variable();
    else return V(as_variable().data());
  }
  bool is_scalar() const noexcept { return !variable_ || variable_.data().size() == 1; }
  bool is_constant() const noexcept { return !variable_ || is_constant_; }

 private:
  autograd::Variable as_variable() const;  // a number becomes a 0-d variable of float64
  double number_ = 0;
  bool is_constant_ = false;
  autograd::Variable variable_;
};

namespace internal {
// A range of pairs of a name and a value, such as std::map<std::string, Variable>.
template <class T>
concept NamedValues = requires(const T& values) {
  std::string(values.begin()->first);
  Observed(values.begin()->second);
  values.end();
};
}  // namespace internal

// Name -> value, in the order of the first report. Also made of a list, {{"loss", 0.5}}, and of a map from names.
class CATENA_EXPORT Observation {
 public:
  using Entry = std::pair<std::string, Observed>;
  Observation() = default;
  Observation(std::initializer_list<Entry> values) {
    for (const auto& [key, value] : values) set(key, value);
  }
  template <class Values>
  Observation(const Values& values) requires(!std::is_same_v<Values, Observation> && internal::NamedValues<Values>) {
    for (const auto& [key, value] : values) set(std::string(key), Observed(value));
  }
  void set(const std::string& key, const Observed& value);
  const Observed* find(std::string_view key) const noexcept;
  const Observed& at(std::string_view key) const;  // the KeyError lists the available keys
  const Observed& operator[](std::string_view key) const { return at(key); }
  internal::ObservationPlace operator[](std::string_view key);  // observation["lr"] = 0.1; read as at(key)
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  std::size_t count(std::string_view key) const noexcept { return contains(key) ? 1 : 0; }
  void clear() noexcept { entries_.clear(); }
  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

namespace internal {
// The place of a key, which is read and written.
class ObservationPlace {
 public:
  ObservationPlace(Observation& of, std::string_view key) : of_(of), key_(key) {}
  ObservationPlace(const ObservationPlace&) = default;
  ObservationPlace& operator=(const Observed& value) {
    of_.set(key_, value);
    return *this;
  }
  ObservationPlace& operator=(const ObservationPlace& other) { return *this = other.get(); }
  template <class V> ObservationPlace& operator=(const V& value) { return *this = Observed(value); }
  operator const Observed&() const { return get(); }
  operator double() const { return value(); }
  double value() const { return get().value(); }
  const autograd::Variable& variable() const { return get().variable(); }
  template <class V> V as() const { return get().template as<V>(); }
  bool is_scalar() const { return get().is_scalar(); }

 private:
  const Observed& get() const { return of_.at(key_); }
  Observation& of_;
  std::string key_;
};
// A map from names to numbers, variables or arrays, such as std::map<std::string, Variable>.
template <class M>
concept ReportedMap = requires(M& map, std::string name, typename M::mapped_type value) {
  map.insert_or_assign(name, value);
  Observed(value);
};
}  // namespace internal
inline Observed::Observed(const internal::ObservationPlace& p) : Observed(static_cast<const Observed&>(p)) {}
inline internal::ObservationPlace Observation::operator[](std::string_view key) { return {*this, key}; }

// Thread safety: a reporter belongs to one thread; the stack of current reporters is per thread.
class CATENA_EXPORT Reporter {
 public:
  // Registers an observer (by address); the keys of its reports are "<name>/<key>".
  void add_observer(const std::string& name, const void* observer);
  void add_observer(const std::string& name, const Link* observer) {
    add_observer(name, static_cast<const void*>(observer));
  }
  void add_observer(const std::string& name, const Link& observer) { add_observer(name, &observer); }
  // Several, such as link.namedlinks(): each is registered as `prefix` + its name.
  template <class Observers> void add_observers(const std::string& prefix, Observers&& observers) {
    for (auto&& [name, observer] : observers) add_observer(prefix + std::string(name), observer);
  }
  // Registers the root as `prefix` and its descendants as prefix + path.
  void add_link(const std::string& prefix, Link& root);
  // Reports under the observer's prefix; a null observer has none. KeyError for an unregistered observer.
  void report(const std::string& key, const Observed& value, const void* observer = nullptr);
  // A link is registered by the address of its Link subobject, so that a pointer to any of its classes finds it.
  void report(const std::string& key, const Observed& value, const Link* observer) {
    report(key, value, static_cast<const void*>(observer));
  }
  // Several values: reporter.report({{"loss", loss}, {"accuracy", accuracy}}, this), or a map from names to values.
  template <class Observer = Link>
  void report(std::initializer_list<Observation::Entry> values, const Observer* observer = nullptr) {
    for (const auto& [key, value] : values) report(key, value, observer);
  }
  template <internal::NamedValues Values, class Observer = Link>
  void report(const Values& values, const Observer* observer = nullptr) {
    for (const auto& [key, value] : values) report(std::string(key), Observed(value), observer);
  }
  void report(std::initializer_list<Observation::Entry> values, const Link& observer) { report(values, &observer); }
  void report(const std::string& key, const Observed& value, const Link& observer) { report(key, value, &observer); }
  Observation& observation() noexcept { return *current_; }

  // Makes this the thread's current reporter, with `observation` as target, until the end of the scope.
  class CATENA_EXPORT Scope {
   public:
    Scope(Reporter& r, Observation& observation);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Reporter& reporter_;
    Observation* previous_;
  };
  [[nodiscard]] Scope scope(Observation& observation) { return {*this, observation}; }
  // A map from names to numbers, variables or arrays, which the values are written to when the scope ends.
  template <internal::ReportedMap M> [[nodiscard]] auto scope(M& observation);
  [[nodiscard]] Scope scope() { return {*this, *current_}; }  // keeps the current target

 private:
  Observation own_;
  Observation* current_ = &own_;
  std::vector<std::pair<const void*, std::string>> names_;
};

namespace internal {
// A scope with an observation of its own, whose values go to a map.
template <class M> class MapScope {
 public:
  MapScope(Reporter& reporter, M& to) : to_(to), scope_(reporter, own_) {}
  MapScope(const MapScope&) = delete;
  MapScope& operator=(const MapScope&) = delete;
  // A value may lie on a device, from which it cannot be read after an error there.
  ~MapScope() noexcept(false) {
    if (std::uncaught_exceptions() > before_) return;
    for (const auto& [key, value] : own_) to_.insert_or_assign(key, value.template as<typename M::mapped_type>());
  }

 private:
  const int before_ = std::uncaught_exceptions();
  Observation own_;
  M& to_;
  Reporter::Scope scope_;
};
}  // namespace internal
template <internal::ReportedMap M> auto Reporter::scope(M& observation) {
  return internal::MapScope<M>(*this, observation);
}

// Returns the innermost reporter of this thread; RuntimeError if there is none.
CATENA_EXPORT Reporter& get_current_reporter();
CATENA_EXPORT Reporter* find_current_reporter() noexcept;  // null if there is none
// Reports to the thread's current reporter; does nothing if there is none.
CATENA_EXPORT void report(const std::string& key, const Observed& value, const void* observer = nullptr);
inline void report(const std::string& key, const Observed& value, const Link* observer) {
  report(key, value, static_cast<const void*>(observer));
}
template <class Observer = Link>
void report(std::initializer_list<Observation::Entry> values, const Observer* observer = nullptr) {
  if (Reporter* const reporter = find_current_reporter()) reporter->report(values, observer);
}
template <internal::NamedValues Values, class Observer = Link>
void report(const Values& values, const Observer* observer = nullptr) {
  if (Reporter* const reporter = find_current_reporter()) reporter->report(values, observer);
}
inline void report(std::initializer_list<Observation::Entry> v, const Link& observer) { report(v, &observer); }
inline void report(const std::string& key, const Observed& value, const Link& observer) {
  report(key, value, &observer);
}
// Redirects the reports of the thread's current reporter to another observation until the end of the scope.
// RuntimeError without a reporter.
[[nodiscard]] inline Reporter::Scope report_scope(Observation& observation) {
  return get_current_reporter().scope(observation);
}
// A map from names to numbers, variables or arrays, which the values are written to when the scope ends.
template <internal::ReportedMap M> [[nodiscard]] auto report_scope(M& observation) {
  return get_current_reporter().scope(observation);
}

// Running mean and standard deviation of scalars, in double precision. Arrays are summed on their device, without
// waiting until a result is read.
class CATENA_EXPORT Summary {
 public:
  void add(double value, std::int64_t weight = 1) noexcept;  // counts as `weight` equal values
  // Throws a ValueError for an array with more or less than one element, and then adds nothing.
  template <autograd::ArrayLike A> void add(const A& value, std::int64_t weight = 1) {
    add_array(autograd::Array(value), weight);
  }
  void add(const autograd::Variable& value, std::int64_t weight = 1) { add_array(value.data(), weight); }
  double compute_mean() const;                        // RuntimeError if the summary is empty
  std::pair<double, double> make_statistics() const;  // mean, population deviation
  std::int64_t count() const noexcept { return n_; }
  double sum() const;
  double sum_of_squares() const;
  void set(double x, double x2, std::int64_t n) noexcept;

 private:
  void add_array(const autograd::Array& value, std::int64_t weight);
  void collect() const;  // adds the sums on a device to those on the host

  mutable double x_ = 0, x2_ = 0;
  std::int64_t n_ = 0;
  mutable autograd::Array on_device_;  // float64 (2): the sums of values and squares on a device; null: none
};

// Numbers with names, in the order in which the names came.
class CATENA_EXPORT NamedNumbers : public std::vector<std::pair<std::string, double>> {
 public:
  using vector::vector;
  using vector::operator[];
  double operator[](std::string_view name) const;  // KeyError if there is none
};

// One Summary per key, with separate counts; values that are not scalars are ignored. Device values are read when the
// mean is computed, so adding does not synchronise.
class CATENA_EXPORT DictSummary {
 public:
  void add(const Observation& observation, std::int64_t weight = 1);
  void add(const std::string& key, const Observed& value, std::int64_t weight = 1);
  template <internal::NamedValues Values> void add(const Values& values, std::int64_t weight = 1) {
    add(Observation(values), weight);
  }
  // add({{"loss", loss}, {"accuracy", accuracy}})
  template <class E = Observation::Entry>
  void add(std::initializer_list<std::type_identity_t<E>> values, std::int64_t weight = 1) {
    for (const auto& [key, value] : values) add(key, value, weight);
  }
  NamedNumbers compute_mean() const;
  NamedNumbers make_statistics() const;  // the means, plus "<key>.std"
  const std::vector<std::pair<std::string, Summary>>& summaries() const;
  void set(const std::string& key, const Summary& s);
  bool empty() const noexcept { return summaries_.empty() && pending_.empty(); }

 private:
  void flush() const;
  Summary& summary(const std::string& key) const;
  mutable std::vector<std::pair<std::string, Summary>> summaries_;
  mutable std::map<std::string, std::size_t, std::less<>> places_;  // index in summaries_
  struct Pending {
    std::string key;
    Observed value;
    std::int64_t weight;
  };
  mutable std::vector<Pending> pending_;
};

}  // namespace nn

// Chainer's module.
namespace nn::reporter {

using nn::DictSummary, nn::get_current_reporter, nn::Observation, nn::report, nn::report_scope, nn::Reporter,
    nn::Summary;

}  // namespace nn::reporter
