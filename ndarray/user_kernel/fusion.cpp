#include <catena/ndarray/user_kernel/fusion.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/rows/bind.h>
#include <catena/kernels/rows/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/engine/ufunc.h>

namespace nd {
namespace internal {
namespace {

using catena::check;
using catena::KernelDef;
using catena::TypeError;
using catena::ValueError;

constexpr std::string_view kName = "fused function";

// A call is traced every time, so the lists of usual functions must not cost a malloc.
using Numbers = catena::SmallVector<int, 8>;

struct Value {
  Dtype dtype;
  const catena::ArrayHeader* array = nullptr;  // of an argument, or of a step that has been executed
  std::optional<Scalar> constant = {};         // set for a host scalar
};
struct TracedStep {
  const KernelDef* kernel;
  int loop;
  catena::SmallVector<int, 4> in;
  int out;
};

// A placeholder array for the choice of a loop, which reads nothing but its dtype.
const catena::ArrayHeader& header_of(Dtype dtype) {
  static const auto* headers = [] {
    auto* all = new std::array<catena::ArrayHeader, catena::kNumDtypes>;
    for (int k = 0; k < catena::kNumDtypes; ++k) {
      (*all)[std::size_t(k)].dtype = static_cast<Dtype>(k);
      (*all)[std::size_t(k)].shape = {1};
      (*all)[std::size_t(k)].strides = {0};
    }
    return all;
  }();
  return (*headers)[static_cast<std::size_t>(dtype)];
}

}  // namespace

struct Trace::State {
  std::span<const Operand> arguments;
  catena::SmallVector<Value, 8> values;
  catena::SmallVector<TracedStep, 4> steps;
  std::vector<std::pair<int, Array>> computed;  // values of steps that have been executed and are no longer on the list

  int add_value(Value v) {
    values.push_back(std::move(v));
    return static_cast<int>(values.size()) - 1;
  }
  int value_of(const TracedOperand& x) {
    return x.trace() != nullptr ? x.value() : add_value({x.constant().natural_dtype(), nullptr, x.constant()});
  }
  catena::Input input(int v) const {
    const Value& value = values[std::size_t(v)];
    return value.constant ? catena::Input(*value.constant) : catena::Input(header_of(value.dtype));
  }
  int add_step(const KernelDef& def, int loop, catena::SmallVector<int, 4> in) {
    const int out = add_value({def.loop_table[loop].type[def.nin]});
    steps.push_back({&def, loop, std::move(in), out});
    return out;
  }
  int copied(int v, Dtype dtype) {
    const KernelDef& copy = catena::rows::copy;
    return add_step(copy, catena::choose_loop_by_output(copy, dtype), {v});
  }
  // Removes the steps from number n on.
  void truncate(std::size_t n) {
    while (steps.size() > n) steps.pop_back();
  }
};

namespace {

// Turns a trace into a program by assigning values to slots.
class Assembly {
 public:
  // `argument_first`: argument 0 is input 0 even if no step reads it.
  Assembly(Trace::State& trace, Numbers results, std::vector<Array> targets, bool argument_first = false)
      : trace_(trace), results_(std::move(results)), targets_(std::move(targets)), num_steps_(trace.steps.size()) {
    look_up_uses();
    separate_results();
    assemble(argument_first);
  }
  // Of the first `num_steps` steps, each of which writes a value of its own.
  Assembly(Trace::State& trace, Numbers results, std::size_t num_steps)
      : trace_(trace), results_(std::move(results)), targets_(results_.size()), num_steps_(num_steps) {
    look_up_uses();
    assemble(false);
  }

  // False if there are more operands or more values alive at once than a program can have.
  bool fits() const { return fits_; }
  std::vector<Array> take_targets() { return std::move(targets_); }

  catena::Program program() const {
    return {steps_, slots_, static_cast<std::uint8_t>(inputs_.size()), 0, static_cast<std::uint8_t>(results_.size())};
  }
  catena::call::Reads inputs() const { return inputs_; }
  Dtype dtype_of_result() const { return value(results_[0]).dtype; }

