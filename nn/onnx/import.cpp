#include <catena/nn/onnx/import.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <catena/autograd/flag.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/nn/onnx/import_operator.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx {

using catena::check;
using catena::concat;
using catena::fail;
using catena::ValueError;

namespace importing {

namespace {

constexpr int kLeftOut = -1;  // the slot of an input or output without a name

std::string described(const Node& node) {
  return concat("the node ",
                node.name.empty() ? "of " + (node.output.empty() ? "no output" : node.output[0]) : node.name, " (",
                node.op_type, ")");
}
bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }
std::string without_slash(const std::string& name) {
  return name.substr(std::min(name.find_first_not_of('/'), name.size()));
}

}  // namespace

// The nodes of a graph, with numbers (slots) in the place of names of values.
struct Program {
  struct Step {
    Node node;
    const Operator* op = nullptr;
    std::int64_t opset = 0;
    std::vector<int> inputs, outputs;
    std::vector<int> finished;  // slots that no later step reads
  };
  struct Input {
    std::string name;
    int slot = 0;
    std::optional<Dtype> dtype;
    std::optional<TensorShape> shape;
  };

  std::string context;
  std::vector<Step> steps;
  std::vector<Input> inputs;
  std::vector<std::string> input_names, output_names;
  std::vector<int> outputs;  // slots, as those that follow
  std::vector<int> parameters, persistents, constants;
  int n_slots = 0;

  // Sets all members of a model.
  static void build(ImportedModel& to, Model model, const std::string& name);
};

namespace {

class Builder {
 public:
  Builder(Program& program, const Model& model, const std::string& name) : program_(program), model_(model) {
    program_.context = name;
    check<ValueError>(model.graph.has_value(), name, "it has no graph");
  }
  const Graph& graph() const { return *model_.graph; }

  // NotImplementedError with all operators that are unknown.
  void check_operators() const {
    std::string unknown;
    std::unordered_set<std::string> seen;
    for (const Node& node : graph().node) {
      if (is_standard(node.domain) && find_operator(node.op_type) != nullptr) continue;
      if (!seen.insert(node.domain + " " + node.op_type).second) continue;
      unknown += concat(unknown.empty() ? "" : "; ", node.op_type, " of ", described(node), ", domain \"", node.domain,
                        "\", version ", model_.opset_version(node.domain));
    }
    check<catena::NotImplementedError>(unknown.empty(), program_.context, "operators are not supported: ", unknown);
  }

  int define(const std::string& name) {
    check<ValueError>(slots_.emplace(name, program_.n_slots).second, program_.context, "there are two values named ",
                      name);
    return program_.n_slots++;
  }
  int slot_of(const std::string& name, const std::string& where) const {
    if (name.empty()) return kLeftOut;
    const auto found = slots_.find(name);
    check<ValueError>(found != slots_.end(), program_.context, where, " reads ", name,
                      ", which nothing before it gives");
    return found->second;
  }

  void add_inputs() {
    std::unordered_set<std::string_view> initializers;
    for (const Tensor& t : graph().initializer) initializers.insert(t.name);
    for (const ValueInfo& v : graph().input) {
      if (initializers.contains(v.name)) continue;
      Program::Input input{v.name, define(v.name), {}, {}};
      if (v.type && v.type->tensor_type) {
        const DataType type = v.type->tensor_type->elem_type;
        if (type != DataType::undefined) input.dtype = dtype_of(type);
        input.shape = v.type->tensor_type->shape;
      }
      program_.input_names.push_back(v.name);
      program_.inputs.push_back(std::move(input));
    }
  }

  void add_steps() {
    for (const Node& node : graph().node) {
      Program::Step step{node, find_operator(node.op_type), model_.opset_version(node.domain), {}, {}, {}};
      for (const std::string& name : node.input) step.inputs.push_back(slot_of(name, described(node)));
      for (const std::string& name : node.output) step.outputs.push_back(name.empty() ? kLeftOut : define(name));
      program_.steps.push_back(std::move(step));
    }
    for (const ValueInfo& v : graph().output) {
      program_.output_names.push_back(v.name);
      program_.outputs.push_back(slot_of(v.name, "the list of outputs"));
    }
  }

