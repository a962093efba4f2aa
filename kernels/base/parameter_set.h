// Sets of named parameters for tests: every combination of values; an error names the failing one.
//
//   parameterize(product({{"dtype", {Dtype::float16, Dtype::float32}}, {"shape", {Shape{3, 2}, Shape{}}}}),
//                [](const ParameterSet& p) { check(p.get<Dtype>("dtype"), p.get<Shape>("shape")); });
//   -> {dtype: float16, shape: (3, 2)}: <message>
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/kernels/base/testing.h>

namespace catena::testing {

// A value of any copyable type. Integers are stored as int64, floats as double, text as std::string.
class Parameter {
 public:
  template <class T>
  requires(!std::is_same_v<T, Parameter> && !std::is_same_v<T, std::vector<Parameter>>) Parameter(const T& v)
      : value_(Shared<ValueOf<decltype(kept(v))>>::make(kept(v))) {
    if constexpr (std::is_function_v<T> || (std::is_pointer_v<T> && !std::is_convertible_v<T, std::string_view>))
      text_ = "...";
    else if constexpr (std::is_same_v<T, bool>) text_ = v ? "true" : "false";
    else if constexpr (std::is_convertible_v<const T&, std::string_view> || std::is_arithmetic_v<T> ||
                       requires(std::ostream & out) { out << v; })
      text_ = concat(v);
    else text_ = "...";
  }
  const std::string& text() const noexcept { return text_; }
  // TypeError if the value is of another type.
  template <class T> T get(std::string_view name) const {
    using Kept = decltype(kept(std::declval<T>()));
    if (const auto* const v = dynamic_cast<const ValueOf<Kept>*>(value_.get())) return static_cast<T>(v->value);
    if constexpr (std::is_floating_point_v<T>)
      if (const auto* const n = dynamic_cast<const ValueOf<std::int64_t>*>(value_.get()))
        return static_cast<T>(n->value);
    fail<TypeError>("ParameterSet", "the parameter ", name, ", ", text_, ", is not of that type");
  }

 private:
  // Values do not change, so copies of a parameter share them. (<any> would make every test's headers longer.)
  struct Value {
    virtual ~Value() = default;
  };
  template <class K> struct ValueOf : Value {
    explicit ValueOf(K v) : value(std::move(v)) {}
    K value;
  };

  template <class T> static auto kept(const T& v) {
    if constexpr (std::is_function_v<T>) return &v;
    else if constexpr (std::is_same_v<T, bool>) return v;
    else if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(v);
    else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(v);
    else if constexpr (std::is_convertible_v<const T&, std::string_view>) return std::string(std::string_view(v));
    else return v;
  }
  Shared<const Value> value_;
  std::string text_;
};

class CATENA_EXPORT ParameterSet {
 public:
  using Item = std::pair<std::string, Parameter>;
  ParameterSet() = default;
  ParameterSet(std::initializer_list<Item> items) {
    for (const Item& i : items) set(i.first, i.second);
  }
  // p.get<int>("n"): KeyError for a name that does not exist, TypeError for another type.
  template <class T> T get(std::string_view name) const { return at(name).get<T>(name); }
  const Parameter& at(std::string_view name) const;
  bool contains(std::string_view name) const;
  void set(const std::string& name, const Parameter& value);
  const std::vector<Item>& items() const noexcept { return items_; }  // in the order of the names
  std::string to_string() const;                                      // {dtype: float32, shape: (3, 2)}

 private:
  std::vector<Item> items_;
};

// Returns every combination of one value of each name, in the order of the names, the last one varying fastest.
using Choices = std::vector<std::pair<std::string, std::vector<Parameter>>>;
CATENA_EXPORT std::vector<ParameterSet> product(const Choices& choices);
// Returns every combination of one set of each list, merged into one set; if several have a name, the last one counts.
CATENA_EXPORT std::vector<ParameterSet> product_dict(const std::vector<std::vector<ParameterSet>>& lists);

}  // namespace catena::testing
