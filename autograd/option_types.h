// Declarations of the types of options that members of Variable take (members_with_options.inc) and that other headers
// define.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include <catena/autograd/axis_options.h>
#include <catena/autograd/torch_member_lists.h>
#include <catena/kernels/base/dtype.h>

namespace nd {
class Values;
}

namespace autograd {

#define CATENA_OPTIONS(name, Options) struct Options;
CATENA_OPTIONS_ALONE(CATENA_OPTIONS)
CATENA_OPTIONS_BEHIND_ONE(CATENA_OPTIONS)
#undef CATENA_OPTIONS
struct TensorOptions;
struct ToOptions;
struct ScatterReduceOptions;
struct AccumulateOption;
struct BackwardArguments;
template <std::size_t N> struct VariablesOf;
// Options of new tensors, or a dtype or its name alone.
template <class O>
concept NewTensorOptions =
    std::same_as<O, TensorOptions> || std::same_as<O, catena::Dtype> || std::convertible_to<const O&, std::string_view>;

}  // namespace autograd