  // How nodes use an initializer.
  enum class Use { option, statistic, parameter };
  std::unordered_map<std::string_view, Use> uses() const {
    std::unordered_map<std::string_view, Use> found;
    for (const Node& node : graph().node) {
      const Operator& op = *find_operator(node.op_type);
      for (std::size_t i = 0; i < node.input.size(); ++i) {
        const unsigned bit = i < 32 ? 1u << i : 0;
        const Use use = (op.statistics & bit) != 0  ? Use::statistic
                        : (op.constants & bit) != 0 ? Use::option
                                                    : Use::parameter;
        const auto at = found.emplace(node.input[i], use).first;
        at->second = std::max(at->second, use);
      }
    }
    return found;
  }

  // Records which slots are not read after each step.
  void find_last_uses() {
    std::vector<bool> needed(std::size_t(program_.n_slots), false);
    for (const int slot : program_.outputs) needed[std::size_t(slot)] = true;
    for (std::size_t i = program_.steps.size(); i-- > 0;) {
      Program::Step& step = program_.steps[i];
      for (const std::vector<int>* slots : {&step.inputs, &step.outputs})
        for (const int slot : *slots) {
          if (slot == kLeftOut || needed[std::size_t(slot)]) continue;
          needed[std::size_t(slot)] = true;
          step.finished.push_back(slot);
        }
    }
  }

 private:
  Program& program_;
  const Model& model_;
  std::unordered_map<std::string, int> slots_;
};

// Computes a node from the values of its inputs.
void run_step(const Program& program, const Program::Step& step, std::vector<Variable>& values) {
  catena::SmallVector<Variable, 6> inputs;
  for (const int slot : step.inputs) inputs.push_back(slot == kLeftOut ? Variable() : values[std::size_t(slot)]);
  Variables results;
  try {
    results = step.op->run(OperatorCall(step.node, step.opset, {inputs.data(), inputs.size()}));
  } catch (...) {
    catena::rethrow_from(concat(program.context, ": ", described(step.node)));
  }
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kLeftOut) continue;
    check<ValueError>(i < results.size(), program.context, described(step.node), " has the output ", i,
                      ", which the operator does not give");
    values[std::size_t(step.outputs[i])] = results[i];
  }
}

// Computes the steps whose inputs are all constants, and takes them out of the program.
void fold_constants(Program& program, std::vector<Array>& constants) {
  const auto scope = autograd::no_backprop_mode();
  std::vector<Variable> values(std::size_t(program.n_slots));
  std::vector<bool> known(values.size(), false);
  for (std::size_t i = 0; i < constants.size(); ++i) {
    values[std::size_t(program.constants[i])] = constant(constants[i]);
    known[std::size_t(program.constants[i])] = true;
  }
  std::vector<Program::Step> rest;
  for (Program::Step& step : program.steps) {
    const bool foldable = std::all_of(step.inputs.begin(), step.inputs.end(),
                                      [&](int slot) { return slot == kLeftOut || known[std::size_t(slot)]; });
    if (!foldable) {
      rest.push_back(std::move(step));
      continue;
    }
    run_step(program, step, values);
    for (const int slot : step.outputs) {
      if (slot == kLeftOut) continue;
      known[std::size_t(slot)] = true;
      program.constants.push_back(slot);
      constants.push_back(values[std::size_t(slot)].data());
    }
  }
  program.steps = std::move(rest);
}

// Removes the constants that neither a step nor an output reads, such as those from which others were computed.
void drop_unread_constants(Program& program, std::vector<Array>& constants) {
  std::vector<bool> read(std::size_t(program.n_slots), false);
  for (const Program::Step& step : program.steps)
    for (const int slot : step.inputs)
      if (slot != kLeftOut) read[std::size_t(slot)] = true;
  for (const int slot : program.outputs) read[std::size_t(slot)] = true;
  std::vector<int> slots;
  std::vector<Array> values;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    if (!read[std::size_t(program.constants[i])]) continue;
    slots.push_back(program.constants[i]);
    values.push_back(constants[i]);
  }
  program.constants = std::move(slots);
  constants = std::move(values);
}

}  // namespace