  // Executes the program as an elementwise call.
  std::vector<Array> execute() {
    const Device device = common_device(kName, trace_.arguments, targets_);
    const Shape shape = catena::broadcast_shape(kName, inputs_);
    std::vector<Array> outputs = targets_;
    catena::SmallVector<catena::ArrayHeader*, 4> headers;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].is_null()) outputs[k] = Array(new_array(shape, value(results_[k]).dtype, device));
      else check_output_layout(kName, *outputs[k].get());
      headers.push_back(outputs[k].get());
    }
    const catena::Program steps = program();
    internal::execute(catena::call::Elementwise{&steps, inputs_, headers, kName});
    return outputs;
  }

 private:
  const Value& value(int v) const { return trace_.values[std::size_t(v)]; }
  int last_read(int v) const { return last_read_[std::size_t(v)]; }
  int written_by(int v) const { return written_by_[std::size_t(v)]; }
  // One entry per value, -1 each.
  void reset(Numbers& list) const {
    list.resize(trace_.values.size());
    std::fill(list.begin(), list.end(), -1);
  }
  void assemble(bool argument_first) {
    assign_inputs(argument_first);
    fits_ = assign_outputs() && assign_temporaries();
    if (fits_) make_steps();
  }
  void look_up_uses() {
    reset(last_read_);
    reset(written_by_);
    for (std::size_t j = 0; j < num_steps_; ++j) {
      for (int v : trace_.steps[j].in) last_read_[std::size_t(v)] = static_cast<int>(j);
      written_by_[std::size_t(trace_.steps[j].out)] = static_cast<int>(j);
    }
  }

