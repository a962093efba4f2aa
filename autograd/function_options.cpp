#include <catena/autograd/function_options.h>

namespace autograd::internal {

HasOptions::~HasOptions() = default;

FunctionOption& FunctionOptions::add(std::string_view name) {
  FunctionOption& option = list_.emplace_back();
  option.name = name;
  return option;
}

void FunctionOptions::constant(std::string_view name, const Constant& value) {
  FunctionOption& option = add(name);
  if (value.is_array()) option.arrays = {value.array()};
  else option.numbers = {value.scalar().to_double()};
}

const FunctionOption* FunctionOptions::find(std::string_view name) const noexcept {
  for (const FunctionOption& option : list_)
    if (option.name == name) return &option;
  return nullptr;
}

bool& wants_elementary_nodes() noexcept {
  thread_local bool wants = false;
  return wants;
}

}  // namespace autograd::internal
