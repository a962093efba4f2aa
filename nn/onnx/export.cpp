#include <catena/nn/onnx/export.h>

#include <algorithm>
#include <array>
#include <set>

#include <catena/autograd/flag.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/version.h>
#include <catena/nn/onnx/operators.h>
#include <catena/nn/onnx/opset.h>

namespace nn::onnx {
namespace internal {

using catena::check;
using catena::concat;
using catena::fail;
using catena::ValueError;

namespace {

constexpr const char* kOp = "onnx::export_model";

std::array<std::span<const Operators>, 8> tables() noexcept {
  return {elementwise_operators(),   array_operators(), reduction_operators(), network_operators(),
          normalization_operators(), loss_operators(),  index_operators(),     region_operators()};
}

const Operators* find(std::string_view function) {
  for (const auto table : tables())
    for (const Operators& entry : table)
      if (entry.function == function) return &entry;
  return nullptr;
}

bool is_elementwise(const Operators* entry) {
  for (const Operators& e : elementwise_operators())
    if (&e == entry) return true;
  return false;
}

// ---- names --------------------------------------------------------------------------------------

// The names given, or the others; "<kind>_<i>" for an empty one of these.
Names names_of(const char* kind, const Names& given, Names others) {
  check<ValueError>(given.empty() || given.size() == others.size(), kOp, given.size(), " ", kind,
                    "_names are given for ", others.size(), " ", kind, "s");
  if (!given.empty()) return given;
  for (std::size_t i = 0; i < others.size(); ++i)
    if (others[i].empty()) others[i] = concat(kind, '_', i);
  return others;
}
void check_unique(const Names& inputs, const Names& outputs) {
  std::set<std::string> all;
  for (const Names* list : {&inputs, &outputs})
    for (const std::string& name : *list)
      check<ValueError>(!name.empty() && all.insert(name).second, kOp, "the name \"", name,
                        "\" of an input or output is empty or occurs twice");
}

// Collects the names of arrays that a link owns: "conv1/W", "bn1/avg_mean".
class ArrayNames final : public MemberVisitor {
 public:
  void collect(Link& link, const std::string& path) {
    path_ = path;
    link.visit_members(*this);
  }
  void parameter(std::string_view name, Parameter& p) override {
    if (const Variable v = p; v && v.data()) names.emplace(v.data().get(), path_ + std::string(name));
  }
  void persistent(std::string_view name, Persistent& a) override {
    if (a.array()) names.emplace(a.array().get(), path_ + std::string(name));
  }
  using MemberVisitor::persistent;
  std::map<const catena::ArrayHeader*, std::string> names;

