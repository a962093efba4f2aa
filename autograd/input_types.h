// Type checks of functions that are made of other functions, and of those that share a rule.
#pragma once

#include <string_view>

#include <catena/autograd/type_check.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal {

// Runs `check` on the types of the inputs, unless type checks are off, as the check of a node with this label is run:
// an InvalidType names the label. `names`: what errors call the inputs, separated by spaces. TypeError for a null
// input.
CATENA_EXPORT void check_input_types(std::string_view label, const Variables& inputs,
                                     const catena::Function<void(const type_check::TypeInfoTuple&)>& check,
                                     std::string_view names = {});

// InvalidType unless every given axis is one of input 0.
CATENA_EXPORT void expect_axes(const type_check::TypeInfoTuple& in_types, const Axes& axes);

}  // namespace autograd::internal
