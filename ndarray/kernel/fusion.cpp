#include "ndarray/kernel/fusion.h"

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/host/bind.h"
#include "kernels/host/error.h"
#include "ndarray/core/storage.h"
#include "ndarray/device/stream.h"
#include "ndarray/kernel/ufunc.h"

namespace nd {
namespace internal {
namespace {

using catena::check;
using catena::KernelDef;
using catena::TypeError;
using catena::ValueError;

constexpr std::string_view kName = "fused function";

struct Value {
  Dtype dtype;
  int argument = -1;                 // which argument, when it is one
  std::optional<Scalar> constant = {};  // a host scalar
};
struct TracedStep {
  const KernelDef* kernel;
  int loop;
  std::vector<int> in;
  int out;
};

// Stands for an array in the choice of a loop, which looks at dtypes only.
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
  std::vector<Value> values;
  std::vector<TracedStep> steps;

  int add_value(Value v) {
    values.push_back(std::move(v));
    return static_cast<int>(values.size()) - 1;
  }
  int value_of(const TracedOperand& x) {
    return x.trace() != nullptr ? x.value() : add_value({x.constant().natural_dtype(), -1, x.constant()});
  }
  catena::Input input(int v) const {
    const Value& value = values[std::size_t(v)];
    return value.constant ? catena::Input(*value.constant) : catena::Input(header_of(value.dtype));
  }
  int add_step(const KernelDef& def, int loop, std::vector<int> in) {
    const int out = add_value({def.loop_table[loop].type[def.nin]});
    steps.push_back({&def, loop, std::move(in), out});
    return out;
  }
  int copied(int v, Dtype dtype) {
    const KernelDef& copy = catena::kernel<"copy">();
    return add_step(copy, catena::choose_loop_by_output(copy, dtype), {v});
  }
};

namespace {

// From a trace to a program: which value stands in which slot.
class Assembly {
 public:
  Assembly(Trace::State& trace, std::vector<int> results, std::vector<Array> targets)
      : trace_(trace), results_(std::move(results)), targets_(std::move(targets)) {}

  std::vector<Array> run() {
    separate_results();
    assign_inputs();
    assign_outputs();
    assign_temporaries();
    return execute();
  }

 private:
  const Value& value(int v) const { return trace_.values[std::size_t(v)]; }
  int last_read(int v) const {
    for (int j = static_cast<int>(trace_.steps.size()) - 1; j >= 0; --j)
      if (std::count(trace_.steps[std::size_t(j)].in.begin(), trace_.steps[std::size_t(j)].in.end(), v) > 0) return j;
    return -1;
  }
  int written_by(int v) const {
    for (std::size_t j = 0; j < trace_.steps.size(); ++j)
      if (trace_.steps[j].out == v) return static_cast<int>(j);
    return -1;
  }

  // Every result is written by a step of its own. What goes into an argument is written when nothing there is read any more.
  void separate_results() {
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const int v = results_[k];
      bool apart = written_by(v) >= 0 && std::count(results_.begin(), results_.begin() + std::ptrdiff_t(k), v) == 0;
      if (apart && !targets_[k].is_null())
        for (std::size_t a = 0; a < trace_.values.size(); ++a) {
          const int argument = trace_.values[a].argument;
          if (argument < 0) continue;
          const Operand& other = trace_.arguments[std::size_t(argument)];
          apart &= !other.is_array() || other.header()->storage != targets_[k]->storage || last_read(int(a)) <= written_by(v);
        }
      if (!apart) results_[k] = trace_.copied(v, value(v).dtype);
    }
  }

  int add_slot(Dtype dtype) {
    slots_.push_back(dtype);
    return static_cast<int>(slots_.size()) - 1;
  }

  // Arrays as they are; a constant in the dtype of each operand that reads it, as an eager call stores it.
  void assign_inputs() {
    slot_.assign(trace_.values.size(), -1);
    operand_slots_.resize(trace_.steps.size());
    for (std::size_t j = 0; j < trace_.steps.size(); ++j) {
      const TracedStep& step = trace_.steps[j];
      for (std::size_t k = 0; k < step.in.size(); ++k) {
        const Value& v = value(step.in[k]);
        int slot = -1;
        if (v.constant) {
          slot = add_slot(step.kernel->loop_table[step.loop].type[k]);
          inputs_.push_back(catena::Input(*v.constant));
        } else if (v.argument >= 0) {
          int& of_argument = slot_[std::size_t(step.in[k])];
          if (of_argument < 0) {
            of_argument = add_slot(v.dtype);
            inputs_.push_back(catena::Input(*trace_.arguments[std::size_t(v.argument)].header()));
          }
          slot = of_argument;
        }
        operand_slots_[j].push_back(slot);  // -1: the value of a step, which gets its slot later
      }
    }
  }

  void assign_outputs() {
    check<ValueError>(inputs_.size() + results_.size() <= std::size_t(catena::kMaxOperands), kName, inputs_.size(),
                      " arguments and constants and ", results_.size(), " results exceed the limit of ", catena::kMaxOperands);
    for (int v : results_) slot_[std::size_t(v)] = add_slot(value(v).dtype);
  }

