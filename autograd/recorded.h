// Arrays that functions compute beside their variables (masks, positions, counts), for code that writes graphs to files
// (nn/onnx). Such arrays leave no node in a graph. While wants_elementary_nodes() is true, `record` adds one, so that
// the file computes the array from the inputs instead of containing its values:
//
//   const Array valid = apply(kernels::not_equal, {t, -1});
//   if (internal::wants_elementary_nodes()) internal::record(valid, "not_equal", {t}, o);
//
// Internal: for source files.
#pragma once

#include <string_view>

#include <catena/autograd/function_options.h>

namespace autograd::internal {

// Adds a node of `function` whose output is `value`. Only to be called while wants_elementary_nodes() is true.
CATENA_EXPORT void record(const Array& value, std::string_view function, const Arrays& inputs,
                          FunctionOptions options = {});
// Returns `value` as the output of a node of `function`, which stands for all functions that computed it. It has no
// gradient.
CATENA_EXPORT Variable recorded(const Variable& value, std::string_view function, const Variables& inputs,
                                FunctionOptions options = {});

}  // namespace autograd::internal
