#include <catena/ndarray/user_kernel/create_ufunc.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include <catena/kernels/base/text.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/user_kernel/definitions.h>
#include <catena/ndarray/user_kernel/kernel_arguments.h>
#include <catena/ndarray/user_kernel/reduction_kernel.h>

namespace nd {
namespace {

using catena::check;
using catena::concat;
using catena::KernelDef;

constexpr std::size_t kMaxInputs = 8, kMaxOutputs = 4;

// Returns the dtypes of one side of a loop string.
std::vector<Dtype> dtypes_of(std::string_view name, std::string_view loop, std::string_view side) {
  std::vector<Dtype> types;
  for (const char c : side) {
    const Dtype t = catena::dtype_from_char(c);
    check<ValueError>(t != static_cast<Dtype>(0xff), name, "the loop \"", loop, "\" has the unknown character '", c,
                      "'");
    types.push_back(t);
  }
  return types;
}

struct LoopTypes {
  std::vector<Dtype> in, out;
};

LoopTypes parse_loop(std::string_view name, std::string_view loop) {
  const std::size_t arrow = loop.find("->");
  check<ValueError>(arrow != std::string_view::npos, name, "\"", loop, "\" is no loop; write it as \"ff->f\"");
  LoopTypes types{dtypes_of(name, loop, loop.substr(0, arrow)), dtypes_of(name, loop, loop.substr(arrow + 2))};
  check<ValueError>(!types.in.empty() && !types.out.empty(), name, "the loop \"", loop,
                    "\" must have inputs and outputs");
  return types;
}

// The loops of a function, for the choice of a loop; they have no code.
class Loops {
 public:
  Loops(std::string_view name, catena::KernelKind kind, std::span<const LoopTypes> loops) : name_(name) {
    def_.id = catena::kernel_id("create_ufunc " + name_);  // no registered kernel has a name with a blank
    def_.name = name_.c_str();
    def_.header = "";
    def_.kind = kind;
    def_.nin = static_cast<std::uint8_t>(loops[0].in.size());
    def_.nout = static_cast<std::uint8_t>(loops[0].out.size());
    def_.uniform_loop.fill(KernelDef::no_loop);
    for (const LoopTypes& types : loops) {
      catena::Loop& loop = table_.emplace_back();
      std::copy(types.out.begin(), types.out.end(), std::copy(types.in.begin(), types.in.end(), loop.type.begin()));
      const bool uniform = std::all_of(types.in.begin(), types.in.end(), [&](Dtype t) { return t == types.in[0]; });
      std::uint8_t& first = def_.uniform_loop[static_cast<std::size_t>(types.in[0])];
      if (uniform && first == KernelDef::no_loop) first = static_cast<std::uint8_t>(table_.size() - 1);
    }
    def_.loop_table = table_.data();
    def_.num_loops = static_cast<std::uint16_t>(table_.size());
  }
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;
  const KernelDef& def() const { return def_; }