  // Ensures that every result is written by a step of its own, and that a step which writes to an argument comes after
  // the last step that reads it.
  void separate_results() {
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const int v = results_[k];
      bool apart = written_by(v) >= 0 && std::count(results_.begin(), results_.begin() + std::ptrdiff_t(k), v) == 0;
      if (apart && !targets_[k].is_null())
        for (std::size_t a = 0; a < trace_.values.size(); ++a) {
          const catena::ArrayHeader* other = value(int(a)).array;
          apart &= other == nullptr || other->storage != targets_[k]->storage || last_read(int(a)) <= written_by(v);
        }
      if (apart) continue;
      results_[k] = trace_.copied(v, value(v).dtype);
      ++num_steps_;
      look_up_uses();
    }
  }

  int add_slot(Dtype dtype) {
    slots_.push_back(dtype);
    return static_cast<int>(slots_.size()) - 1;
  }

  int slot_of_array(int v) {
    int& slot = slot_[std::size_t(v)];
    if (slot < 0) {
      slot = add_slot(value(v).dtype);
      inputs_.push_back(catena::Input(*value(v).array));
    }
    return slot;
  }
  // A constant is an input in the dtype of the operand that reads it, as in an eager call. Operands of one dtype share
  // the input of equal constants.
  int slot_of_constant(const Scalar& constant, Dtype dtype) {
    const catena::ScalarCell cell(constant, dtype);
    for (const Constant& known : constants_)
      if (known.dtype == dtype && std::memcmp(known.cell.bytes, cell.bytes, catena::itemsize(dtype)) == 0)
        return known.slot;
    constants_.push_back({dtype, cell, add_slot(dtype)});
    inputs_.push_back(catena::Input(constant));
    return constants_.back().slot;
  }

  // Arrays are inputs unchanged.
  void assign_inputs(bool argument_first) {
    reset(slot_);
    operand_slots_.resize(num_steps_);
    if (argument_first) slot_of_array(0);
    for (std::size_t j = 0; j < num_steps_; ++j) {
      const TracedStep& step = trace_.steps[j];
      for (std::size_t k = 0; k < step.in.size(); ++k) {
        const Value& v = value(step.in[k]);
        int slot = -1;
        if (v.constant) slot = slot_of_constant(*v.constant, step.kernel->loop_table[step.loop].type[k]);
        else if (v.array != nullptr) slot = slot_of_array(step.in[k]);
        operand_slots_[j].push_back(slot);  // -1: the value of a step, whose slot is assigned later
      }
    }
  }

  bool assign_outputs() {
    for (int v : results_) slot_[std::size_t(v)] = add_slot(value(v).dtype);
    return slots_.size() <= std::size_t(catena::kMaxOperands);
  }

  // A temporary slot is reused for a later value of the same dtype once its last reader has run.
  bool assign_temporaries() {
    Numbers unused;
    for (std::size_t j = 0; j < num_steps_; ++j) {
      const TracedStep& step = trace_.steps[j];
      for (std::size_t k = 0; k < step.in.size(); ++k)
        if (operand_slots_[j][k] < 0) operand_slots_[j][k] = slot_[std::size_t(step.in[k])];
      int& out = slot_[std::size_t(step.out)];
      if (out < 0) {
        const auto same = std::find_if(unused.begin(), unused.end(),
                                       [&](int s) { return slots_[std::size_t(s)] == value(step.out).dtype; });
        if (same != unused.end()) {
          out = *same;
          std::move(same + 1, unused.end(), same);
          unused.pop_back();
        } else {
          out = add_slot(value(step.out).dtype);
          temporaries_.push_back(out);
        }
      }
      operand_slots_[j].push_back(out);
      for (int v : step.in) {
        const int s = slot_[std::size_t(v)];
        if (last_read(v) == int(j) && std::count(temporaries_.begin(), temporaries_.end(), s) > 0 &&
            std::count(unused.begin(), unused.end(), s) == 0)
          unused.push_back(s);
      }
    }
    return slots_.size() <= std::size_t(catena::kMaxSlots);
  }

  void make_steps() {
    steps_.resize(num_steps_);
    for (std::size_t j = 0; j < steps_.size(); ++j) {
      steps_[j].kernel = trace_.steps[j].kernel;
      steps_[j].loop = static_cast<std::uint16_t>(trace_.steps[j].loop);
      std::copy(operand_slots_[j].begin(), operand_slots_[j].end(), steps_[j].slot.begin());
    }
  }

  struct Constant {
    Dtype dtype;
    catena::ScalarCell cell;
    int slot;
  };

  Trace::State& trace_;
  Numbers results_;
  std::vector<Array> targets_;  // null: allocate a new array
  std::size_t num_steps_;
  bool fits_ = false;
  catena::SmallVector<Constant, 4> constants_;
  catena::SmallVector<catena::Input, 8> inputs_;
  catena::SmallVector<Dtype, 16> slots_;
  Numbers last_read_, written_by_;  // step number for each value; -1: none
  Numbers slot_;                    // slot of each value; -1: not assigned yet
  catena::SmallVector<catena::SmallVector<int, 4>, 4> operand_slots_;
  Numbers temporaries_;
  catena::SmallVector<catena::Step, 4> steps_;
};

// ---- traces too long for one program --------------------------------------------------------------
// Executes the first steps of a trace as one program and takes them off the list. The values that later steps or
// `results` read are arrays from then on.
class Part {
 public:
  Part(Trace::State& trace, const Numbers& results) : trace_(trace) {
    for (std::size_t v = 0; v < trace.values.size(); ++v) last_read_.push_back(-1);
    for (std::size_t j = 0; j < trace.steps.size(); ++j)
      for (int v : trace.steps[j].in) last_read_[std::size_t(v)] = static_cast<int>(j);
    for (int v : results) last_read_[std::size_t(v)] = static_cast<int>(trace.steps.size());
  }

  void execute() {
    const std::size_t n = longest();
    const Numbers outputs = outputs_of(n);
    if (!outputs.empty()) {
      std::vector<Array> arrays = Assembly(trace_, outputs, n).execute();
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        trace_.values[std::size_t(outputs[k])].array = arrays[k].get();
        trace_.computed.emplace_back(outputs[k], std::move(arrays[k]));
      }
    }
    std::move(trace_.steps.begin() + std::ptrdiff_t(n), trace_.steps.end(), trace_.steps.begin());
    trace_.truncate(trace_.steps.size() - n);
    std::erase_if(trace_.computed, [&](const auto& c) { return !is_read(c.first, n); });
  }

 private:
  // Whether step `from`, a later one or a result reads the value.
  bool is_read(int v, std::size_t from) const { return last_read_[std::size_t(v)] >= static_cast<int>(from); }
  Numbers outputs_of(std::size_t n) const {
    Numbers outputs;
    for (std::size_t j = 0; j < n; ++j)
      if (is_read(trace_.steps[j].out, n)) outputs.push_back(trace_.steps[j].out);
    return outputs;
  }
  bool fits(std::size_t n) const { return Assembly(trace_, outputs_of(n), n).fits(); }
  // A number of steps that fit one program, found by bisection; a single step always fits.
  std::size_t longest() const {
    std::size_t low = 1, high = trace_.steps.size() + 1;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

  Trace::State& trace_;
  Numbers last_read_;  // step number for each value
};

