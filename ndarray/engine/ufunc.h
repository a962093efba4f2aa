// The engine of elementwise functions: loop choice, broadcasting, casting rules, allocation, overlap and device checks,
// in one place.
//
// An operation runs on the device of its arrays, which must be one (ValueError naming both); arrays without elements
// are not asked, and scalars alone compute on the current device. New results are C-contiguous. Errors are thrown
// before any output is touched.
//
// Thread safety: everything here may be called from any thread; writing an array that another thread uses is the
// caller's to order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

struct UfuncOptions {
  Array out = {};                        // must have the common shape of all operands, itself included
  std::optional<Dtype> dtype = {};       // chooses the loop by its output; inputs are then converted unsafely
  Casting casting = Casting::same_kind;  // from the result of the loop to `out`
};
// Of functions with two results.
struct UfuncPairOptions {
  std::pair<Array, Array> out = {};  // both or none
  std::optional<Dtype> dtype = {};
  Casting casting = Casting::same_kind;
};

// An elementwise function as an object, for inspection and for calls by name: nd::ufunc("add").types() begins with
// "??->?".
class CATENA_EXPORT ufunc {
 public:
  // By name; aliases (abs, mod, divide...) give their target. KeyError when there is none, TypeError when the kernel of
  // that name is not a plain elementwise function.
  explicit ufunc(std::string_view name);

  std::string_view name() const noexcept { return def_->name; }
  int nin() const noexcept { return def_->nin; }
  int nout() const noexcept { return def_->nout; }
  int nargs() const noexcept { return nin() + nout(); }
  std::vector<std::string> types() const;  // loop signatures such as "ff->f", in search order
  std::string to_string() const;           // <ufunc 'add'>

  // `args` are nin inputs, or nin inputs and all nout outputs (TypeError otherwise). options.out only for functions
  // with one result and not beside outputs among the arguments (ValueError). Returns the outputs.
  std::vector<Array> call(std::span<const Operand> args, const UfuncOptions& options = {}) const;
  // Of functions with one output; TypeError for others.
  Array operator()(const Operand& x, const UfuncOptions& options = {}) const;
  Array operator()(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) const;

 private:
  const catena::KernelDef* def_;
};

namespace internal {

// The general call: `out` has one array per output of the kernel, null ones are allocated.
CATENA_EXPORT void apply_ufunc(const catena::KernelDef& def, std::span<const Operand> in, std::span<Array> out,
                               std::optional<Dtype> dtype, Casting casting);
// Kernels with one output. An expiring input that nobody else refers to may become the result.
CATENA_EXPORT Array apply_ufunc(const catena::KernelDef& def, std::span<const Operand> in, const UfuncOptions& options);
CATENA_EXPORT std::pair<Array, Array> apply_ufunc(const catena::KernelDef& def, std::span<const Operand> in,
                                                  const UfuncPairOptions& options);
// The same without options: what operators use.
CATENA_EXPORT Array apply_unary(const catena::KernelDef& def, const Operand& x);
CATENA_EXPORT Array apply_binary(const catena::KernelDef& def, const Operand& a, const Operand& b);
CATENA_EXPORT void apply_in_place(const catena::KernelDef& def, const Array& a, const Operand& b);

// The loop that a call on such inputs uses (without options.dtype). TypeError where there is none.
CATENA_EXPORT int choose_loop_for(const catena::KernelDef& def, std::span<const catena::Input> inputs);
// Executes bound operands as one step, on the current stream of `device`.
CATENA_EXPORT void launch(const catena::KernelDef& def, int loop, std::span<const catena::BoundOperand> operands,
                          const Shape& shape, Device device);
// Tells the pool that the current stream of its device uses the memory of `a`, so that freeing it is safe. Nothing on
// the CPU.
CATENA_EXPORT void record_use(const catena::ArrayHeader& a);

// The device of all arrays that have elements; ValueError "<op>: arrays are on cpu:0 and cuda:0..." when they are on
// several; the current device when there is none. Null arrays among `out` are skipped.
CATENA_EXPORT Device common_device(std::string_view op, std::span<const Operand> in, std::span<const Array> out = {});
// ValueError when several elements of `out` share memory (a broadcast view).
CATENA_EXPORT void check_output_layout(std::string_view op, const Array& out);

}  // namespace internal
}  // namespace nd