 private:
  std::string name_;
  std::vector<catena::Loop> table_;
  KernelDef def_{};
};

template <class Op> std::vector<LoopTypes> parse_loops(std::string_view name, const std::vector<Op>& ops) {
  check<ValueError>(is_identifier(name), "create_ufunc", "the name \"", name, "\" is no identifier");
  check<ValueError>(!ops.empty() && ops.size() < KernelDef::no_loop, name, "there are ", ops.size(),
                    " loops; there must be 1 to ", KernelDef::no_loop - 1);
  std::vector<LoopTypes> loops;
  for (const Op& op : ops) {
    const LoopTypes& added = loops.emplace_back(parse_loop(name, op.types));
    check<ValueError>(added.in.size() == loops[0].in.size() && added.out.size() == loops[0].out.size(), name,
                      "the loop \"", op.types, "\" has another number of operands than \"", ops[0].types, "\"");
  }
  return loops;
}

KernelParameter parameter(std::string name, std::string type, bool output, std::optional<Dtype> seen_as) {
  KernelParameter p;
  p.name = std::move(name);
  p.type = std::move(type);
  p.output = output;
  p.seen_as = seen_as;
  return p;
}

class TextLoops final : public internal::LoopRunner {
 public:
  TextLoops(std::string_view name, const std::vector<UfuncOp>& ops, std::span<const LoopTypes> loops,
            std::string_view routine, std::string_view preamble, std::string_view doc)
      : loops_(name, catena::KernelKind::elementwise, loops), doc_(doc) {
    for (std::size_t k = 0; k < ops.size(); ++k) {
      KernelText text;
      text.kind = KernelText::Kind::elementwise;
      text.name = name;
      text.label = concat("ufunc ", name);
      text.nin = loops[k].in.size();
      for (std::size_t i = 0; i < loops[k].in.size(); ++i)
        text.parameters.push_back(parameter(concat("in", i), concat("in", i, "_type"), false, loops[k].in[i]));
      for (std::size_t i = 0; i < loops[k].out.size(); ++i)
        text.parameters.push_back(parameter(concat("out", i), concat("out", i, "_type"), true, loops[k].out[i]));
      text.preamble = preamble;
      text.operation = ops[k].routine.empty() ? std::string(routine) : ops[k].routine;
      check<ValueError>(!text.operation.empty(), name, "the loop \"", ops[k].types,
                        "\" has no text, and the function has none");
      texts_.push_back(intern(std::move(text)));
    }
  }

  void run(int loop, std::span<const Operand> in, std::span<const Array> out) const override {
    std::vector<Operand> args;
    for (const Operand& o : in) args.push_back(o);
    for (const Array& o : out) args.emplace_back(o);
    internal::call_kernel(*texts_[static_cast<std::size_t>(loop)], args, ElementwiseCallOptions());
  }
  ufunc function() const { return {loops_.def(), *this, doc_}; }

 private:
  Loops loops_;
  std::string doc_;
  std::vector<const KernelText*> texts_;
};

}  // namespace

// ---- functions ----------------------------------------------------------------------------------
ufunc create_ufunc(std::string_view name, const std::vector<UfuncOp>& ops, std::string_view routine,
                   std::string_view preamble, std::string_view doc) {
  static auto& functions = *new internal::Definitions<TextLoops>;
  const std::vector<LoopTypes> loops = parse_loops(name, ops);
  check<ValueError>(loops[0].in.size() <= kMaxInputs && loops[0].out.size() <= kMaxOutputs, name, "the loop \"",
                    ops[0].types, "\" has more than ", kMaxInputs, " inputs or ", kMaxOutputs, " outputs");
  std::string key = internal::joined(name, routine, preamble, doc);
  for (const UfuncOp& op : ops) key += internal::joined(op.types, op.routine);
  return functions
      .find(key, [&] { return std::make_unique<const TextLoops>(name, ops, loops, routine, preamble, doc); })
      .function();
}

// ---- reductions ---------------------------------------------------------------------------------
struct simple_reduction_function::Data {
  Data(std::string_view name, std::span<const LoopTypes> loops)
      : types(name, catena::KernelKind::reduction, loops), label(concat("reduction ", name)) {}

  Loops types;
  std::string label;
  std::vector<const KernelText*> texts;

  // Returns a loop with that output dtype: the first one whose input holds the elements, else the first one.
  int loop_by_output(Dtype element, Dtype output) const {
    const std::span<const catena::Loop> all = types.def().loops();
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k].type[1] == output && can_cast(element, all[k].type[0])) return static_cast<int>(k);
    return catena::choose_loop_by_output(types.def(), output);
  }
};

std::string ReductionIdentity::text_of(const Scalar& value) {
  if (value.kind() == Scalar::Kind::bool_) return value.to<bool>() ? "true" : "false";
  if (!value.is_floating()) return concat(value);
  const double v = value.to_double();
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v > 0 ? "INFINITY" : "-INFINITY";
  return catena::general_text(v, 17);
}

std::string_view simple_reduction_function::name() const noexcept { return data_->types.def().name; }

std::vector<std::string> simple_reduction_function::types() const {
  std::vector<std::string> list;
  for (const catena::Loop& loop : data_->types.def().loops())
    list.push_back(catena::signature(data_->types.def(), loop));
  return list;
}