// The common shape of all arrays that steps or results read and of the given outputs, which must have it.
Shape shape_of_parts(const Trace::State& trace, const Numbers& results, std::span<const Array> targets) {
  catena::SmallVector<catena::Input, 8> inputs;
  const auto read = [&](int v) {
    if (const catena::ArrayHeader* a = trace.values[std::size_t(v)].array) inputs.push_back(catena::Input(*a));
  };
  for (const TracedStep& step : trace.steps)
    for (int v : step.in) read(v);
  for (int v : results) read(v);
  Shape shape = catena::broadcast_shape(kName, inputs);
  for (const Array& t : targets)
    if (!t.is_null()) shape = catena::broadcast_shapes(kName, shape, t.shape());
  for (const Array& t : targets) {
    if (t.is_null()) continue;
    check<ValueError>(t.shape() == shape, kName, "the output has shape ", t.shape(), ", the operands broadcast to ",
                      shape);
    check_output_layout(kName, *t.get());
  }
  return shape;
}

// The results of a trace by several programs. Arguments are written after everything has been read.
std::vector<Array> run_in_parts(Trace::State& trace, const Numbers& results, std::vector<Array> targets) {
  const Device device = common_device(kName, trace.arguments, targets);
  const Shape shape = shape_of_parts(trace, results, targets);
  while (!trace.steps.empty()) Part(trace, results).execute();
  std::vector<Array> arrays;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto taken = std::find(results.begin(), results.begin() + std::ptrdiff_t(k), results[k]);
    const auto own = std::find_if(trace.computed.begin(), trace.computed.end(),
                                  [&](const auto& c) { return c.first == results[k] && c.second.shape() == shape; });
    if (own != trace.computed.end() && taken == results.begin() + std::ptrdiff_t(k)) {
      arrays.push_back(own->second);
      continue;
    }
    const Value& value = trace.values[std::size_t(results[k])];
    arrays.emplace_back(new_array(shape, value.dtype, device));
    const catena::Input source = value.constant ? catena::Input(*value.constant) : catena::Input(*value.array);
    convert_into(kName, source, *arrays.back().get());
  }
  for (std::size_t k = 0; k < targets.size(); ++k)
    if (!targets[k].is_null()) convert_into(kName, *arrays[k].get(), *targets[k].get());
  return arrays;
}

// ---- reductions ---------------------------------------------------------------------------------
const KernelDef& row_of(Reduction r) {
  switch (r) {
    case Reduction::sum: return catena::rows::sum;
    case Reduction::prod: return catena::rows::prod;
    case Reduction::amax: return catena::rows::amax;
    case Reduction::amin: return catena::rows::amin;
    case Reduction::all: return catena::rows::all;
    case Reduction::any: return catena::rows::any;
  }
  catena::fail<ValueError>(kName, "there is no reduction number ", int(r));
}

// The post map, traced with a placeholder of the reduced value's dtype.
class PostMap {
 public:
  PostMap(const catena::Function<Traced(const Traced&)>& map, Dtype reduced)
      : dtype_(reduced), stand_in_(new_array({}, reduced, cpu_device)), operand_(stand_in_), trace_({&operand_, 1}) {
    if (!map) return;
    const Traced result = map(trace_.argument(0));
    check<ValueError>(result.trace() == &trace_, kName, "the post map gives a value of another call");
    assembly_.emplace(trace_.state(), Numbers{result.value()}, std::vector<Array>(1), true);
    dtype_ = assembly_->dtype_of_result();
  }
  Dtype dtype() const { return dtype_; }  // dtype of the results
  // Null if there is no post map.
  const Assembly* assembly() const { return assembly_ ? &*assembly_ : nullptr; }

