#include <catena/nn/onnx/graph_builder.h>

#include <algorithm>
#include <bit>

#include <catena/kernels/base/error.h>
#include <catena/nn/onnx/opset.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx::internal {

using catena::check;
using catena::concat;
using catena::ValueError;

// ---- lengths ------------------------------------------------------------------------------------

bool Dim::is_constant() const {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == values[0]; });
}
bool is_constant(const DimList& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& d) { return d.is_constant(); });
}
std::vector<std::int64_t> given(const DimList& dims) {
  std::vector<std::int64_t> values;
  for (const Dim& d : dims) values.push_back(d.given());
  return values;
}
DimList lengths_of(const Arrays& arrays) {
  DimList dims(std::size_t(arrays[0].ndim()));
  for (const Array& a : arrays) {
    require(a.ndim() == arrays[0].ndim(), "an array of shape ", arrays[0].shape(), " has the shape ", a.shape(),
            " when the model is called again");
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i].values.push_back(a.shape(int(i)));
  }
  return dims;
}

// ---- attributes ---------------------------------------------------------------------------------

namespace {
Attribute typed(const std::string& name, Attribute::Type type) {
  Attribute a;
  a.name = name;
  a.type = type;
  return a;
}
}  // namespace

Attribute attribute(const std::string& name, std::int64_t value) {
  Attribute a = typed(name, Attribute::Type::int_);
  a.i = value;
  return a;
}
Attribute attribute(const std::string& name, int value) { return attribute(name, std::int64_t(value)); }
Attribute attribute(const std::string& name, double value) {
  Attribute a = typed(name, Attribute::Type::float_);
  a.f = float(value);
  return a;
}
Attribute attribute(const std::string& name, const char* value) {
  Attribute a = typed(name, Attribute::Type::string);
  a.s = value;
  return a;
}
Attribute attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  Attribute a = typed(name, Attribute::Type::ints);
  a.ints = values;
  return a;
}

// ---- the graph ----------------------------------------------------------------------------------

GraphBuilder::GraphBuilder(std::vector<Trace> traces, std::vector<Symbol> symbols, Names input_names,
                           std::map<const catena::ArrayHeader*, std::string> parameters, std::int64_t opset)
    : traces_(std::move(traces)), inputs_(std::move(input_names)), parameters_(std::move(parameters)), opset_(opset) {
  names_.insert(inputs_.begin(), inputs_.end());
  // Axes of one name have one length, so the first of them stands for all.
  for (Symbol& s : symbols)
    if (std::none_of(symbols_.begin(), symbols_.end(), [&](const Symbol& o) { return o.name == s.name; }))
      symbols_.push_back(std::move(s));
}

void GraphBuilder::set_prefix(const std::string& prefix) { prefix_ = prefix; }

std::string GraphBuilder::unique(const std::string& wanted) {
  std::string name = wanted;
  for (int k = 1; !names_.insert(name).second; ++k) name = concat(wanted, '_', k);
  return name;
}

Names GraphBuilder::nodes(const std::string& op_type, const Names& inputs, std::size_t outputs,
                          const Attributes& attributes) {
  require_operator(opset_, op_type, attributes);
  Node n;
  n.op_type = op_type;
  n.input = inputs;
  while (!n.input.empty() && n.input.back().empty()) n.input.pop_back();
  n.attribute = attributes;
  n.name = concat(prefix_, '/', op_type, '_', counter_++);
  for (std::size_t i = 0; i < outputs; ++i) n.output.push_back(unique(outputs == 1 ? n.name : concat(n.name, ':', i)));
  graph_.node.push_back(n);
  return n.output;
}

std::string GraphBuilder::node(const std::string& op_type, const Names& inputs, const Attributes& attributes) {
  return nodes(op_type, inputs, 1, attributes)[0];
}

std::string GraphBuilder::initializer(const Array& array, std::string name) {
  name = unique(name);
  graph_.initializer.push_back(to_tensor(array, name));
  return name;
}

std::string GraphBuilder::int64s(const std::vector<std::int64_t>& values) {
  std::string& name = int64s_[values];
  if (name.empty()) name = initializer(autograd::array(values, {std::int64_t(values.size())}), "shape");
  return name;
}

std::string GraphBuilder::scalar(double value, Dtype dtype) {
  std::string& name = scalars_[{std::bit_cast<std::uint64_t>(value), dtype}];
  if (name.empty()) name = initializer(autograd::arrays::full({}, value, dtype), "scalar");
  return name;
}

std::string GraphBuilder::symbol_length(const Symbol& symbol) {
  std::string& name = symbol_lengths_[symbol.name];
  if (!name.empty()) return name;
  const std::string& input = inputs_[symbol.input];
  if (opset_ >= 15) name = node("Shape", {input}, {attribute("start", symbol.axis), attribute("end", symbol.axis + 1)});
  else name = node("Gather", {node("Shape", {input}), int64s({symbol.axis})}, {attribute("axis", 0)});
  return name;
}

