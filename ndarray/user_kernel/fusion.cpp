#include <catena/ndarray/user_kernel/fusion.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/warning.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/user_kernel/trace.h>

namespace nd {
namespace internal {
namespace {

using catena::check;
using catena::KernelDef;
using catena::TypeError;
using catena::ValueError;

// ---- traces too long for one program --------------------------------------------------------------
// Executes the first steps of a trace as one program and removes them from the list. Values that later steps or
// `results` read become arrays.
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
      std::vector<Array> arrays(outputs.size());
      Assembly(trace_, outputs, n).take_program().execute(trace_.arguments, arrays);
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
  // True if step `from`, a later step or a result reads the value.
  bool is_read(int v, std::size_t from) const { return last_read_[std::size_t(v)] >= static_cast<int>(from); }
  Numbers outputs_of(std::size_t n) const {
    Numbers outputs;
    for (std::size_t j = 0; j < n; ++j)
      for (int v = trace_.steps[j].out; v < trace_.steps[j].out + trace_.steps[j].nout(); ++v)
        if (is_read(v, n)) outputs.push_back(v);
    return outputs;
  }
  bool fits(std::size_t n) const { return Assembly(trace_, outputs_of(n), n).fits(); }
  // Returns a number of steps that fit one program, found by bisection; a single step always fits.
  std::size_t longest() const {
    std::size_t low = 1, high = trace_.steps.size() + 1;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

  Trace::State& trace_;
  Numbers last_read_;  // number of the last step that reads each value
};

// Returns the common shape of all arrays that steps or results read; the given outputs must have it.
Shape shape_of_parts(const Trace::State& trace, const Numbers& results, std::span<const Array> targets) {
  catena::SmallVector<catena::Input, 8> inputs;
  const auto read = [&](int v) {
    if (const catena::ArrayHeader* a = trace.values[std::size_t(v)].array) inputs.push_back(catena::Input(*a));
  };
  for (const TracedStep& step : trace.steps)
    for (int v : step.in) read(v);
  for (int v : results) read(v);
  Shape shape = catena::broadcast_shape(kFusedName, inputs);
  for (const Array& t : targets)
    if (!t.is_null()) shape = catena::broadcast_shapes(kFusedName, shape, t.shape());
  for (const Array& t : targets) {
    if (t.is_null()) continue;
    check<ValueError>(t.shape() == shape, kFusedName, "the output has shape ", t.shape(),
                      ", the operands broadcast to ", shape);
    check_output_layout(kFusedName, *t.get());
  }
  return shape;
}

// Computes the results of a trace by several programs. Arguments are written after everything has been read.
std::vector<Array> run_in_parts(Trace::State& trace, const Numbers& results, std::span<const Array> targets) {
  const Device device = common_device(kFusedName, trace.arguments, targets);
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
    convert_into(kFusedName, source, *arrays.back().get());
  }
  for (std::size_t k = 0; k < targets.size(); ++k)
    if (!targets[k].is_null()) convert_into(kFusedName, *arrays[k].get(), *targets[k].get());
  return arrays;
}

// ---- arguments on several devices -----------------------------------------------------------------
// Returns the devices of two arrays if there are arrays on several devices.
std::optional<std::pair<Device, Device>> different_devices(std::span<const Operand> arguments) {
  const catena::ArrayHeader* first = nullptr;
  for (const Operand& o : arguments) {
    const catena::ArrayHeader* h = o.header();
    if (h == nullptr || h->size == 0) continue;
    if (first == nullptr) first = h;
    if (!(h->device == first->device)) return std::pair(first->device, h->device);
  }
  return {};
}

// Runs the function without fusion: one call per step, on the device of its arrays.
class Unfused {
 public:
  explicit Unfused(Trace::State& trace) : trace_(trace), arrays_(trace.values.size()) {
    for (const TracedStep& step : trace.steps) run(step);
  }
  // Returns the value as an array of its own.
  Array result(int v) const {
    const Operand value = operand(v);
    if (!value.is_array()) return full({}, value.scalar());
    return v < static_cast<int>(trace_.arguments.size()) ? value.array().copy() : value.array();
  }