Array simple_reduction_function::operator()(const Array& a, const ReduceOptions& options) const {
  check<TypeError>(options.where.is_null() && !options.initial, name(),
                   "the reduction takes no `where` and no `initial`; instead of `where`, reduce nd::where(mask, a, b) "
                   "with a number b that changes no result; instead of `initial`, combine the result with the number");
  check<TypeError>(!a.is_null(), name(), "the array is null");
  const KernelDef& def = data_->types.def();
  const catena::Input input(*a.get());
  const int loop =
      options.dtype ? data_->loop_by_output(a.dtype(), *options.dtype) : catena::choose_loop(def, {&input, 1});
  const Dims axes = catena::reduced_axes(name(), options.axis, a.ndim());
  const Shape shape = catena::reduced_shape(a.shape(), axes, options.keepdims);
  const Dtype result = def.loop_table[loop].type[1];
  if (!options.out.is_null()) {
    check<ValueError>(options.out.shape() == shape, name(), "the output has shape ", options.out.shape(),
                      ", the result ", shape);
    internal::check_output_layout(name(), *options.out.get());
  }
  const Operand operand(a);
  const Device device = internal::common_device(name(), {&operand, 1}, {&options.out, 1});
  // The kernel writes the output dtype of the loop; `out` may have another dtype.
  const bool direct = !options.out.is_null() && options.out.dtype() == result;
  const Array own = direct ? options.out : Array(internal::new_array(shape, result, device));
  const Operand args[] = {a, own};
  internal::call_kernel(*data_->texts[static_cast<std::size_t>(loop)], args,
                        ReductionCallOptions{.axis = options.axis, .keepdims = options.keepdims});
  if (options.out.is_null() || direct) return own;
  internal::convert_into(name(), *own.get(), *options.out.get());
  return options.out;
}

simple_reduction_function create_reduction_func(std::string_view name, const std::vector<ReductionOp>& ops,
                                                const ReductionRoutine& routine, const ReductionIdentity& identity,
                                                std::string_view preamble) {
  static auto& functions = *new internal::Definitions<simple_reduction_function::Data>;
  const std::vector<LoopTypes> loops = parse_loops(name, ops);
  check<ValueError>(loops[0].in.size() == 1 && loops[0].out.size() == 1, name, "the loop \"", ops[0].types,
                    "\" of a reduction must have one input and one output");
  std::string key = internal::joined(name, preamble, identity.text() ? "1" : "", identity.text().value_or(""),
                                     routine.map, routine.reduce, routine.post_map, routine.reduce_type);
  for (const ReductionOp& op : ops)
    key += internal::joined(op.types, op.routine.map, op.routine.reduce, op.routine.post_map, op.routine.reduce_type);
  const auto own_or = [](const std::string& own, const std::string& common) { return own.empty() ? common : own; };
  return simple_reduction_function(functions.find(key, [&] {
    auto data = std::make_unique<simple_reduction_function::Data>(name, loops);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const ReductionRoutine& own = ops[k].routine;
      KernelText text;
      text.kind = KernelText::Kind::reduction;
      text.name = name;
      text.label = data->label;
      text.nin = 1;
      text.parameters.push_back(parameter("in0", "type_in0_raw", false, {}));
      text.parameters.push_back(parameter("out0", "type_out0_raw", true, {}));
      text.preamble = preamble;
      text.map = own_or(own.map, routine.map);
      text.reduce = own_or(own.reduce, routine.reduce);
      text.post_map = own_or(own.post_map, routine.post_map);
      text.reduce_type = own_or(own.reduce_type, routine.reduce_type);
      if (text.reduce_type.empty()) text.reduce_type = c_type(loops[k].out[0]);
      text.identity = identity.text();
      check<ValueError>(!text.map.empty() && !text.reduce.empty() && !text.post_map.empty(), name, "the loop \"",
                        ops[k].types, "\" needs the texts map, reduce and post_map");
      data->texts.push_back(intern(std::move(text)));
    }
    return std::unique_ptr<const simple_reduction_function::Data>(std::move(data));
  }));
}

}  // namespace nd