 private:
  Dtype dtype_;
  Array stand_in_;
  Operand operand_;
  Trace trace_;
  std::optional<Assembly> assembly_;
};

// A reduction over the results of a program, with the rules of nd::sum and the other reductions.
class ReducedProgram {
 public:
  ReducedProgram(const Assembly& elements, const FusedReduce& how)
      : def_(row_of(how.reduce)),
        elements_(elements),
        loop_(loop_over(elements.dtype_of_result())),
        post_(how.post_map, type().type[1]) {
    shape_ = catena::broadcast_shape(kName, elements.inputs());
  }
  // False if the programs around the reduction are too long for one kernel.
  bool fits() const {
    const Assembly* post = post_.assembly();
    const std::size_t operands = elements_.inputs().size() + (post ? post->inputs().size() - 1 : 0);
    return operands < std::size_t(catena::kMaxOperands) && (!post || post->fits());
  }

  Array run(std::span<const Operand> arguments, const TestOptions& options) {
    axes_ = catena::normalize_axes(def_.name, options.axis, shape_.size());
    const Shape shape = catena::reduced_shape(shape_, axes_, options.keepdims);
    check<ValueError>(def_.has_identity || catena::size_of(shape_) != 0 || catena::size_of(shape) == 0, def_.name,
                      "shape ", shape_, " has no elements along axes ", axes_,
                      ", and the reduction of nothing has no value");
    const Array& target = options.out;
    const Device device = common_device(kName, arguments, {&target, 1});
    if (!target.is_null()) {
      check<ValueError>(target.shape() == shape, def_.name, "the output has shape ", target.shape(), ", the result ",
                        shape);
      check_output_layout(def_.name, *target.get());
    }
    const Array out = target.is_null() ? Array(new_array(shape, post_.dtype(), device)) : target;
    if (out.size() != 0) launch(out);
    return out;
  }

 private:
  const catena::Loop& type() const { return def_.loop_table[loop_]; }
  int loop_over(Dtype element) const {
    const catena::Input input(header_of(element));
    return catena::choose_loop(def_, {&input, 1});
  }
  void launch(const Array& out) {
    const catena::Program before = elements_.program();
    catena::call::Reduce call;
    call.kernel = &def_;
    call.loop = loop_;
    call.inputs = elements_.inputs();
    call.axes = axes_;
    call.out = out.get();
    call.pre = &before;
    catena::Program after;
    if (const Assembly* post = post_.assembly()) {
      after = post->program();
      call.post = &after;
      call.post_inputs = post->inputs().subspan(1);
    }
    execute(call);
  }

  const KernelDef& def_;
  const Assembly& elements_;
  int loop_;
  PostMap post_;
  Shape shape_;
  Dims axes_;
};

}  // namespace

namespace {

// A reduction whose elements are one program. Where the post map does not fit the same kernel, it is a function of its
// own.
Array reduce_elements(const Assembly& elements, const FusedReduce& how, std::span<const Operand> arguments,
                      const TestOptions& options) {
  ReducedProgram program(elements, how);
  if (program.fits()) return program.run(arguments, options);
  const Array reduced = ReducedProgram(elements, {.reduce = how.reduce})
                            .run(arguments, {.axis = options.axis, .keepdims = options.keepdims});
  const Operand operand(reduced);
  Trace post({&operand, 1});
  const Traced mapped = how.post_map(post.argument(0));
  const Array result = post.run({}, {&mapped, 1}).front();
  if (options.out.is_null()) return result;
  check<ValueError>(options.out.shape() == result.shape(), kName, "the output has shape ", options.out.shape(),
                    ", the result ", result.shape());
  assign(kName, options.out, result);
  return options.out;
}

}  // namespace