// A length is a constant times the lengths of axes, or, if it depends on one axis only, a linear function of it.
std::string GraphBuilder::length(const Dim& dim) {
  if (dim.is_constant()) return int64s({dim.given()});
  std::vector<const Symbol*> on;
  bool is_product = true;
  std::int64_t factor = dim.given();
  for (const Symbol& s : symbols_) {
    bool depends = false, scales = true;
    for (std::size_t t = 0; t < dim.values.size(); ++t) {
      if (s.lengths[t] == s.lengths[0]) continue;
      depends = depends || dim.values[t] != dim.given();
      scales = scales && dim.values[t] * s.lengths[0] == dim.given() * s.lengths[t];
    }
    if (!depends) continue;
    on.push_back(&s);
    is_product = is_product && scales && factor % s.lengths[0] == 0;
    if (is_product) factor /= s.lengths[0];
  }
  std::string name;
  if (is_product) {
    for (const Symbol* s : on) {
      const std::string length = symbol_length(*s);
      name = name.empty() ? length : node("Mul", {name, length});
    }
    return factor == 1 ? name : node("Mul", {name, int64s({factor})});
  }
  std::int64_t slope = 0, offset = 0;
  bool is_linear = on.size() == 1;
  for (std::size_t t = 1; is_linear && t < dim.values.size(); ++t) {
    const std::int64_t more = on[0]->lengths[t] - on[0]->lengths[0];
    if (more == 0) continue;
    if (slope == 0) slope = (dim.values[t] - dim.given()) / more;
    offset = dim.given() - slope * on[0]->lengths[0];
    is_linear = dim.values[t] == slope * on[0]->lengths[t] + offset;
  }
  if (!is_linear) {
    std::string axes;
    for (const Symbol* s : on) axes += concat(axes.empty() ? "" : ", ", s->name);
    refuse("a length that is ", dim.given(), " here depends on the dynamic axes ", axes,
           " neither as a product of their lengths nor as a linear function of one of them");
  }
  name = node("Mul", {symbol_length(*on[0]), int64s({slope})});
  return node("Add", {name, int64s({offset})});
}

std::string GraphBuilder::lengths(const DimList& dims) {
  if (is_constant(dims)) return int64s(given(dims));
  Names parts;
  for (const Dim& d : dims) parts.push_back(length(d));
  return parts.size() == 1 ? parts[0] : node("Concat", parts, {attribute("axis", 0)});
}

// A varying length is copied from x (0) where x has it at the same axis; one other may be computed from the size (-1).
std::string GraphBuilder::reshape(const std::string& x, const DimList& from, const DimList& to) {
  DimList plain = to;
  int computed = 0;
  bool has_zero = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    has_zero = has_zero || to[i].given() == 0;
    if (to[i].is_constant()) continue;
    if (i < from.size() && from[i] == to[i]) plain[i] = {{0}};
    else ++computed, plain[i] = {{-1}};
  }
  const std::string shape = computed <= 1 && !has_zero ? int64s(given(plain)) : lengths(to);
  return node("Reshape", {x, shape}, has_zero ? Attributes{attribute("allowzero", 1)} : Attributes{});
}

// ---- values -------------------------------------------------------------------------------------

void GraphBuilder::set_output(std::size_t call, std::size_t output, const std::string& name) {
  outputs_[{call, output}] = name;
  const std::vector<Array>& arrays = traces_[0].calls[call].outputs;
  if (output < arrays.size() && arrays[output]) constants_.emplace(arrays[output].get(), name);
}

void GraphBuilder::name_arrays(const std::vector<Array>& arrays, const std::string& name) {
  constants_[arrays[0].get()] = name;
  kept_.push_back(arrays[0]);
}

std::string GraphBuilder::value(const std::vector<const Source*>& sources) {
  const Source& s = *sources[0];
  for (const Source* other : sources)
    require(other->kind == s.kind && other->index == s.index && other->output == s.output, "an input is not ",
            "the same one when the model is called again");
  if (s.kind == Source::Kind::input) return inputs_[s.index];
  if (s.kind == Source::Kind::call) {
    const auto at = outputs_.find({s.index, s.output});
    require(at != outputs_.end(), "output ", s.output, " of ", traces_[0].calls[s.index].node->label(),
            " has no equivalent");
    return at->second;
  }
  std::vector<Array> arrays;
  for (const Source* source : sources) arrays.push_back(source->array);
  return constant(arrays);
}

