#include <catena/ndarray/user_kernel/trace.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/ufunc.h>

namespace nd::internal {
namespace {

using catena::KernelDef;

// Returns a placeholder array for the choice of a loop, which reads only its dtype.
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

// ---- the steps of a call ------------------------------------------------------------------------
int Trace::State::add_value(Value v) {
  values.push_back(std::move(v));
  return static_cast<int>(values.size()) - 1;
}

int Trace::State::value_of(const TracedOperand& x) {
  return x.trace() != nullptr ? x.value() : add_number(x.constant());
}

int Trace::State::add_number(const HostNumber& number) {
  return add_value({number.value.natural_dtype(), nullptr, number.value, number.type});
}

std::optional<NumberStep::Operand> Trace::State::number(const TracedOperand& x) const {
  if (x.trace() == nullptr) return NumberStep::Operand{-1, -1, x.constant()};
  const Value& value = values[std::size_t(x.value())];
  if (!value.constant) return {};
  const bool is_argument = std::size_t(x.value()) < arguments.size();
  return NumberStep::Operand{is_argument ? x.value() : -1, value.number_step, {*value.constant, value.type}};
}

std::optional<int> Trace::State::compute_number(NumberOperation op, const TracedOperand& a, const TracedOperand& b) {
  const std::optional<NumberStep::Operand> x = number(a), y = number(b);
  const std::optional<HostNumber> result = x && y ? compute(op, x->number, y->number) : std::nullopt;
  if (!result) return {};
  number_steps.push_back({op, *x, *y});
  const int v = add_number(*result);
  values[std::size_t(v)].number_step = static_cast<int>(number_steps.size()) - 1;
  return v;
}

catena::Input Trace::State::input(int v) const {
  const Value& value = values[std::size_t(v)];
  return value.constant ? catena::Input(*value.constant) : catena::Input(header_of(value.dtype));
}

int Trace::State::add_step(const KernelDef& def, int loop, catena::SmallVector<int, 4> in) {
  const int out = static_cast<int>(values.size());
  for (int k = 0; k < def.nout; ++k) add_value({def.loop_table[loop].type[std::size_t(def.nin + k)]});
  steps.push_back({&def, loop, std::move(in), out});
  return out;
}

int Trace::State::copied(int v, Dtype dtype) {
  const KernelDef& copy = catena::kernels::copy;
  return add_step(copy, catena::choose_loop_by_output(copy, dtype), {v});
}

void Trace::State::truncate(std::size_t n) {
  while (steps.size() > n) steps.pop_back();
}

// ---- programs -----------------------------------------------------------------------------------
bool TracedProgram::is_free() const {
  return std::all_of(sources.begin(), sources.end(), [](const Source& s) { return s.array == nullptr; });
}

ComputedNumbers TracedProgram::numbers(std::span<const Operand> arguments) const {
  ComputedNumbers results;
  const auto number = [&](const NumberStep::Operand& o) -> HostNumber {
    if (o.step >= 0) return results[std::size_t(o.step)];
    return o.argument >= 0 ? HostNumber{arguments[std::size_t(o.argument)].scalar(), o.number.type} : o.number;
  };
  for (const NumberStep& step : number_steps) results.push_back(*compute(step.op, number(step.a), number(step.b)));
  return results;
}

catena::SmallVector<catena::Input, 8> TracedProgram::inputs(std::span<const Operand> arguments) const {
  return with_numbers(arguments, [&](std::span<const HostNumber> numbers) {
    catena::SmallVector<catena::Input, 8> list;
    for (const Source& s : sources) {
      if (s.argument >= 0) list.push_back(arguments[std::size_t(s.argument)]);
      else if (s.number_step >= 0) list.push_back(catena::Input(numbers[std::size_t(s.number_step)].value));
      else list.push_back(s.array != nullptr ? catena::Input(*s.array) : catena::Input(s.constant));
    }
    return list;
  });
}

void TracedProgram::execute(std::span<const Operand> arguments, std::span<Array> results) const {
  const catena::SmallVector<catena::Input, 8> reads = inputs(arguments);
  catena::SmallVector<catena::ArrayHeader*, 4> headers;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    results[k] = targets[k].argument >= 0 ? arguments[std::size_t(targets[k].argument)].array() : Array();
    if (!results[k].is_null()) headers.push_back(results[k].get());
  }
  const bool writes_arguments = !headers.empty();
  const catena::ArrayHeader* model = catena::same_layout(reads, headers);
  const Device device = model ? model->device : common_device(kFusedName, arguments, results);
  const Shape shape = model ? model->shape : catena::broadcast_shape(kFusedName, reads);
  headers.clear();
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (results[k].is_null()) results[k] = Array(new_array(shape, targets[k].dtype, device, kFusedName));
    else if (model == nullptr) check_output_layout(kFusedName, *results[k].get());
    headers.push_back(results[k].get());
  }
  const catena::Program all = program();
  // The call tests whether arguments that it writes overlap inputs.
  internal::execute(catena::call::Elementwise{&all, reads, headers, kFusedName, writes_arguments ? nullptr : model});
}