  // A slot whose last reader has passed serves the next value of its dtype.
  void assign_temporaries() {
    std::vector<int> unused;
    for (std::size_t j = 0; j < trace_.steps.size(); ++j) {
      const TracedStep& step = trace_.steps[j];
      for (std::size_t k = 0; k < step.in.size(); ++k)
        if (operand_slots_[j][k] < 0) operand_slots_[j][k] = slot_[std::size_t(step.in[k])];
      int& out = slot_[std::size_t(step.out)];
      if (out < 0) {
        const auto same = std::find_if(unused.begin(), unused.end(), [&](int s) { return slots_[std::size_t(s)] == value(step.out).dtype; });
        if (same != unused.end()) {
          out = *same;
          unused.erase(same);
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
    check<ValueError>(slots_.size() <= std::size_t(catena::kMaxSlots), kName, slots_.size(), " values alive at once exceed the limit of ",
                      catena::kMaxSlots);
  }

  std::vector<Array> execute() {
    std::vector<catena::Step> steps(trace_.steps.size());
    for (std::size_t j = 0; j < steps.size(); ++j) {
      steps[j].kernel = trace_.steps[j].kernel;
      steps[j].loop = static_cast<std::uint16_t>(trace_.steps[j].loop);
      std::copy(operand_slots_[j].begin(), operand_slots_[j].end(), steps[j].slot.begin());
    }
    const catena::Program program{steps, slots_, static_cast<std::uint8_t>(inputs_.size()), 0, static_cast<std::uint8_t>(results_.size())};
    const Device device = common_device(kName, trace_.arguments, targets_);
    const Shape shape = catena::broadcast_shape(kName, inputs_);
    std::vector<Array> outputs = targets_, copies;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].is_null()) {
        outputs[k] = Array(new_array(shape, value(results_[k]).dtype, device));
        continue;
      }
      check_output_layout(kName, outputs[k]);
      for (catena::Input& in : inputs_)
        if (in.is_array() && catena::overlaps(in.array(), *outputs[k].get())) {
          copies.push_back(argument_with(in.array()).copy());
          in = catena::Input(*copies.back().get());
        }
    }
    std::vector<catena::ArrayHeader*> headers;
    for (const Array& o : outputs) headers.push_back(o.get());
    catena::BoundCall call;
    call.bind(kName, inputs_, headers, slots_.data());
    if (catena::size_of(call.loop()) != 0) {
      for (const catena::Input& in : inputs_)
        if (in.is_array()) record_use(in.array());
      for (const Array& o : outputs) record_use(*o.get());
      backend(device.kind).elementwise(program, call.operands(), call.loop(), current_stream(device));
    }
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (!targets_[k].is_null() && outputs[k]->storage != nullptr) outputs[k]->storage->version.fetch_add(1, std::memory_order_relaxed);
    return outputs;
  }
  Array argument_with(const catena::ArrayHeader& h) const {
    for (const Operand& o : trace_.arguments)
      if (o.header() == &h) return o.array();
    catena::fail<catena::RuntimeError>(kName, "an input is no argument");
  }

  Trace::State& trace_;
  std::vector<int> results_;
  std::vector<Array> targets_;  // null: a new array
  std::vector<catena::Input> inputs_;
  std::vector<Dtype> slots_;
  std::vector<int> slot_;  // of each value, -1: none yet
  std::vector<std::vector<int>> operand_slots_;
  std::vector<int> temporaries_;
};

}  // namespace

Trace::Trace(std::span<const Operand> arguments) : state_(std::make_unique<State>()) {
  check<TypeError>(std::any_of(arguments.begin(), arguments.end(), [](const Operand& o) { return o.is_array(); }), kName,
                   "at least one argument must be an array");
  state_->arguments = arguments;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const Operand& o = arguments[k];
    if (o.is_array()) state_->add_value({o.header()->dtype, static_cast<int>(k)});
    else state_->add_value({o.scalar().natural_dtype(), -1, o.scalar()});
  }
}
Trace::~Trace() = default;

Traced Trace::argument(std::size_t k) { return {this, static_cast<int>(k)}; }

std::vector<Array> Trace::run(std::span<const Traced> parameters, std::span<const Traced> results) {
  std::vector<int> values;
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
    check<TypeError>(parameters[k].dtype() == argument.header()->dtype, kName, "argument ", k, " is an array of ", argument.header()->dtype,
                     " and was assigned ", parameters[k].dtype());
    values.push_back(parameters[k].value());
    targets.push_back(argument.array());
  }
  if (values.empty()) return {};
  std::vector<Array> arrays = Assembly(*state_, std::move(values), std::move(targets)).run();
  arrays.resize(results.size());
  return arrays;
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
  std::vector<int> values;
  std::vector<catena::Input> inputs;
  for (const TracedOperand& x : in) values.push_back(state.value_of(x));
  for (int v : values) inputs.push_back(state.input(v));
  return {trace, state.add_step(def, choose_loop_for(def, inputs), std::move(values))};
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
  return internal::trace_step(catena::kernel<"where">(), {condition.astype(bool_), x, y});
}

}  // namespace nd
