// The order of a norm, as an argument.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

namespace catena {

// A number, "fro", "f" or "nuc"; without a value: the square root of the sum of squares.
class NormOrder {
 public:
  NormOrder() noexcept = default;
  NormOrder(std::nullopt_t) noexcept {}
  template <class E>
  requires(std::is_arithmetic_v<E>) NormOrder(E p)
  noexcept : number_(static_cast<double>(p)) {}
  NormOrder(const char* name) noexcept : name_(name) {}
  NormOrder(std::string_view name) noexcept : name_(name) {}

  bool absent() const noexcept { return !number_ && name_.empty(); }
  const std::optional<double>& number() const noexcept { return number_; }
  std::string_view name() const noexcept { return name_; }

 private:
  std::optional<double> number_;
  std::string_view name_;
};

}  // namespace catena
