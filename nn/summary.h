// Texts of models: nested texts of links, and tables of what the links of a model compute.
//
//   std::cout << model;                                   // nested, with the arguments of constructors
//   std::cout << nn::summary(model, x);                   // a table: outputs, parameters, dtypes, devices
//   nn::summary(model, x).num_params                      // the same as numbers
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/nn/link.h>

namespace nn {

// Returns the class of a link with what its constructor was given, "Linear(in_size=3, out_size=2)", and its children in
// lines of their own, as PyTorch prints modules:
//
//   Net(
//     (conv): Convolution2D(in_channels=None, out_channels=8, ksize=3, pad=1)
//     (head): Linear(in_size=8, out_size=10)
//   )
//
// Sizes that the first call determines are None. Options that have their default are left out. Of classes outside the
// library the parameters are given, with their shapes. The functions of a Sequential are lines "(function)".
CATENA_EXPORT std::string to_string(const Link& link);
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Link& link);

// A link of a model in a summary.
struct SummaryRow {
  std::string path;  // "/" for the model
  int depth = 0;     // 0 for the model
  std::string type;  // the class
  // The shapes of the results of the last call; empty if the link was not called, or in a way that runs no hooks (see
  // link_hook.h).
  std::vector<Shape> output_shapes;
  std::int64_t num_params = 0, num_trainable = 0;  // elements of the link's own parameters, without its children
  bool has_uninitialized = false;                  // whether it has parameters without a shape, which do not count
  std::optional<Dtype> dtype;                      // of its first parameter, else of its first result
  std::optional<Device> device;
  std::int64_t calls = 0;
};

// A table of the links of a model, with their parameters and the shapes of their outputs, and the totals of the model.
struct CATENA_EXPORT ModelSummary {
  std::vector<SummaryRow> rows;                    // in the order of Link::namedlinks()
  std::int64_t num_params = 0, num_trainable = 0;  // of the model; shared parameters count once
  std::int64_t num_bytes = 0;                      // of its parameters

  // A table with a row for each link and totals below.
  std::string to_string() const;
  operator std::string() const { return to_string(); }
  friend CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);
};

struct SummaryOptions {
  bool train = false;  // the mode of the call
  int max_depth = -1;  // the table has links up to this depth; -1: all
};

// Calls the model once, without a graph, and returns what its links computed. Parameters get their shapes by this call.
// Recurrent states and, with train, running averages change as in any call.
//   nn::summary(model, x)   nn::summary(model, {x, t})   nn::summary(model, [&] { model(x, mask); })
CATENA_EXPORT ModelSummary summary(Link& model, const Variables& inputs, const SummaryOptions& options = {});
CATENA_EXPORT ModelSummary summary(Link& model, const catena::Function<void()>& call,
                                   const SummaryOptions& options = {});
inline ModelSummary summary(Link& model, const Variable& input, const SummaryOptions& options = {}) {
  return summary(model, Variables{input}, options);
}
// For an input of zeros of this shape, float32: nn::summary(model, {1, 3, 28, 28})
CATENA_EXPORT ModelSummary summary(Link& model, std::initializer_list<catena::Integer> shape,
                                   const SummaryOptions& options = {});
// Without a call: parameters only.
CATENA_EXPORT ModelSummary summary(Link& model, const SummaryOptions& options = {});

}  // namespace nn
