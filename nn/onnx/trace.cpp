#include <catena/nn/onnx/trace.h>

#include <algorithm>
#include <unordered_map>

#include <catena/autograd/hooks.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error.h>

namespace nn::onnx::internal {

using autograd::FunctionNode;
using autograd::internal::Access;
using autograd::internal::VariableNode;

namespace {

struct Record {
  autograd::NodePtr<FunctionNode> node;
  Arrays inputs;
};

// Keeps every function that runs, with its inputs: a variable of an input may be gone when the call has ended.
class Recorder final : public autograd::FunctionHook {
 public:
  std::string name() const override { return "onnx trace"; }
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override {
    FunctionNode* const node = const_cast<FunctionNode*>(&function);
    retain(node);
    records.push_back({autograd::NodePtr<FunctionNode>(node), in_data});
  }
  std::vector<Record> records;
};

class CallGraph {
 public:
  CallGraph(std::vector<Record> records, const Variables& inputs) : records_(std::move(records)) {
    for (std::size_t i = 0; i < records_.size(); ++i) index_[records_[i].node.get()] = i;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs_[Access::node(inputs[i])] = i;
      input_arrays_[inputs[i].data().get()] = i;
    }
    options_.resize(records_.size());
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (const auto* o = dynamic_cast<const autograd::internal::HasOptions*>(records_[i].node.get()))
        o->options(options_[i]);
    find_arrays();
  }

  Trace of(const Variables& outputs) {
    Trace result;
    for (const Variable& y : outputs) result.outputs.push_back(source_of(Access::node(y), y.data()));
    std::vector<bool> needed(records_.size(), false);
    for (const Source& s : result.outputs) mark(s, needed);
    // A function runs after those whose outputs it reads, so one pass from the end finds all.
    for (std::size_t i = records_.size(); i-- > 0;)
      if (needed[i]) {
        for (const Source& s : sources_of(i)) mark(s, needed);
        for (const Source& s : beside(i)) mark(s, needed);
      }
    std::vector<std::size_t> position(records_.size());
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (!needed[i]) continue;
      position[i] = result.calls.size();
      result.calls.push_back({records_[i].node, function_of(i), options_[i], sources_of(i), beside(i), {}});
    }
    const auto settle = [&](Source& s) {
      if (s.kind != Source::Kind::call) return;
      s.index = position[s.index];
      std::vector<Array>& arrays = result.calls[s.index].outputs;
      arrays.resize(std::max(arrays.size(), s.output + 1));
      arrays[s.output] = s.array;
    };
    for (TracedCall& call : result.calls) {
      call.outputs.resize(std::max(call.outputs.size(), call.node->num_outputs()));
      for (Source& s : call.inputs) settle(s);
      for (Source& s : call.beside) settle(s);
    }
    for (Source& s : result.outputs) settle(s);
    return result;
  }

 private:
  static void mark(const Source& s, std::vector<bool>& needed) {
    if (s.kind == Source::Kind::call) needed[s.index] = true;
  }

  std::string function_of(std::size_t i) const {
    return options_[i].function().empty() ? records_[i].node->label() : options_[i].function();
  }

  Source source_of(VariableNode* node, const Array& array) const {
    node = node->graph_node();
    if (const auto at = inputs_.find(node); at != inputs_.end()) return {Source::Kind::input, at->second, 0, array};
    const auto made = node->creator == nullptr ? index_.end() : index_.find(node->creator);
    if (made == index_.end()) return source_of(array);
    const auto output = std::size_t(node->output_index);
    // A composition passes on what the functions inside it, which have been recorded as well, have made.
    if (const auto* inside = options_[made->second].find("results"))
      return source_of(Access::node(inside->variables[output]), inside->variables[output].data());
    return {Source::Kind::call, made->second, output, array};
  }

  // A function may pass the array of an input, or of an output, on as another variable.
  Source source_of(const Array& array) const {
    if (const auto at = input_arrays_.find(array.get()); at != input_arrays_.end())
      return {Source::Kind::input, at->second, 0, array};
    if (const auto at = made_.find(array.get()); at != made_.end()) return at->second;
    return {Source::Kind::leaf, 0, 0, array};
  }

