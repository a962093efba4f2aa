// The engine of elementwise functions: loop choice, broadcasting, casting rules, allocation, overlap and device checks.
//
// An operation runs on the device of its arrays, which must be the same (ValueError naming both). Arrays without
// elements are ignored in that check, and scalars alone compute on the current device. New results are C-contiguous.
// Errors are thrown before any output is modified.
//
// Thread safety: all functions may be called from any thread; the caller must order writes to an array with other
// accesses.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/registry/kernel_declaration.h>
#include <catena/ndarray/core/array.h>

namespace nd {

struct UfuncOptions {
  Array out = {};                        // must have the common shape of all operands, including itself
  std::optional<Dtype> dtype = {};       // chooses the loop by its output dtype; inputs are then cast unsafely
  Casting casting = Casting::same_kind;  // rule for the cast from the result of the loop to `out`
};
// Options of functions with two results.
struct UfuncPairOptions {
  std::pair<Array, Array> out = {};  // both or none
  std::optional<Dtype> dtype = {};
  Casting casting = Casting::same_kind;
};

namespace internal {

// Computes the loops of a function that is given as text (user_kernel/create_ufunc.h).
class CATENA_EXPORT LoopRunner {
 public:
  virtual ~LoopRunner();
  // `out`: allocated, with the common shape and at least one element. Operands may have other dtypes than the loop;
  // they are converted element by element. Inputs may overlap outputs.
  virtual void run(int loop, std::span<const Operand> in, std::span<const Array> out) const = 0;
};

}  // namespace internal

// An elementwise function as an object, for inspection and for calls by name: nd::ufunc("add").types() begins with
// "??->?". create_ufunc (user_kernel/create_ufunc.h) makes new ones.
class CATENA_EXPORT ufunc {
 public:
  // Looks up a function by name; aliases (abs, mod, divide...) give the function they stand for. KeyError if there is
  // no kernel with that name, TypeError if it is not a plain elementwise function.
  explicit ufunc(std::string_view name);
  // A function whose loops `runner` computes. All arguments must outlive every copy of the function.
  ufunc(const catena::KernelDef& def, const internal::LoopRunner& runner, std::string_view doc)
      : def_(&def), runner_(&runner), doc_(doc) {}

  std::string_view name() const noexcept;
  std::string_view doc() const noexcept { return doc_; }  // as given to create_ufunc; else empty
  int nin() const noexcept;
  int nout() const noexcept;
  int nargs() const noexcept { return nin() + nout(); }
  // Loop signatures such as "ff->f", in search order. Loops of 16-bit floats that are separate kernels come first.
  std::vector<std::string> types() const;
  std::string to_string() const;  // <ufunc 'add'>

  // `args` are nin inputs, or nin inputs and all nout outputs (TypeError otherwise). options.out is for functions with
  // one result and cannot be combined with outputs in `args` (ValueError). Returns the outputs.
  std::vector<Array> call(std::span<const Operand> args, const UfuncOptions& options = {}) const;
  std::vector<Array> call(std::initializer_list<Operand> args, const UfuncOptions& options = {}) const {
    return call(std::span(args.begin(), args.size()), options);
  }
  // For functions with one output; TypeError for others. Takes the inputs, or the inputs and the output.
  Array operator()(const Operand& x, const UfuncOptions& options = {}) const;
  Array operator()(const Operand& x1, const UnbracedOperand& x2, const UfuncOptions& options = {}) const;
  Array operator()(const Operand& x1, const UnbracedOperand& x2, const UnbracedOperand& x3,
                   const UfuncOptions& options = {}) const;

 private:
  Array apply(std::span<const Operand> in, const UfuncOptions& options) const;

  const catena::KernelDef* def_;
  const internal::LoopRunner* runner_ = nullptr;  // null: the loops are those of a kernel
  std::string_view doc_;
};

namespace internal {

// The general call: `out` has one array per output of the kernel; null arrays are allocated. `runner` computes the
// loops; if it is null, the loops are those of the kernel.
CATENA_EXPORT void apply_ufunc(const catena::KernelDef& def, std::span<const Operand> in, std::span<Array> out,
                               std::optional<Dtype> dtype, Casting casting, const LoopRunner* runner = nullptr);
// For kernels with one output. The result may reuse the memory of an expiring input that holds the only reference to
// its array.
CATENA_EXPORT Array apply_ufunc(const catena::KernelDef& def, std::span<const Operand> in, const UfuncOptions& options);
CATENA_EXPORT std::pair<Array, Array> apply_ufunc(const catena::KernelDef& def, std::span<const Operand> in,
                                                  const UfuncPairOptions& options);
// As above without options, for operators.
CATENA_EXPORT Array apply_unary(const catena::KernelDef& def, const Operand& x);
CATENA_EXPORT Array apply_binary(const catena::KernelDef& def, const Operand& a, const Operand& b);
CATENA_EXPORT void apply_in_place(const catena::KernelDef& def, const Array& a, const Operand& b);

// Returns the device of all arrays that have elements; the current device if there is none. ValueError "<op>: arrays
// are on cpu:0 and cuda:0..." if they are on several. Null arrays in `out` are skipped.
CATENA_EXPORT Device common_device(std::string_view op, std::span<const Operand> in, std::span<const Array> out = {});

}  // namespace internal
}  // namespace nd