Trace::Trace(std::span<const Operand> arguments) : state_(new State) {
  check<TypeError>(std::any_of(arguments.begin(), arguments.end(), [](const Operand& o) { return o.is_array(); }),
                   kName, "at least one argument must be an array");
  state_->arguments = arguments;
  for (const Operand& o : arguments) {
    if (o.is_array()) state_->add_value({o.header()->dtype, o.header()});
    else state_->add_value({o.scalar().natural_dtype(), nullptr, o.scalar()});
  }
}
Trace::~Trace() = default;

Traced Trace::argument(std::size_t k) { return {this, static_cast<int>(k)}; }

std::vector<Array> Trace::run(std::span<const Traced> parameters, std::span<const Traced> results) {
  Numbers values;
  std::vector<Array> targets;
  for (const Traced& r : results) {
    check<ValueError>(r.trace() == this, kName, "a result belongs to another call");
    values.push_back(r.value());
    targets.emplace_back();
  }
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].value() == static_cast<int>(k)) continue;
    const Operand& argument = state_->arguments[k];
    check<TypeError>(argument.is_array(), kName, "argument ", k, " is assigned to and must be an array");
    check<TypeError>(parameters[k].dtype() == argument.header()->dtype, kName, "argument ", k, " is an array of ",
                     argument.header()->dtype, " and was assigned ", parameters[k].dtype());
    values.push_back(parameters[k].value());
    targets.push_back(argument.array());
  }
  if (values.empty()) return {};
  const std::size_t steps = state_->steps.size();
  Assembly whole(*state_, values, std::move(targets));
  std::vector<Array> arrays;
  if (whole.fits()) {
    arrays = whole.execute();
  } else {
    state_->truncate(steps);
    arrays = run_in_parts(*state_, values, whole.take_targets());
  }
  arrays.resize(results.size());
  return arrays;
}

Array Trace::reduce(std::span<const Traced> parameters, const Traced& result, const FusedReduce& how,
                    const TestOptions& options) {
  check<ValueError>(result.trace() == this, kName, "a result belongs to another call");
  for (std::size_t k = 0; k < parameters.size(); ++k)
    check<TypeError>(parameters[k].value() == static_cast<int>(k), kName, "argument ", k,
                     " is assigned to, which a reduction does not write");
  const Numbers values{result.value()};
  for (;;) {
    const std::size_t steps = state_->steps.size();
    const Assembly elements(*state_, values, std::vector<Array>(1));
    if (elements.fits()) return reduce_elements(elements, how, state_->arguments, options);
    state_->truncate(steps);
    Part(*state_, values).execute();
  }
}

Traced trace_step(const KernelDef& def, std::initializer_list<TracedOperand> in) {
  Trace* trace = nullptr;
  for (const TracedOperand& x : in) {
    if (x.trace() == nullptr) continue;
    check<ValueError>(trace == nullptr || trace == x.trace(), def.name, "values of two fused calls meet");
    trace = x.trace();
  }
  check<TypeError>(trace != nullptr, def.name, "there is no traced value");
  Trace::State& state = trace->state();
  catena::SmallVector<int, 4> values;
  catena::SmallVector<catena::Input, 4> inputs;
  for (const TracedOperand& x : in) values.push_back(state.value_of(x));
  for (int v : values) inputs.push_back(state.input(v));
  return {trace, state.add_step(def, catena::choose_loop(def, inputs), std::move(values))};
}

Traced trace_assigned(const Traced& value, const Traced& target) {
  catena::check_output_cast(kName, value.dtype(), target.dtype(), Casting::same_kind);
  return value.astype(target.dtype());
}

}  // namespace internal

Dtype Traced::dtype() const { return trace_->state().values[static_cast<std::size_t>(value_)].dtype; }

Traced Traced::astype(Dtype dtype) const {
  const auto& value = trace_->state().values[static_cast<std::size_t>(value_)];
  if (value.dtype == dtype && !value.constant) return *this;
  return {trace_, trace_->state().copied(value_, dtype)};
}

Traced where(const Traced& condition, const TracedOperand& x, const TracedOperand& y) {
  return internal::trace_step(catena::rows::where, {condition.astype(bool_), x, y});
}

}  // namespace nd