// ---- assembly -----------------------------------------------------------------------------------
Assembly::Assembly(Trace::State& trace, Numbers results, Numbers targets, bool argument_first)
    : trace_(trace), results_(std::move(results)), targets_(std::move(targets)), num_steps_(trace.steps.size()) {
  look_up_uses();
  separate_results();
  assemble(argument_first);
}

Assembly::Assembly(Trace::State& trace, Numbers results, std::size_t num_steps)
    : trace_(trace), results_(std::move(results)), num_steps_(num_steps) {
  for (std::size_t k = 0; k < results_.size(); ++k) targets_.push_back(-1);
  look_up_uses();
  assemble(false);
}

// Sets one entry per value to -1.
void Assembly::reset(Numbers& list) const {
  list.resize(trace_.values.size());
  std::fill(list.begin(), list.end(), -1);
}

void Assembly::assemble(bool argument_first) {
  code_.number_steps = trace_.number_steps;
  assign_inputs(argument_first);
  fits_ = assign_outputs() && assign_temporaries();
  if (fits_) make_steps();
}

void Assembly::look_up_uses() {
  reset(last_read_);
  reset(written_by_);
  for (std::size_t j = 0; j < num_steps_; ++j) {
    const TracedStep& step = trace_.steps[j];
    for (int v : step.in) last_read_[std::size_t(v)] = static_cast<int>(j);
    for (int k = 0; k < step.nout(); ++k) written_by_[std::size_t(step.out + k)] = static_cast<int>(j);
  }
}

// Ensures that every result is written by a step of its own, and that a step which writes to an argument comes after
// the last step that reads it.
void Assembly::separate_results() {
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const int v = results_[k];
    bool apart = written_by(v) >= 0 && std::count(results_.begin(), results_.begin() + std::ptrdiff_t(k), v) == 0;
    if (apart && targets_[k] >= 0) {
      const catena::ArrayHeader& target = *value(targets_[k]).array;
      for (std::size_t a = 0; a < trace_.values.size(); ++a) {
        const catena::ArrayHeader* other = value(int(a)).array;
        apart &= other == nullptr || other->storage != target.storage || last_read(int(a)) <= written_by(v);
      }
    }
    if (apart) continue;
    results_[k] = trace_.copied(v, value(v).dtype);
    ++num_steps_;
    look_up_uses();
  }
}

int Assembly::add_slot(Dtype dtype) {
  code_.slots.push_back(dtype);
  return static_cast<int>(code_.slots.size()) - 1;
}

int Assembly::slot_of_array(int v) {
  int& slot = slot_[std::size_t(v)];
  if (slot < 0) {
    slot = add_slot(value(v).dtype);
    if (v < num_arguments()) code_.sources.push_back({v, -1, nullptr, {}});
    else code_.sources.push_back({-1, -1, value(v).array, {}});
  }
  return slot;
}

