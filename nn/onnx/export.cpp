#include <catena/nn/onnx/export.h>

#include <algorithm>
#include <set>

#include <catena/autograd/flag.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/version.h>
#include <catena/nn/onnx/operators.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx {
namespace internal {

using catena::check;
using catena::concat;
using catena::fail;
using catena::ValueError;

namespace {

constexpr const char* kOp = "onnx::export_model";
constexpr std::int64_t kFirstOpset = 17, kLastOpset = 22;
// The version of the format in which an opset appeared.
constexpr std::int64_t kFormats[] = {8, 8, 9, 9, 10, 10};

const Operators* find(std::string_view function) {
  for (const auto table : {elementwise_operators(), array_operators(), reduction_operators(), network_operators(),
                           normalization_operators()})
    for (const Operators& entry : table)
      if (entry.function == function) return &entry;
  return nullptr;
}

// ---- names --------------------------------------------------------------------------------------

// The names given, or those of the variables, or "<kind>_<i>".
Names names_of(const char* kind, const Names& given, const Variables& variables) {
  check<ValueError>(given.empty() || given.size() == variables.size(), kOp, given.size(), " ", kind,
                    "_names are given for ", variables.size(), " ", kind, "s");
  Names names = given;
  for (std::size_t i = names.size(); i < variables.size(); ++i)
    names.push_back(variables[i].name().empty() ? concat(kind, '_', i) : variables[i].name());
  return names;
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

std::vector<Symbol> symbols_of(const Names& names, const Names& outputs, const Variables& inputs,
                               const ExportOptions& options) {
  DynamicAxes axes = options.dynamic_axes;
  if (options.dynamic_batch)
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].ndim() > 0) axes[names[i]].emplace(0, "batch");
  std::vector<Symbol> symbols;
  for (const auto& [name, of_input] : axes) {
    const auto at = std::find(names.begin(), names.end(), name);
    const bool is_output = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    check<ValueError>(at != names.end() || is_output, kOp, "dynamic_axes has \"", name,
                      "\", which is no input and no output");
    if (is_output) continue;
    const auto input = std::size_t(at - names.begin());
    for (const auto& [given_axis, symbol] : of_input) {
      const int axis = catena::normalize_axis(kOp, given_axis, inputs[input].ndim());
      const std::int64_t length = inputs[input].shape(axis);
      check<ValueError>(!symbol.empty() && length > 0, kOp, "the dynamic axis ", axis, " of ", name,
                        " needs a name and a length that is not 0");
      symbols.push_back({symbol, input, axis, {length}});
    }
  }
  return symbols;
}

// ---- calls --------------------------------------------------------------------------------------

// The same elements from the last to the first, floats moved by an offset, too: results of the model that depend on
// values of the inputs differ, results that depend on shapes alone do not.
Array other_values(const Array& a) {
  const Array reversed = autograd::copy(autograd::reshape(a, {a.size()}));
  const std::int64_t n = a.size();
  std::vector<std::int64_t> order;
  for (std::int64_t i = n; i-- > 0;) order.push_back(i);
  const Array at = a.backend().from_host(order.data(), {n}, Dtype::int64, a.device());
  Array b = autograd::reshape(autograd::take(reversed, at, 0), a.shape());
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
      entry->write(view);
    } catch (const NoEquivalent& e) {
      fail<catena::NotImplementedError>(kOp, "the function ", where(), ": ", e.what());
    }
  }
}

Model model_of(const ExportOptions& options) {
  Model model;
  model.ir_version = kFormats[options.opset_version - kFirstOpset];
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
  const Names names = names_of("input", options.input_names, inputs);
  check_unique(names, options.output_names);
  std::vector<Symbol> symbols = symbols_of(names, options.output_names, inputs, options);
  const autograd::TrainScope train(options.train);
  Arrays arrays;
  for (const Variable& x : inputs) arrays.push_back(x.data());
  std::vector<Trace> traces = traces_of(call, arrays, symbols);
  check_traces(traces);
  const Variables unnamed(traces[0].outputs.size());
  Names output_names = options.output_names;
  check<ValueError>(output_names.empty() || output_names.size() == unnamed.size(), kOp, output_names.size(),
                    " output_names are given for ", unnamed.size(), " outputs");
  for (std::size_t i = output_names.size(); i < unnamed.size(); ++i) output_names.push_back(concat("output_", i));
  check_unique(names, output_names);
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
  for (const auto table : {elementwise_operators(), array_operators(), reduction_operators(), network_operators(),
                           normalization_operators()})
    for (const Operators& entry : table) all.push_back({std::string(entry.function), std::string(entry.operators)});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.function < b.function; });
  return all;
}

}  // namespace nn::onnx