void Program::build(ImportedModel& to, Model model, const std::string& name) {
  auto program = catena::Shared<Program>::make();
  Builder builder(*program, model, name);
  builder.check_operators();
  builder.add_inputs();
  const auto uses = builder.uses();
  for (const Tensor& t : builder.graph().initializer) {
    const int slot = builder.define(t.name);
    const auto found = uses.find(t.name);
    const Builder::Use use = found == uses.end() ? Builder::Use::option : found->second;
    const Array value = to_array(t);
    const bool trained = catena::is_floating(value.dtype()) && !t.dims.empty();
    if (!trained || use == Builder::Use::option) {
      program->constants.push_back(slot);
      to.constants_.push_back(value);
    } else if (use == Builder::Use::statistic) {
      program->persistents.push_back(slot);
      to.persistents_.emplace_back(without_slash(t.name), Persistent(value));
    } else {
      program->parameters.push_back(slot);
      to.parameters_.emplace_back(without_slash(t.name), Parameter(value));
      to.parameters_.back().second.set_name(without_slash(t.name));
    }
  }
  builder.add_steps();
  fold_constants(*program, to.constants_);
  drop_unread_constants(*program, to.constants_);
  builder.find_last_uses();
  to.program_ = std::move(program);
}

}  // namespace importing

using importing::Program;

ImportedModel::ImportedModel(Model model, const std::string& name) { Program::build(*this, std::move(model), name); }

const std::vector<std::string>& ImportedModel::input_names() const noexcept { return program_->input_names; }
const std::vector<std::string>& ImportedModel::output_names() const noexcept { return program_->output_names; }

void ImportedModel::visit_declared(MemberVisitor& v) {
  for (auto& [name, parameter] : parameters_) v.parameter(name, parameter);
  for (auto& [name, persistent] : persistents_) v.persistent(name, persistent);
}
// Integers stay on the host, where shapes are computed, except for weights of 8 bits.
void ImportedModel::on_device_changed() {
  for (Array& a : constants_)
    if (catena::is_floating(a.dtype()) || a.dtype() == Dtype::int8) a = autograd::to_device(a, device());
}

std::vector<Variable> ImportedModel::initial_values(const Variables& inputs) const {
  const Program& p = *program_;
  check<catena::TypeError>(inputs.size() == p.inputs.size(), p.context, "it takes ", p.inputs.size(), " inputs, not ",
                           inputs.size());
  std::vector<Variable> values(std::size_t(p.n_slots));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Program::Input& expected = p.inputs[i];
    const Variable& x = inputs[i];
    check<catena::TypeError>(bool(x), p.context, "the input ", expected.name, " is null");
    check<catena::TypeError>(!expected.dtype || x.dtype() == *expected.dtype, p.context, "the input ", expected.name,
                             " is ", x.dtype(), "; the file has ", expected.dtype.value_or(x.dtype()));
    if (expected.shape) {
      const std::vector<Dimension>& dims = expected.shape->dim;
      bool fits = int(dims.size()) == x.ndim();
      for (std::size_t k = 0; fits && k < dims.size(); ++k)
        fits = !dims[k].dim_value || *dims[k].dim_value == x.shape(int(k));
      check<ValueError>(fits, p.context, "the input ", expected.name, " has the shape ", x.shape(),
                        ", which is not that of the file");
    }
    values[std::size_t(expected.slot)] = x;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) values[std::size_t(p.parameters[i])] = parameters_[i].second;
  for (std::size_t i = 0; i < persistents_.size(); ++i)
    values[std::size_t(p.persistents[i])] = importing::constant(persistents_[i].second.array());
  for (std::size_t i = 0; i < constants_.size(); ++i)
    values[std::size_t(p.constants[i])] = importing::constant(constants_[i]);
  return values;
}

Variables ImportedModel::execute(const Variables& inputs) {
  const Program& p = *program_;
  std::vector<Variable> values = initial_values(inputs);
  for (const Program::Step& step : p.steps) {
    importing::run_step(p, step, values);
    for (const int slot : step.finished) values[std::size_t(slot)] = Variable();
  }
  Variables results;
  for (const int slot : p.outputs) results.push_back(values[std::size_t(slot)]);
  return results;
}

Variables ImportedModel::forward(const Variables& inputs) {
  const nn::internal::CallScope scope(*this);
  return execute(inputs);
}

Variable ImportedModel::call(const Variables& inputs) {
  check<ValueError>(output_names().size() == 1, program_->context, "it has ", output_names().size(),
                    " outputs: call forward()");
  return forward(inputs)[0];
}

ImportedModel import_model(const std::string& path) {
  return ImportedModel(read(path), catena::io_context("import_model", path));
}

}  // namespace nn::onnx