// A constant is an input in the dtype of the operand that reads it, as in an eager call. Operands of one dtype share
// the input of equal constants, except host scalars among the arguments, which may have another value in the next call.
int Assembly::slot_of_constant(int v, Dtype dtype) {
  const Scalar& constant = *value(v).constant;
  const int argument = v < num_arguments() ? v : -1, step = value(v).number_step;
  const catena::ScalarCell cell(constant, dtype);
  for (const Constant& known : constants_)
    if (known.dtype == dtype && known.argument == argument && known.number_step == step &&
        std::memcmp(known.cell.bytes, cell.bytes, catena::itemsize(dtype)) == 0)
      return known.slot;
  constants_.push_back({dtype, argument, step, cell, add_slot(dtype)});
  code_.sources.push_back({argument, step, nullptr, constant});
  return constants_.back().slot;
}

// Arrays become inputs unchanged.
void Assembly::assign_inputs(bool argument_first) {
  reset(slot_);
  operand_slots_.resize(num_steps_);
  if (argument_first) slot_of_array(0);
  for (std::size_t j = 0; j < num_steps_; ++j) {
    const TracedStep& step = trace_.steps[j];
    for (std::size_t k = 0; k < step.in.size(); ++k) {
      const Value& v = value(step.in[k]);
      int slot = -1;
      if (v.constant) slot = slot_of_constant(step.in[k], step.kernel->loop_table[step.loop].type[k]);
      else if (v.array != nullptr) slot = slot_of_array(step.in[k]);
      operand_slots_[j].push_back(slot);  // -1: the value of a step, whose slot is assigned later
    }
  }
}

bool Assembly::assign_outputs() {
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const int v = results_[k];
    slot_[std::size_t(v)] = add_slot(value(v).dtype);
    code_.targets.push_back({targets_[k], value(v).dtype});
  }
  return code_.slots.size() <= std::size_t(catena::kMaxOperands);
}

// Returns an unused slot of that dtype, or a new one.
int Assembly::temporary(Dtype dtype, Numbers& unused) {
  const auto same =
      std::find_if(unused.begin(), unused.end(), [&](int s) { return code_.slots[std::size_t(s)] == dtype; });
  if (same == unused.end()) {
    temporaries_.push_back(add_slot(dtype));
    return temporaries_.back();
  }
  const int slot = *same;
  std::move(same + 1, unused.end(), same);
  unused.pop_back();
  return slot;
}

// A temporary slot is reused for a later value of the same dtype after its last reader has run. A result that nothing
// reads also needs a slot while its step runs.
bool Assembly::assign_temporaries() {
  Numbers unused;
  for (std::size_t j = 0; j < num_steps_; ++j) {
    const TracedStep& step = trace_.steps[j];
    for (std::size_t k = 0; k < step.in.size(); ++k)
      if (operand_slots_[j][k] < 0) operand_slots_[j][k] = slot_[std::size_t(step.in[k])];
    for (int v = step.out; v < step.out + step.nout(); ++v) {
      int& slot = slot_[std::size_t(v)];
      if (slot < 0) slot = temporary(value(v).dtype, unused);
      operand_slots_[j].push_back(slot);
    }
    const auto free = [&](int v) {
      const int s = slot_[std::size_t(v)];
      if (std::count(temporaries_.begin(), temporaries_.end(), s) > 0 &&
          std::count(unused.begin(), unused.end(), s) == 0)
        unused.push_back(s);
    };
    for (int v : step.in)
      if (last_read(v) == int(j)) free(v);
    for (int v = step.out; v < step.out + step.nout(); ++v)
      if (last_read(v) < 0) free(v);
  }
  return code_.slots.size() <= std::size_t(catena::kMaxSlots);
}

void Assembly::make_steps() {
  code_.steps.resize(num_steps_);
  for (std::size_t j = 0; j < code_.steps.size(); ++j) {
    catena::Step& step = code_.steps[j];
    step.kernel = trace_.steps[j].kernel;
    step.loop = static_cast<std::uint16_t>(trace_.steps[j].loop);
    std::copy(operand_slots_[j].begin(), operand_slots_[j].end(), step.slot.begin());
  }
}

}  // namespace nd::internal