 private:
  Operand operand(int v) const {
    if (trace_.values[std::size_t(v)].constant) return *trace_.values[std::size_t(v)].constant;
    return std::size_t(v) < trace_.arguments.size() ? trace_.arguments[std::size_t(v)]
                                                    : Operand(arrays_[std::size_t(v)]);
  }
  void run(const TracedStep& step) {
    std::vector<Operand> in;
    for (int v : step.in) in.push_back(operand(v));
    std::vector<Array> out(std::size_t(step.nout()));
    // A conversion is the only function whose loop is not determined by its inputs.
    const bool converts = step.kernel->is(catena::is_copy);
    const auto dtype = converts ? std::optional(step.kernel->loop_table[step.loop].type[1]) : std::nullopt;
    apply_ufunc(*step.kernel, in, out, dtype, Casting::same_kind);
    std::move(out.begin(), out.end(), arrays_.begin() + step.out);
  }
  static Array full(const Shape& shape, const Scalar& value) {
    Array a(new_array(shape, value.natural_dtype(), current_device()));
    a.fill(value);
    return a;
  }

  Trace::State& trace_;
  std::vector<Array> arrays_;
};

void warn_of_devices(const std::pair<Device, Device>& devices) {
  catena::warn("UserWarning", catena::concat("fuse: arguments are on ", devices.first, " and ", devices.second,
                                             "; the function is not fused, its steps are executed one by one"));
}

// ---- reductions ---------------------------------------------------------------------------------
const KernelDef& kernel_of(Reduction r) {
  switch (r) {
    case Reduction::amax: return catena::kernels::amax;
    case Reduction::amin: return catena::kernels::amin;
#define CATENA_REDUCTION(name, Options) \
  case Reduction::name:                 \
    return catena::kernels::name;
#include <catena/kernels/lists/reductions.inc>
#undef CATENA_REDUCTION
  }
  catena::fail<ValueError>(kFusedName, "there is no reduction number ", int(r));
}

// The post map, traced with a placeholder of the reduced value's dtype.
class PostMap {
 public:
  PostMap(const catena::Function<Traced(const Traced&)>& map, Dtype reduced) : dtype_(reduced) {
    if (!map) return;
    const Array stand_in(new_array({}, reduced, cpu_device));
    const Operand operand(stand_in);
    Trace trace({&operand, 1});
    const Traced result = map(trace.argument(0));
    check<ValueError>(result.trace() == &trace, kFusedName, "the post map gives a value of another call");
    Assembly assembly(trace.state(), Numbers{result.value()}, Numbers{-1}, true);
    fits_ = assembly.fits();
    program_ = assembly.take_program();
    dtype_ = program_->targets[0].dtype;
  }
  Dtype dtype() const { return dtype_; }  // dtype of the results
  bool fits() const { return fits_; }
  // Returns null if there is no post map. Input 0 of the program is the reduced value, the others are constants.
  const TracedProgram* program() const { return program_ ? &*program_ : nullptr; }

 private:
  Dtype dtype_;
  bool fits_ = true;
  std::optional<TracedProgram> program_;
};

// A reduction over the results of a program, with the rules of nd::sum and the other reductions.
class ReducedProgram {
 public:
  ReducedProgram(const TracedProgram& elements, std::span<const Operand> arguments, const FusedReduce& how)
      : def_(kernel_of(how.reduce)),
        elements_(elements),
        arguments_(arguments),
        inputs_(elements.inputs(arguments)),
        loop_(loop_over(elements.targets[0].dtype)),
        post_(how.post_map, type().type[1]),
        shape_(catena::broadcast_shape(kFusedName, inputs_)) {}
  // Returns false if the programs around the reduction are too long for one kernel.
  bool fits() const {
    const TracedProgram* post = post_.program();
    const std::size_t operands = inputs_.size() + (post ? post->sources.size() - 1 : 0);
    return operands < std::size_t(catena::kMaxOperands) && post_.fits();
  }

