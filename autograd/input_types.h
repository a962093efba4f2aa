// Type checks for functions that call other functions, and checks that several functions share.
#pragma once

#include <string_view>

#include <catena/autograd/type_check.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>

namespace autograd::internal {

// Runs `check` on the types of the inputs, unless type checks are off, as for a node with this label: an InvalidType
// or InvalidAxis names the label. `names`: names of the inputs for messages, separated by spaces. TypeError for a null
// input.
CATENA_EXPORT void check_input_types(std::string_view label, const Variables& inputs,
                                     const catena::Function<void(const type_check::TypeInfoTuple&)>& check,
                                     std::string_view names = {});

// Throws an InvalidAxis unless every given axis is an axis of input 0, or with `adds_one`, of an array with one more.
CATENA_EXPORT void expect_axes(const type_check::TypeInfoTuple& in_types, const Axes& axes, bool adds_one = false);

}  // namespace autograd::internal