  // The arrays that calls have made, as far as a later call reads them or the options of the call have them. A call
  // that is given constants alone makes a constant.
  void find_arrays() {
    for (std::size_t i = 0; i < records_.size(); ++i)
      for (const Source& s : sources_of(i))
        if (s.kind == Source::Kind::call && !passes_on(s)) made_.emplace(s.array.get(), s);
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const auto* const value = options_[i].find("value");
      if (value == nullptr) continue;
      const std::vector<Source> sources = sources_of(i);
      const Array& array = value->arrays[0];
      if (std::any_of(sources.begin(), sources.end(), [](const Source& s) { return s.kind != Source::Kind::leaf; }))
        made_.emplace(array.get(), Source{Source::Kind::call, i, 0, array});
    }
  }
  // Whether an output of a call is one of its inputs.
  bool passes_on(const Source& s) const {
    const Arrays& inputs = records_[s.index].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const Array& a) { return a.get() == s.array.get(); });
  }

  // The arrays among the options that calls before this one have made.
  std::vector<Source> beside(std::size_t i) const {
    std::vector<Source> sources;
    const auto add = [&](const Array& array) {
      if (!array) return;
      Source s = source_of(array);
      if (s.kind == Source::Kind::call && s.index < i) sources.push_back(std::move(s));
    };
    for (const autograd::internal::FunctionOption& option : options_[i].list()) {
      for (const Array& array : option.arrays) add(array);
      for (const autograd::IndexItem& item : option.items) add(item.array());
    }
    return sources;
  }

  std::vector<Source> sources_of(std::size_t i) const {
    std::vector<Source> sources;
    for (std::size_t k = 0; k < records_[i].node->num_inputs(); ++k)
      sources.push_back(source_of(records_[i].node->input_node(k), records_[i].inputs[k]));
    return sources;
  }

  std::vector<Record> records_;
  std::vector<autograd::internal::FunctionOptions> options_;
  std::unordered_map<const FunctionNode*, std::size_t> index_;
  std::unordered_map<const VariableNode*, std::size_t> inputs_;
  std::unordered_map<const catena::ArrayHeader*, std::size_t> input_arrays_;
  std::unordered_map<const catena::ArrayHeader*, Source> made_;
};

}  // namespace

Trace trace(const Callable& model, const Arrays& inputs) {
  Variables xs;
  // As constants, so that functions of integers, which have no gradient, have nodes as well.
  for (const Array& a : inputs) xs.push_back(autograd::internal::constant_variable(a));
  Recorder recorder;
  Variables ys;
  {
    const autograd::HookScope hooks(recorder);
    const auto graph = autograd::force_backprop_mode();
    const catena::ScopedValue<bool> elementary(autograd::internal::wants_elementary_nodes(), true);
    ys = model(xs);
  }
  catena::check<catena::ValueError>(!ys.empty(), "onnx::export_model", "the model has returned no Variables");
  for (const Variable& y : ys)
    catena::check<catena::ValueError>(bool(y), "onnx::export_model", "the model has returned a null Variable");
  Trace result = CallGraph(std::move(recorder.records), xs).of(ys);
  result.inputs = inputs;
  return result;
}

std::string path_to(const Trace& trace, std::size_t call,
                    const catena::Function<std::string(const Array& leaf)>& name_of) {
  constexpr int kMost = 8;
  std::string path;
  Source at{Source::Kind::call, call, 0, {}};
  for (int steps = 0; at.kind == Source::Kind::call; ++steps) {
    if (steps == kMost) return "... -> " + path;
    const TracedCall& c = trace.calls[at.index];
    std::string names;
    for (const Source& s : c.inputs)
      if (s.kind == Source::Kind::leaf)
        if (const std::string name = name_of(s.array); !name.empty()) names += (names.empty() ? " (" : ", ") + name;
    if (!names.empty()) names += ")";
    path = c.node->label() + names + (path.empty() ? "" : " -> ") + path;
    if (c.inputs.empty()) return path;
    at = c.inputs[0];
  }
  return at.kind == Source::Kind::input ? catena::concat("input ", at.index, " -> ", path) : path;
}

}  // namespace nn::onnx::internal