  Array run(const TestOptions& options) {
    axes_ = catena::reduced_axes(def_.name, options.axis, shape_.size());
    const Shape shape = catena::reduced_shape(shape_, axes_, options.keepdims);
    check<ValueError>(def_.has_identity || catena::size_of(shape_) != 0 || catena::size_of(shape) == 0, def_.name,
                      "shape ", shape_, " has no elements along axes ", axes_,
                      ", and the reduction of nothing has no value");
    const Array& target = options.out;
    const Device device = common_device(kFusedName, arguments_, {&target, 1});
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
    const int uniform = def_.loop_of(element);
    if (uniform >= 0) return uniform;
    catena::ArrayHeader header;
    header.dtype = element;
    const catena::Input input(header);
    return catena::choose_loop(def_, {&input, 1});
  }
  void launch(const Array& out) {
    const catena::Program before = elements_.program();
    catena::call::Reduce call;
    call.kernel = &def_;
    call.loop = loop_;
    call.inputs = inputs_;
    call.axes = axes_;
    call.out = out.get();
    call.pre = &before;
    catena::Program after;
    catena::SmallVector<catena::Input, 8> constants;
    if (const TracedProgram* post = post_.program()) {
      after = post->program();
      call.post = &after;
      for (std::size_t k = 1; k < post->sources.size(); ++k) constants.push_back(post->sources[k].constant);
      call.post_inputs = constants;
    }
    execute(call);
  }

  const KernelDef& def_;
  const TracedProgram& elements_;
  std::span<const Operand> arguments_;
  catena::SmallVector<catena::Input, 8> inputs_;
  int loop_;
  PostMap post_;
  Shape shape_;
  Dims axes_;
};

// Computes a reduction whose elements are one program. If the post map does not fit into the same kernel, it runs as a
// separate function.
Array reduce_elements(const TracedProgram& elements, const FusedReduce& how, std::span<const Operand> arguments,
                      const TestOptions& options) {
  ReducedProgram program(elements, arguments, how);
  if (program.fits()) return program.run(options);
  const Array reduced = ReducedProgram(elements, arguments, {.reduce = how.reduce})
                            .run({.axis = options.axis, .keepdims = options.keepdims});
  const Operand operand(reduced);
  Trace post({&operand, 1});
  const Traced mapped = how.post_map(post.argument(0));
  Array result;
  post.run({}, {&mapped, 1}, {&result, 1});
  if (options.out.is_null()) return result;
  check<ValueError>(options.out.shape() == result.shape(), kFusedName, "the output has shape ", options.out.shape(),
                    ", the result ", result.shape());
  assign(kFusedName, options.out, result);
  return options.out;
}

}  // namespace

// ---- programs of earlier calls --------------------------------------------------------------------
namespace {

// The number of arguments, and for each: its dtype if it is an array, or its type and kind if it is a number.
class ArgumentTypes {
 public:
  ArgumentTypes(std::span<const Operand> arguments, std::span<const NumberType> types) {
    if (arguments.size() >= bytes_.size()) return;
    bytes_[0] = static_cast<std::uint8_t>(arguments.size());
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const Operand& o = arguments[k];
      const auto type = [&] { return types.empty() ? widest_type(o.scalar()) : types[k]; };
      bytes_[k + 1] = static_cast<std::uint8_t>(o.is_array() ? static_cast<int>(o.header()->dtype)
                                                             : 0x80 | static_cast<int>(type()) << 3 |
                                                                   static_cast<int>(o.scalar().kind()));
    }
  }
  bool is_known() const { return bytes_[0] != 0; }
  friend bool operator==(const ArgumentTypes&, const ArgumentTypes&) = default;

