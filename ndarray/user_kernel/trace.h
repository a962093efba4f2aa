// The trace of a fused function: the steps of one call, and the program that is created from them. Internal to
// ndarray/user_kernel.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/program.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/user_kernel/fusion.h>

namespace nd::internal {

inline constexpr std::string_view kFusedName = "fused function";

// Calls with captures are traced every time, so the lists of usual functions must not need an allocation.
using Numbers = catena::SmallVector<int, 8>;

// A number that is computed from others in every call, because some of them are arguments.
struct NumberStep {
  struct Operand {
    int argument = -1, step = -1;  // number of an argument or of a step; both -1: the constant
    HostNumber number;
  };
  NumberOperation op;
  Operand a, b;
};
// The results of the steps.
using ComputedNumbers = catena::SmallVector<HostNumber, 4>;

struct Value {
  Dtype dtype;
  const catena::ArrayHeader* array = nullptr;  // array of an argument, or of a step that has been executed
  std::optional<Scalar> constant = {};         // set for a number
  NumberType type = NumberType::float64;       // type of the number
  int number_step = -1;                        // the step that computes the number
};
// A step, whose results are the values out, out + 1...
struct TracedStep {
  const catena::KernelDef* kernel;
  int loop;
  catena::SmallVector<int, 4> in;
  int out;

  int nout() const { return kernel->nout; }
};

struct Trace::State {
  std::span<const Operand> arguments;
  catena::SmallVector<Value, 8> values;  // the arguments come first
  catena::SmallVector<TracedStep, 4> steps;
  std::vector<std::pair<int, Array>> computed;  // values of steps that have been executed and removed
  catena::SmallVector<NumberStep, 2> number_steps;
  bool fixes_numbers = false;  // the steps hold for these values of numbers that vary, and for no others

  int add_value(Value v);
  int value_of(const TracedOperand& x);
  int add_number(const HostNumber& number);
  // Returns the number for an operand; nothing for an array.
  std::optional<NumberStep::Operand> number(const TracedOperand& x) const;
  // Returns the value of `a op b`; nothing if one of them is not a number, or C++ has no such operator for them.
  std::optional<int> compute_number(NumberOperation op, const TracedOperand& a, const TracedOperand& b);
  catena::Input input(int v) const;
  // Adds a step. Returns the number of its first result.
  int add_step(const catena::KernelDef& def, int loop, catena::SmallVector<int, 4> in);
  int copied(int v, Dtype dtype);
  // Removes the steps from number n on.
  void truncate(std::size_t n);
};

// A program with the sources of its inputs and the targets of its outputs. It refers to the values of a call only if
// `array` is set.
struct TracedProgram {
  struct Source {
    int argument = -1;     // number of an argument, an array or a host scalar; -1: one of the following
    int number_step = -1;  // step that computes the constant
    const catena::ArrayHeader* array = nullptr;
    Scalar constant = {};
  };
  struct Target {
    int argument = -1;  // number of the argument that is written; -1: a new array
    Dtype dtype = Dtype::float64;
  };

  catena::SmallVector<catena::Step, 4> steps;
  catena::SmallVector<Dtype, 16> slots;
  catena::SmallVector<Source, 8> sources;
  catena::SmallVector<Target, 4> targets;
  catena::SmallVector<NumberStep, 2> number_steps;

  // Calls f with the results of the number steps.
  template <class F> auto with_numbers(std::span<const Operand> arguments, F&& f) const {
    if (number_steps.empty()) [[likely]]
      return f(std::span<const HostNumber>());
    const ComputedNumbers results = numbers(arguments);
    return f(std::span<const HostNumber>(results.data(), results.size()));
  }
  ComputedNumbers numbers(std::span<const Operand> arguments) const;
  catena::Program program() const {
    return {steps, slots, static_cast<std::uint8_t>(sources.size()), 0, static_cast<std::uint8_t>(targets.size())};
  }
  // True if the program can run with other arguments of the same dtypes.
  bool is_free() const;
  catena::SmallVector<catena::Input, 8> inputs(std::span<const Operand> arguments) const;
  // Executes the program as an elementwise call. `results`: the new arrays, in the order of the targets, and the
  // written arguments.
  void execute(std::span<const Operand> arguments, std::span<Array> results) const;
};

// Turns a trace into a program by assigning values to slots.
class Assembly {
 public:
  // targets: the argument to which each result is written; -1: none. `argument_first`: argument 0 is input 0 even if no
  // step reads it.
  Assembly(Trace::State& trace, Numbers results, Numbers targets, bool argument_first = false);
  // A program of the first `num_steps` steps, each of which writes its own values.
  Assembly(Trace::State& trace, Numbers results, std::size_t num_steps);

  // Returns false if there are more operands or more simultaneous values than a program can have.
  bool fits() const { return fits_; }
  TracedProgram take_program() { return std::move(code_); }

 private:
  const Value& value(int v) const { return trace_.values[std::size_t(v)]; }
  int last_read(int v) const { return last_read_[std::size_t(v)]; }
  int written_by(int v) const { return written_by_[std::size_t(v)]; }
  int num_arguments() const { return static_cast<int>(trace_.arguments.size()); }
  void reset(Numbers& list) const;
  void assemble(bool argument_first);
  void look_up_uses();
  void separate_results();
  int add_slot(Dtype dtype);
  int slot_of_array(int v);
  int slot_of_constant(int v, Dtype dtype);
  void assign_inputs(bool argument_first);
  bool assign_outputs();
  int temporary(Dtype dtype, Numbers& unused);
  bool assign_temporaries();
  void make_steps();

  struct Constant {
    Dtype dtype;
    int argument, number_step;
    catena::ScalarCell cell;
    int slot;
  };

  Trace::State& trace_;
  Numbers results_, targets_;
  std::size_t num_steps_;
  bool fits_ = false;
  TracedProgram code_;
  catena::SmallVector<Constant, 4> constants_;
  Numbers last_read_, written_by_;  // number of a step for each value; -1: none
  Numbers slot_;                    // slot of each value; -1: not assigned yet
  catena::SmallVector<catena::SmallVector<int, 4>, 4> operand_slots_;
  Numbers temporaries_;
};

}  // namespace nd::internal