 private:
  std::string path_;
};
std::map<const catena::ArrayHeader*, std::string> array_names(Link* link) {
  ArrayNames names;
  if (link != nullptr)
    for (const NamedLink& l : link->namedlinks())
      names.collect(*l.link, l.path == "/" ? std::string() : l.path.substr(1) + "/");
  return std::move(names.names);
}

// ---- dynamic axes -------------------------------------------------------------------------------

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The name of an axis without one: that of the same axis of an input before, if its length is the same.
std::string name_of_axis(const std::vector<Symbol>& symbols, const std::string& input, int axis, std::int64_t length) {
  for (const Symbol& s : symbols)
    if (s.axis == axis && s.lengths[0] == length) return s.name;
  return concat(input, "_dynamic_axes_", axis);
}

// The dynamic axes of input `i`, whose name is `name`.
void add_symbols(std::vector<Symbol>& symbols, const std::string& name, std::size_t i, const Variable& x,
                 const ExportOptions& options) {
  std::map<int, std::string> axes;
  if (const auto given = options.dynamic_axes.find(name); given != options.dynamic_axes.end())
    for (const auto& [axis, symbol] : given->second)
      check<ValueError>(axes.emplace(catena::normalize_axis(kOp, axis, x.ndim()), symbol).second, kOp, "axis ", axis,
                        " of ", name, " occurs twice in dynamic_axes");
  if (options.dynamic_batch && x.ndim() > 0 && axes[0].empty()) axes[0] = "batch";
  for (auto& [axis, symbol] : axes) {
    const std::int64_t length = x.shape(axis);
    check<ValueError>(length > 0, kOp, "the dynamic axis ", axis, " of ", name, " needs a length that is not 0");
    if (symbol.empty()) symbol = name_of_axis(symbols, name, axis, length);
    for (const Symbol& s : symbols)
      check<ValueError>(s.name != symbol || s.lengths[0] == length, kOp, "the dynamic axis ", symbol,
                        " has the length ", s.lengths[0], " and, as axis ", axis, " of ", name, ", the length ", length,
                        "; axes with one name have one length");
    symbols.push_back({symbol, i, axis, {length}});
  }
}

// ---- calls --------------------------------------------------------------------------------------

// The same elements from the last to the first, floats moved by an offset, too: results of the model that depend on
// values of the inputs differ, results that depend on shapes alone do not.
Array other_values(const Array& a) {
  const std::int64_t n = a.size();
  const Array reversed = autograd::contiguous(autograd::slice(autograd::reshape(a, {n}), 0, n - 1, -n - 1, -1));
  const Array b = autograd::reshape(reversed, a.shape());
  return catena::is_floating(a.dtype()) ? autograd::astype(b * 0.875 + 0.0625, a.dtype()) : b;
}
// The array `times` times along an axis.
Array repeated(const Array& a, int axis, std::int64_t times) {
  return autograd::concatenate(std::vector<Array>(std::size_t(times), a), axis);
}

// A call with the given inputs, one with other values, and two with other lengths for each dynamic axis.
std::vector<Trace> traces_of(const Callable& call, const Arrays& inputs, std::vector<Symbol>& symbols) {
  std::vector<Trace> traces;
  traces.push_back(trace(call, inputs));
  Arrays others;
  for (const Array& a : inputs) others.push_back(a.size() == 0 ? a : other_values(a));
  traces.push_back(trace(call, others));
  for (Symbol& s : symbols) s.lengths.push_back(s.lengths[0]);
  std::set<std::string> done;
  for (const Symbol& symbol : std::vector<Symbol>(symbols)) {
    if (!done.insert(symbol.name).second) continue;
    for (const std::int64_t times : {2, 3}) {
      Arrays longer = inputs;
      for (Symbol& s : symbols) {
        s.lengths.push_back(s.name == symbol.name ? s.lengths[0] * times : s.lengths[0]);
        if (s.name == symbol.name) longer[s.input] = repeated(longer[s.input], s.axis, times);
      }
      try {
        traces.push_back(trace(call, longer));
      } catch (const catena::Error& e) {
        fail<ValueError>(kOp, "the model cannot be called with ", times, " times the length of the dynamic axis ",
                         symbol.name, ": ", e.what());
      }
    }
  }
  return traces;
}

// The calls must have run the same functions.
void check_traces(const std::vector<Trace>& traces) {
  const Trace& first = traces[0];
  for (std::size_t t = 1; t < traces.size(); ++t) {
    const char* const with = t == 1 ? "other values" : "another length of a dynamic axis";
    constexpr const char* kAdvice =
        "; a file has one path through the model (a recurrent state must be reset in the call)";
    for (std::size_t i = 0; i < std::min(first.calls.size(), traces[t].calls.size()); ++i)
      check<catena::NotImplementedError>(first.calls[i].function == traces[t].calls[i].function, kOp, "with ", with,
                                         " function ", i, " of the model is ", traces[t].calls[i].node->label(),
                                         " instead of ", first.calls[i].node->label(), kAdvice);
    check<catena::NotImplementedError>(
        first.calls.size() == traces[t].calls.size() && first.outputs.size() == traces[t].outputs.size(), kOp, "with ",
        with, " the model runs ", traces[t].calls.size(), " functions instead of ", first.calls.size(), kAdvice);
  }
}

void write_calls(GraphBuilder& b, const std::map<const catena::ArrayHeader*, std::string>& names) {
  const auto name_of = [&](const Array& a) {
    const auto at = names.find(a.get());
    return at == names.end() ? std::string() : at->second;
  };
  for (std::size_t i = 0; i < b.traces()[0].calls.size(); ++i) {
    const TracedCall& call = b.traces()[0].calls[i];
    const auto where = [&] { return concat(call.node->label(), ", at ", path_to(b.traces()[0], i, name_of)); };
    const Operators* const entry = find(call.function);
    check<catena::NotImplementedError>(entry != nullptr, kOp, "ONNX has no equivalent of the function ", where(),
                                       "; exported_functions() lists those that have one");
    b.set_prefix(concat(call.function, '_', i));
    CallView view(b, i);
    try {
      if (is_elementwise(entry))
        for (std::size_t k = 0; k < call.inputs.size(); ++k)
          require_operand(b.opset(), entry->operators, call.inputs[k].array.dtype());
      entry->write(view);
    } catch (const NoEquivalent& e) {
      fail<catena::NotImplementedError>(kOp, "the function ", where(), ": ", e.what());
    }
  }
}

Model model_of(const ExportOptions& options) {
  Model model;
  model.ir_version = format_of(options.opset_version);
  model.opset_import = {{"", options.opset_version}};
  model.producer_name = "Catena";
  model.producer_version = catena::kVersion;
  model.doc_string = options.doc_string;
  model.metadata_props = options.metadata;
  return model;
}

}  // namespace

Model exported(const catena::Function<Variables(const Variables&)>& call, Link* link, const Variables& inputs,
               const ExportOptions& options) {
  check<ValueError>(!inputs.empty(), kOp, "there are no inputs");
  for (const Variable& x : inputs) check<ValueError>(x && x.data(), kOp, "an input is a null Variable, or has no data");
  check<ValueError>(options.opset_version >= kFirstOpset && options.opset_version <= kLastOpset, kOp,
                    "opset_version is ", options.opset_version, "; it must be ", kFirstOpset, " to ", kLastOpset);
  Names own;
  for (const Variable& x : inputs) own.push_back(x.name());
  const Names names = names_of("input", options.input_names, std::move(own));
  check_unique(names, options.output_names);
  std::vector<Symbol> symbols;
  for (std::size_t i = 0; i < inputs.size(); ++i) add_symbols(symbols, names[i], i, inputs[i], options);
  const autograd::TrainScope train(options.train);
  Arrays arrays;
  for (const Variable& x : inputs) arrays.push_back(x.data());
  std::vector<Trace> traces = traces_of(call, arrays, symbols);
  check_traces(traces);
  const Names output_names = names_of("output", options.output_names, Names(traces[0].outputs.size()));
  check_unique(names, output_names);
  for (const auto& entry : options.dynamic_axes)
    check<ValueError>(contains(names, entry.first) || contains(output_names, entry.first), kOp, "dynamic_axes has \"",
                      entry.first, "\", which is no input and no output");
  // After the calls, because parameters may get their shapes in the first one.
  const auto owned = array_names(link);
  GraphBuilder builder(std::move(traces), symbols, names, owned, options.opset_version);
  builder.reserve_names(output_names);
  write_calls(builder, owned);
  Model model = model_of(options);
  try {
    model.graph = builder.finish(output_names, options.graph_name);
  } catch (const NoEquivalent& e) {
    fail<catena::NotImplementedError>(kOp, "an output of the model: ", e.what());
  }
  return model;
}

}  // namespace internal

std::vector<ExportedFunction> exported_functions() {
  using namespace internal;
  std::vector<ExportedFunction> all;
  for (const auto table : tables())
    for (const Operators& entry : table) all.push_back({std::string(entry.function), std::string(entry.operators)});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.function < b.function; });
  return all;
}

}  // namespace nn::onnx