 private:
  std::array<std::uint8_t, 24> bytes_{};
};

// True if the dtype can hold the integer; otherwise the step that reads the integer throws.
bool is_value_of(const Scalar& s, Dtype t) {
  const catena::DtypeKind kind = catena::kind_of(t);
  const bool whole = kind == catena::DtypeKind::signed_ || kind == catena::DtypeKind::unsigned_;
  if (!whole || s.is_floating() || s.is_complex()) return true;
  if (s.kind() == Scalar::Kind::unsigned_) return t == Dtype::uint64;
  const auto v = s.to<std::int64_t>();
  const int bits = static_cast<int>(8 * catena::itemsize(t)) - (kind == catena::DtypeKind::signed_);
  if (kind == catena::DtypeKind::unsigned_ && v < 0) return false;
  return bits >= 63 || (v < (std::int64_t(1) << bits) && v >= -(std::int64_t(1) << bits));
}

// True if the program, which was created for other arguments of the same dtypes, gives the right results for these.
bool applies(const TracedProgram& program, std::span<const Operand> arguments) {
  const catena::ArrayHeader* first = nullptr;
  for (const Operand& o : arguments) {
    const catena::ArrayHeader* h = o.header();
    if (h == nullptr || h->size == 0) continue;
    if (first == nullptr) first = h;
    if (!(h->device == first->device)) return false;
  }
  return program.with_numbers(arguments, [&](std::span<const HostNumber> numbers) {
    for (std::size_t k = 0; k < program.sources.size(); ++k) {
      const TracedProgram::Source& source = program.sources[k];
      const int a = source.argument, step = source.number_step;
      if (a >= 0 && !arguments[std::size_t(a)].is_array() &&
          !is_value_of(arguments[std::size_t(a)].scalar(), program.slots[k]))
        return false;
      if (step < 0) continue;
      const Scalar& number = numbers[std::size_t(step)].value;
      if (number.kind() != source.constant.kind() || !is_value_of(number, program.slots[k])) return false;
    }
    return true;
  });
}

}  // namespace

struct FusionCache::Entry {
  ArgumentTypes signature;
  TracedProgram program;
  const Entry* next;
};

// Entries are never removed, so that readers need no lock.
struct FusionCache::State {
  std::atomic<const Entry*> first{nullptr};
  ~State() {
    for (const Entry* e = first.load(); e != nullptr; delete std::exchange(e, e->next)) {}
  }
};

FusionCache::FusionCache() try : state_(new State) {
} catch (...) {
  catena::rethrow_standard(kFusedName);
}
FusionCache::~FusionCache() = default;

const TracedProgram* FusionCache::find(std::span<const Operand> arguments, std::span<const NumberType> types) const {
  const ArgumentTypes wanted(arguments, types);
  for (const Entry* e = state_->first.load(std::memory_order_acquire); e != nullptr; e = e->next)
    if (e->signature == wanted) return applies(e->program, arguments) ? &e->program : nullptr;
  return nullptr;
}

void FusionCache::add(std::span<const Operand> arguments, std::span<const NumberType> types,
                      const TracedProgram& program) {
  const ArgumentTypes signature(arguments, types);
  if (!signature.is_known() || !program.is_free()) return;
  const Entry* first = state_->first.load(std::memory_order_acquire);
  for (const Entry* e = first; e != nullptr; e = e->next)
    if (e->signature == signature) return;
  auto* entry = new Entry{signature, program, first};
  // Threads that trace the same call at once may add it twice; the later entry is then found first.
  while (!state_->first.compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) {}
}

bool FusionCache::run(std::span<const Operand> arguments, std::span<const NumberType> types,
                      std::span<Array> results) const try {
  const TracedProgram* program = find(arguments, types);
  if (program == nullptr) return false;
  if (results.size() == program->targets.size()) {
    program->execute(arguments, results);
    return true;
  }
  catena::SmallVector<Array, 4> all(program->targets.size());
  program->execute(arguments, all);
  for (std::size_t k = 0; k < results.size(); ++k) results[k] = std::move(all.data()[k]);
  return true;
} catch (...) {
  catena::rethrow_standard(kFusedName);
}

Array FusionCache::reduce(std::span<const Operand> arguments, const FusedReduce& how, const TestOptions& options) const
    try {
  const TracedProgram* program = find(arguments, {});
  return program == nullptr ? Array() : reduce_elements(*program, how, arguments, options);
} catch (...) {
  catena::rethrow_standard(kFusedName);
}

// ---- tracing ------------------------------------------------------------------------------------
namespace {

catena::SmallVector<NumberType, 8> types_of(const Trace::State& trace) {
  catena::SmallVector<NumberType, 8> types;
  for (std::size_t k = 0; k < trace.arguments.size(); ++k) types.push_back(trace.values[k].type);
  return types;
}

}  // namespace