Dimension GraphBuilder::dimension(const Dim& dim) const {
  Dimension d;
  if (dim.is_constant()) {
    d.dim_value = dim.given();
    return d;
  }
  for (const Symbol& s : symbols_)
    if (dim.values == s.lengths) d.dim_param = s.name;
  return d;
}

ValueInfo GraphBuilder::info(const std::string& name, Dtype dtype, const DimList& dims) const {
  TensorShape shape;
  for (const Dim& d : dims) shape.dim.push_back(dimension(d));
  ValueInfo v;
  v.name = name;
  v.type = Type{TensorType{data_type_of(dtype), shape}};
  return v;
}

namespace {
DimList shapes_of(const std::vector<Trace>& traces, const catena::Function<const Array&(const Trace&)>& array_of) {
  Arrays arrays;
  for (const Trace& t : traces) arrays.push_back(array_of(t));
  return lengths_of(arrays);
}
bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
}  // namespace

Graph GraphBuilder::finish(const Names& output_names, const std::string& graph_name) {
  graph_.name = graph_name;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto dims = shapes_of(traces_, [i](const Trace& t) -> const Array& { return t.inputs[i]; });
    graph_.input.push_back(info(inputs_[i], traces_[0].inputs[i].dtype(), dims));
  }
  set_prefix("output");
  for (std::size_t i = 0; i < output_names.size(); ++i) {
    std::vector<const Source*> sources;
    for (const Trace& t : traces_) sources.push_back(&t.outputs[i]);
    Node identity;
    identity.op_type = "Identity";
    identity.input = {value(sources)};
    identity.output = {output_names[i]};
    identity.name = concat("output/Identity_", counter_++);
    graph_.node.push_back(identity);
    const auto dims = shapes_of(traces_, [i](const Trace& t) -> const Array& { return t.outputs[i].array; });
    graph_.output.push_back(info(output_names[i], sources[0]->array.dtype(), dims));
  }
  return std::move(graph_);
}

// ---- one call -----------------------------------------------------------------------------------

std::string CallView::input(std::size_t i) const {
  std::vector<const Source*> sources;
  for (const Trace& t : b.traces()) sources.push_back(&t.calls[index_].inputs[i]);
  return b.value(sources);
}

Names CallView::inputs() const {
  Names names;
  for (std::size_t i = 0; i < num_inputs(); ++i) names.push_back(input(i));
  return names;
}

DimList CallView::input_shape(std::size_t i) const {
  return shapes_of(b.traces(), [&](const Trace& t) -> const Array& { return t.calls[index_].inputs[i].array; });
}
DimList CallView::output_shape(std::size_t i) const {
  return shapes_of(b.traces(), [&](const Trace& t) -> const Array& { return t.calls[index_].outputs[i]; });
}
Dtype CallView::output_dtype(std::size_t i) const { return call().outputs[i].dtype(); }

std::vector<const autograd::internal::FunctionOption*> CallView::in_traces(std::string_view option) const {
  std::vector<const autograd::internal::FunctionOption*> list;
  for (const Trace& t : b.traces()) {
    list.push_back(t.calls[index_].options.find(option));
    check<catena::KeyError>(list.back() != nullptr, call().function, "there is no option ", option);
  }
  return list;
}

bool CallView::has(std::string_view option) const { return call().options.find(option) != nullptr; }

DimList CallView::dims(std::string_view option) const {
  const auto list = in_traces(option);
  DimList dims(list[0]->integers.size());
  for (const auto* o : list) {
    require(o->integers.size() == dims.size(), "the number of ", option, " depends on dynamic axes");
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i].values.push_back(o->integers[i]);
  }
  return dims;
}

std::vector<std::int64_t> CallView::integers(std::string_view option) const {
  const DimList list = dims(option);
  require(is_constant(list), "its ", option, " depends on dynamic axes");
  return given(list);
}

std::int64_t CallView::integer(std::string_view option, std::int64_t otherwise) const {
  return has(option) ? integers(option)[0] : otherwise;
}

std::vector<double> CallView::numbers(std::string_view option) const {
  const auto list = in_traces(option);
  for (const auto* o : list)
    require(std::ranges::equal(o->numbers, list[0]->numbers, same_bits), "its ", option,
            " differs from call to call, so the model computes it beside its variables");
  return list[0]->numbers;
}
double CallView::number(std::string_view option) const { return numbers(option)[0]; }

std::string CallView::text(std::string_view option) const { return in_traces(option)[0]->text; }

std::vector<Array> CallView::arrays(std::string_view option, std::size_t at) const {
  std::vector<Array> list;
  for (const auto* o : in_traces(option)) list.push_back(o->arrays[at]);
  return list;
}

std::string CallView::constant(std::string_view option, Dtype dtype) const {
  return in_traces(option)[0]->arrays.empty() ? b.scalar(number(option), dtype) : b.constant(arrays(option));
}

}  // namespace nn::onnx::internal