Trace::Trace(std::span<const Operand> arguments, std::span<const NumberType> types) try : state_(new State) {
  check<TypeError>(std::any_of(arguments.begin(), arguments.end(), [](const Operand& o) { return o.is_array(); }),
                   kFusedName, "at least one argument must be an array");
  state_->arguments = arguments;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const Operand& o = arguments[k];
    if (o.is_array()) state_->add_value({o.header()->dtype, o.header()});
    else state_->add_number({o.scalar(), types.empty() ? widest_type(o.scalar()) : types[k]});
  }
} catch (...) {
  catena::rethrow_standard(kFusedName);
}
Trace::~Trace() = default;

Traced Trace::argument(std::size_t k) { return {this, static_cast<int>(k)}; }

void Trace::run(std::span<const Traced> parameters, std::span<const Traced> results, std::span<Array> returned,
                FusionCache* cache) try {
  Numbers values, targets;
  for (const Traced& r : results) {
    check<ValueError>(r.trace() == this, kFusedName, "a result belongs to another call");
    values.push_back(r.value());
    targets.push_back(-1);
  }
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].value() == static_cast<int>(k)) continue;
    const Operand& argument = state_->arguments[k];
    check<TypeError>(argument.is_array(), kFusedName, "argument ", k, " is assigned to and must be an array");
    check<TypeError>(parameters[k].dtype() == argument.header()->dtype, kFusedName, "argument ", k, " is an array of ",
                     argument.header()->dtype, " and was assigned ", parameters[k].dtype());
    values.push_back(parameters[k].value());
    targets.push_back(static_cast<int>(k));
  }
  if (values.empty()) return;
  std::vector<Array> arrays(values.size());
  for (std::size_t k = 0; k < targets.size(); ++k)
    if (targets[k] >= 0) arrays[k] = state_->arguments[std::size_t(targets[k])].array();
  if (const auto devices = different_devices(state_->arguments)) {
    warn_of_devices(*devices);
    const Unfused plain(*state_);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const Array value = plain.result(values[k]);
      if (targets[k] >= 0) assign(kFusedName, arrays[k], value);
      else arrays[k] = value;
    }
  } else {
    const std::size_t steps = state_->steps.size();
    Assembly whole(*state_, values, targets);
    if (whole.fits()) {
      const TracedProgram program = whole.take_program();
      if (cache != nullptr && !state_->fixes_numbers) cache->add(state_->arguments, types_of(*state_), program);
      program.execute(state_->arguments, arrays);
    } else {
      state_->truncate(steps);
      arrays = run_in_parts(*state_, values, arrays);
    }
  }
  std::move(arrays.begin(), arrays.begin() + std::ptrdiff_t(returned.size()), returned.begin());
} catch (...) {
  catena::rethrow_standard(kFusedName);
}

Array Trace::reduce(std::span<const Traced> parameters, const Traced& result, const FusedReduce& how,
                    const TestOptions& options, FusionCache* cache) try {
  check<ValueError>(result.trace() == this, kFusedName, "a result belongs to another call");
  for (std::size_t k = 0; k < parameters.size(); ++k)
    check<TypeError>(parameters[k].value() == static_cast<int>(k), kFusedName, "argument ", k,
                     " is assigned to, which a reduction does not write");
  if (const auto devices = different_devices(state_->arguments)) {
    warn_of_devices(*devices);
    const Array elements = Unfused(*state_).result(result.value());
    const Operand operand(elements);
    Trace alone({&operand, 1});
    return alone.reduce({}, alone.argument(0), how, options);
  }
  const Numbers values{result.value()};
  for (;;) {
    const std::size_t steps = state_->steps.size();
    Assembly assembly(*state_, values, Numbers{-1});
    if (assembly.fits()) {
      const TracedProgram elements = assembly.take_program();
      if (cache != nullptr && !state_->fixes_numbers) cache->add(state_->arguments, types_of(*state_), elements);
      return reduce_elements(elements, how, state_->arguments, options);
    }
    state_->truncate(steps);
    Part(*state_, values).execute();
  }
} catch (...) {
  catena::rethrow_standard(kFusedName);
}

}  // namespace internal
}  // namespace nd
