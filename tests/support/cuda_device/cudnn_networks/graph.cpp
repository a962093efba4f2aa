// The graph interface of the software cuDNN, limited to convolutions: forward, with a bias or without, and the two
// gradients. Descriptors are checked as by cuDNN 9.19. Every graph has two engines, best first:
//
//   0  on tensor cores (float32: TF32), which copies operands of 16 bits that are not channels-last into its workspace;
//      the gradient of the filter is not deterministic. Not for float64
//   1  without them, deterministic
//
// There is no engine for float64 in channels-last memory. Plans are made for the device of a handle, or for one of
// which the properties are given.
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <catena/tests/support/cuda_device/cudnn_networks/convolution.h>
#include <catena/tests/support/cuda_device/cudnn_networks/exports.h>

using namespace cuda_device::software_cudnn;

namespace {

constexpr std::int64_t kMostAxes = 8, kSmallWorkspace = 512;

struct Refusal {
  cudnn_status status;
  std::string words;
};
void require(bool holds, const std::string& words, cudnn_status status = cudnn_bad_param) {
  if (!holds) throw Refusal{status, words};
}
template <class F> cudnn_status answer(F&& f) {
  try {
    f();
    return cudnn_success;
  } catch (const Refusal& r) {
    return refuse(r.status, r.words.c_str());
  }
}

// ---- descriptors --------------------------------------------------------------------------------
struct Attribute {
  int descriptor, name, type;
};
constexpr Attribute kSettable[] = {
    {cudnn_tensor, cudnn_attr_tensor_data_type, cudnn_type_data_type},
    {cudnn_tensor, cudnn_attr_tensor_dimensions, cudnn_type_int64},
    {cudnn_tensor, cudnn_attr_tensor_strides, cudnn_type_int64},
    {cudnn_tensor, cudnn_attr_tensor_id, cudnn_type_int64},
    {cudnn_tensor, cudnn_attr_tensor_alignment, cudnn_type_int64},
    {cudnn_tensor, cudnn_attr_tensor_virtual, cudnn_type_boolean},
    {cudnn_convolution, cudnn_attr_convolution_compute_type, cudnn_type_data_type},
    {cudnn_convolution, cudnn_attr_convolution_mode, cudnn_type_convolution_mode},
    {cudnn_convolution, cudnn_attr_convolution_spatial_dims, cudnn_type_int64},
    {cudnn_convolution, cudnn_attr_convolution_strides, cudnn_type_int64},
    {cudnn_convolution, cudnn_attr_convolution_dilations, cudnn_type_int64},
    {cudnn_convolution, cudnn_attr_convolution_pre_paddings, cudnn_type_int64},
    {cudnn_convolution, cudnn_attr_convolution_post_paddings, cudnn_type_int64},
    {cudnn_pointwise, cudnn_attr_pointwise_mode, cudnn_type_pointwise_mode},
    {cudnn_pointwise, cudnn_attr_pointwise_math_type, cudnn_type_data_type},
    {cudnn_operation_convolution_forward, cudnn_attr_forward_convolution, cudnn_type_descriptor},
    {cudnn_operation_convolution_forward, cudnn_attr_forward_x, cudnn_type_descriptor},
    {cudnn_operation_convolution_forward, cudnn_attr_forward_w, cudnn_type_descriptor},
    {cudnn_operation_convolution_forward, cudnn_attr_forward_y, cudnn_type_descriptor},
    {cudnn_operation_convolution_data, cudnn_attr_data_convolution, cudnn_type_descriptor},
    {cudnn_operation_convolution_data, cudnn_attr_data_dx, cudnn_type_descriptor},
    {cudnn_operation_convolution_data, cudnn_attr_data_w, cudnn_type_descriptor},
    {cudnn_operation_convolution_data, cudnn_attr_data_dy, cudnn_type_descriptor},
    {cudnn_operation_convolution_filter, cudnn_attr_filter_convolution, cudnn_type_descriptor},
    {cudnn_operation_convolution_filter, cudnn_attr_filter_x, cudnn_type_descriptor},
    {cudnn_operation_convolution_filter, cudnn_attr_filter_dw, cudnn_type_descriptor},
    {cudnn_operation_convolution_filter, cudnn_attr_filter_dy, cudnn_type_descriptor},
    {cudnn_operation_pointwise, cudnn_attr_operation_pointwise, cudnn_type_descriptor},
    {cudnn_operation_pointwise, cudnn_attr_operation_pointwise_x, cudnn_type_descriptor},
    {cudnn_operation_pointwise, cudnn_attr_operation_pointwise_b, cudnn_type_descriptor},
    {cudnn_operation_pointwise, cudnn_attr_operation_pointwise_y, cudnn_type_descriptor},
    {cudnn_operation_graph, cudnn_attr_graph_handle, cudnn_type_handle},
    {cudnn_operation_graph, cudnn_attr_graph_operations, cudnn_type_descriptor},
    {cudnn_engine_heuristic, cudnn_attr_heuristic_graph, cudnn_type_descriptor},
    {cudnn_engine_heuristic, cudnn_attr_heuristic_mode, cudnn_type_heuristic_mode},
    {cudnn_execution_plan, cudnn_attr_plan_handle, cudnn_type_handle},
    {cudnn_execution_plan, cudnn_attr_plan_engine_config, cudnn_type_descriptor},
    {cudnn_engine_heuristic, cudnn_attr_heuristic_properties, cudnn_type_descriptor},
    {cudnn_execution_plan, cudnn_attr_plan_properties, cudnn_type_descriptor},
    {cudnn_device_properties, cudnn_attr_properties_json, cudnn_type_char},
    {cudnn_variant_pack, cudnn_attr_pack_ids, cudnn_type_int64},
    {cudnn_variant_pack, cudnn_attr_pack_pointers, cudnn_type_void_ptr},
    {cudnn_variant_pack, cudnn_attr_pack_workspace, cudnn_type_void_ptr},
};
// Attributes of every kind of convolution.
struct Names {
  int operation;
  Pass pass;
  int convolution, x, w, y, alpha, beta;
  const char* work;
};
constexpr Names kOperations[] = {
    {cudnn_operation_convolution_forward, Pass::forward, cudnn_attr_forward_convolution, cudnn_attr_forward_x,
     cudnn_attr_forward_w, cudnn_attr_forward_y, cudnn_attr_forward_alpha, cudnn_attr_forward_beta,
     "convolution_forward"},
    {cudnn_operation_convolution_data, Pass::data, cudnn_attr_data_convolution, cudnn_attr_data_dx, cudnn_attr_data_w,
     cudnn_attr_data_dy, cudnn_attr_data_alpha, cudnn_attr_data_beta, "convolution_data"},
    {cudnn_operation_convolution_filter, Pass::filter, cudnn_attr_filter_convolution, cudnn_attr_filter_x,
     cudnn_attr_filter_dw, cudnn_attr_filter_dy, cudnn_attr_filter_alpha, cudnn_attr_filter_beta, "convolution_filter"},
};
const Names* names_of(int operation) {
  for (const Names& n : kOperations)
    if (n.operation == operation) return &n;
  return nullptr;
}
bool is_scale(int descriptor, int name) {
  const Names* const n = names_of(descriptor);
  return n != nullptr && (name == n->alpha || name == n->beta);
}

std::size_t bytes_of_attribute(int type) {
  switch (type) {
    case cudnn_type_boolean:
    case cudnn_type_char: return 1;
    case cudnn_type_handle:
    case cudnn_type_int64:
    case cudnn_type_double:
    case cudnn_type_void_ptr:
    case cudnn_type_descriptor: return 8;
    default: return 4;
  }
}

// The convolution that a graph describes, with the numbers of its tensors.
struct Described {
  Convolution convolution;
  std::int64_t x = 0, w = 0, y = 0, bias = 0;
  std::int64_t alignment = 1;
  const char* work = "";
};

struct Node {
  int type = 0;
  bool final = false;
  std::map<int, std::vector<std::byte>> attributes;
  // What a finalised graph means; its configurations, engines and plans share it.
  std::shared_ptr<const Described> described;
  int engine = 0;

  bool has(int name) const { return attributes.contains(name); }
  template <class T> std::vector<T> list(int name) const {
    const auto found = attributes.find(name);
    require(found != attributes.end(), "attribute " + std::to_string(name) + " is missing");
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T> T one(int name) const {
    const std::vector<T> values = list<T>(name);
    require(values.size() == 1, "attribute " + std::to_string(name) + " must be single");
    return values[0];
  }
  const Node& node(int name, int of_type) const {
    const Node* const n = one<const Node*>(name);
    require(n != nullptr && n->type == of_type && n->final,
            "attribute " + std::to_string(name) + " is no finalised descriptor of its type");
    return *n;
  }
};

Tensor tensor_of(const Node& n) {
  return {n.one<int>(cudnn_attr_tensor_data_type), n.list<std::int64_t>(cudnn_attr_tensor_dimensions),
          n.list<std::int64_t>(cudnn_attr_tensor_strides)};
}
std::int64_t id_of(const Node& n) { return n.one<std::int64_t>(cudnn_attr_tensor_id); }
bool is_virtual(const Node& n) {
  return n.has(cudnn_attr_tensor_virtual) && n.one<unsigned char>(cudnn_attr_tensor_virtual) != 0;
}

bool all_at_least(const Lengths& values, std::int64_t least) {
  return std::all_of(values.begin(), values.end(), [least](std::int64_t v) { return v >= least; });
}

void check_tensor(const Node& n) {
  const Tensor t = tensor_of(n);
  require(is_type(t.type), "an unknown data type");
  require(!t.shape.empty() && t.shape.size() == t.strides.size(), "as many strides as lengths");
  require(std::int64_t(t.shape.size()) <= kMostAxes, "more than 8 axes", cudnn_not_supported);
  require(all_at_least(t.shape, 1) && all_at_least(t.strides, 1), "lengths and strides must be positive");
  id_of(n);
  const auto alignment = n.one<std::int64_t>(cudnn_attr_tensor_alignment);
  require(alignment > 0 && (alignment & (alignment - 1)) == 0, "an alignment that is no power of 2");
}

void check_convolution(const Node& n) {
  const auto rank = static_cast<std::size_t>(n.one<std::int64_t>(cudnn_attr_convolution_spatial_dims));
  const auto lengths = [&](int name, std::int64_t least) {
    Lengths values = n.list<std::int64_t>(name);
    require(values.size() == rank, "as many numbers as spatial axes");
    require(all_at_least(values, least), "a stride, dilation or padding that is too small");
    return values;
  };
  lengths(cudnn_attr_convolution_strides, 1);
  lengths(cudnn_attr_convolution_dilations, 1);
  // The library accepts other paddings and has engines whose gradients of filters are wrong then.
  require(lengths(cudnn_attr_convolution_pre_paddings, 0) == lengths(cudnn_attr_convolution_post_paddings, 0),
          "paddings that differ at the ends of an axis", cudnn_not_supported);
  require(is_type(n.one<int>(cudnn_attr_convolution_compute_type)), "an unknown data type");
  const int mode = n.one<int>(cudnn_attr_convolution_mode);
  require(mode == cudnn_true_convolution || mode == cudnn_cross_correlation, "an unknown mode");
}

void check_pointwise(const Node& n) {
  require(n.one<int>(cudnn_attr_pointwise_mode) == cudnn_pointwise_add, "additions only", cudnn_not_supported);
  require(is_type(n.one<int>(cudnn_attr_pointwise_math_type)), "an unknown data type");
}

double scale_of(const Node& op, int name, double otherwise) {
  if (!op.has(name)) return otherwise;
  const std::vector<std::byte>& bytes = op.attributes.at(name);
  return bytes.size() == 8 ? op.one<double>(name) : static_cast<double>(op.one<float>(name));
}

Convolution convolution_of(const Node& op) {
  const Names& names = *names_of(op.type);
  const Node& n = op.node(names.convolution, cudnn_convolution);
  Convolution c;
  c.pass = names.pass;
  c.x = tensor_of(op.node(names.x, cudnn_tensor));
  c.w = tensor_of(op.node(names.w, cudnn_tensor));
  c.y = tensor_of(op.node(names.y, cudnn_tensor));
  c.stride = n.list<std::int64_t>(cudnn_attr_convolution_strides);
  c.dilation = n.list<std::int64_t>(cudnn_attr_convolution_dilations);
  c.pad = n.list<std::int64_t>(cudnn_attr_convolution_pre_paddings);
  c.flipped = n.one<int>(cudnn_attr_convolution_mode) == cudnn_true_convolution;
  c.alpha = scale_of(op, names.alpha, 1);
  c.beta = scale_of(op, names.beta, 0);
  return c;
}

void check_operation(const Node& op) {
  const Convolution c = convolution_of(op);
  const std::size_t rank = c.stride.size() + 2;
  require(c.x.shape.size() == rank && c.w.shape.size() == rank && c.y.shape.size() == rank,
          "tensors must have two axes more than the convolution");
  require(c.x.shape[0] == c.y.shape[0], "images of x and y");
  require(c.w.shape[0] == c.y.shape[1], "filters of w and channels of y");
  require(c.x.shape[1] % c.w.shape[1] == 0 && c.w.shape[0] % (c.x.shape[1] / c.w.shape[1]) == 0,
          "channels that the groups do not divide");
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    const std::int64_t reach = (c.w.shape[d + 2] - 1) * c.dilation[d] + 1;
    const std::int64_t places = c.x.shape[d + 2] + 2 * c.pad[d] - reach;
    require(places >= 0 && c.y.shape[d + 2] == places / c.stride[d] + 1,
            "axis " + std::to_string(d + 2) + " of y has another length");
  }
  require(c.x.type == c.w.type, "operands of several types", cudnn_not_supported);
}

// Returns the meaning of one convolution, or of one whose result a second operation adds a bias to.
std::shared_ptr<const Described> describe(const Node& graph) {
  const auto operations = graph.list<const Node*>(cudnn_attr_graph_operations);
  require(!operations.empty(), "no operation");
  for (const Node* op : operations) require(op != nullptr && op->final, "an operation that is not finalised");
  const Node& op = *operations[0];
  const Names* const names = names_of(op.type);
  require(names != nullptr, "a graph that begins with no convolution", cudnn_not_supported);
  auto d = std::make_shared<Described>();
  d->convolution = convolution_of(op);
  d->work = names->work;
  const Node &x = op.node(names->x, cudnn_tensor), &w = op.node(names->w, cudnn_tensor);
  const Node* y = &op.node(names->y, cudnn_tensor);
  d->x = id_of(x);
  d->w = id_of(w);
  if (operations.size() > 1) {
    const Node& add = *operations[1];
    require(operations.size() == 2 && names->pass == Pass::forward && add.type == cudnn_operation_pointwise,
            "a graph other than a convolution and a bias", cudnn_not_supported);
    require(&add.node(cudnn_attr_operation_pointwise_x, cudnn_tensor) == y && is_virtual(*y),
            "an addition to another tensor than the virtual result", cudnn_not_supported);
    const Node& bias = add.node(cudnn_attr_operation_pointwise_b, cudnn_tensor);
    y = &add.node(cudnn_attr_operation_pointwise_y, cudnn_tensor);
    const Tensor result = tensor_of(*y), b = tensor_of(bias);
    Lengths expected(result.shape.size(), 1);
    expected[1] = result.shape[1];
    require(result.shape == d->convolution.y.shape, "a sum of another shape");
    require(b.shape == expected && b.type == d->convolution.x.type, "no bias of one number per channel",
            cudnn_not_supported);
    d->convolution.y = result;
    d->convolution.bias = b;
    d->bias = id_of(bias);
  }
  require(!is_virtual(x) && !is_virtual(w) && !is_virtual(*y), "a virtual operand");
  require(d->convolution.y.type == d->convolution.x.type, "a result of another type", cudnn_not_supported);
  d->y = id_of(*y);
  d->alignment = y->one<std::int64_t>(cudnn_attr_tensor_alignment);
  return d;
}

// ---- engines ------------------------------------------------------------------------------------
constexpr int kTensorCores = 0, kOthers = 1;

bool is_channels_last(const Tensor& t) { return t.shape[1] == 1 || t.strides[1] == 1; }
bool is_contiguous(const Tensor& t) {
  std::int64_t step = 1;
  for (std::size_t axis = t.shape.size(); axis-- > 0;) {
    if (t.shape[axis] > 1 && t.strides[axis] != step) return false;
    step *= t.shape[axis];
  }
  return true;
}

std::vector<int> engines_of(const Described& d) {
  const Convolution& c = d.convolution;
  if (c.x.type != cudnn_double) return {kTensorCores, kOthers};
  if (is_contiguous(c.x) && is_contiguous(c.w) && is_contiguous(c.y)) return {kOthers};
  return {};
}
std::vector<int> notes_of(const Described& d, int engine) {
  if (engine != kTensorCores) return {};
  if (d.convolution.pass == Pass::filter) return {cudnn_note_tensor_core, cudnn_note_nondeterministic};
  return {cudnn_note_tensor_core};
}
// The operands of 16 bits that the engine copies, as letters.
std::string copied_by(const Described& d, int engine) {
  std::string names;
  if (engine != kTensorCores || bytes_of(d.convolution.x.type) != 2) return names;
  const Convolution& c = d.convolution;
  for (const auto& [name, t] : {std::pair{'x', &c.x}, {'w', &c.w}, {'y', &c.y}})
    if (!is_channels_last(*t)) names += name;
  return names;
}
std::int64_t workspace_of(const Described& d, int engine) {
  const Convolution& c = d.convolution;
  std::int64_t bytes = kSmallWorkspace;
  for (const char name : copied_by(d, engine))
    bytes += 2 * product((name == 'x' ? c.x : name == 'w' ? c.w : c.y).shape);
  return bytes;
}
// The name of the work in the records of the device, such as "cudnnBackendExecute(convolution_data; copies w)".
const char* name_of_work(const Described& d, int engine) {
  static auto& mutex = *new std::mutex;
  static auto& names = *new std::set<std::string>;
  const std::string copied = copied_by(d, engine);
  const std::lock_guard lock(mutex);
  return names.insert("cudnnBackendExecute(" + std::string(d.work) + (copied.empty() ? "" : "; copies " + copied) + ")")
      .first->c_str();
}

void finalise(Node& n) {
  switch (n.type) {
    case cudnn_tensor: check_tensor(n); break;
    case cudnn_convolution: check_convolution(n); break;
    case cudnn_pointwise: check_pointwise(n); break;
    case cudnn_operation_pointwise:
      n.node(cudnn_attr_operation_pointwise, cudnn_pointwise);
      for (const int name :
           {cudnn_attr_operation_pointwise_x, cudnn_attr_operation_pointwise_b, cudnn_attr_operation_pointwise_y})
        n.node(name, cudnn_tensor);
      break;
    case cudnn_device_properties: n.list<char>(cudnn_attr_properties_json); break;
    case cudnn_operation_graph: n.described = describe(n); break;
    case cudnn_engine_heuristic: {
      const Node& graph = n.node(cudnn_attr_heuristic_graph, cudnn_operation_graph);
      if (!graph.has(cudnn_attr_graph_handle)) n.node(cudnn_attr_heuristic_properties, cudnn_device_properties);
      n.described = graph.described;
      const int mode = n.one<int>(cudnn_attr_heuristic_mode);
      require(mode == cudnn_heuristic_a || mode == cudnn_heuristic_fallback, "an unknown mode");
      require(!engines_of(*n.described).empty(), "no engine supports the graph", cudnn_not_supported);
      break;
    }
    case cudnn_execution_plan: {
      if (!n.has(cudnn_attr_plan_handle)) n.node(cudnn_attr_plan_properties, cudnn_device_properties);
      const Node& config = n.node(cudnn_attr_plan_engine_config, cudnn_engine_config);
      n.described = config.described;
      n.engine = config.engine;
      break;
    }
    case cudnn_variant_pack:
      require(n.list<std::int64_t>(cudnn_attr_pack_ids).size() == n.list<void*>(cudnn_attr_pack_pointers).size(),
              "as many numbers as addresses");
      n.one<void*>(cudnn_attr_pack_workspace);
      break;
    default: require(names_of(n.type) != nullptr, "a descriptor that is not finalised"); check_operation(n);
  }
  n.final = true;
}

template <class T> void give(const std::vector<T>& values, std::int64_t capacity, std::int64_t* count, void* to) {
  *count = static_cast<std::int64_t>(values.size());
  const auto most = static_cast<std::size_t>(std::min(capacity, *count));
  if (most > 0) std::memcpy(to, values.data(), most * sizeof(T));
}

void get(const Node& n, int name, int type, std::int64_t capacity, std::int64_t* count, void* elements) {
  require(n.final, "an attribute of a descriptor that is not finalised", cudnn_not_initialized);
  require(count != nullptr && capacity >= 0 && (elements != nullptr || capacity == 0), "no place for the result");
  if (n.type == cudnn_engine_heuristic && name == cudnn_attr_heuristic_results && type == cudnn_type_descriptor) {
    const std::vector<int> engines = engines_of(*n.described);
    *count = static_cast<std::int64_t>(engines.size());
    for (std::size_t k = 0; k < engines.size() && std::int64_t(k) < capacity; ++k) {
      Node* const config = static_cast<Node**>(elements)[k];
      require(config != nullptr && config->type == cudnn_engine_config, "no descriptor of a configuration");
      config->described = n.described;
      config->engine = engines[k];
      config->final = true;
    }
  } else if (n.type == cudnn_engine_config && name == cudnn_attr_engine_config_engine &&
             type == cudnn_type_descriptor) {
    *count = 1;
    if (capacity == 0) return;
    Node* const engine = *static_cast<Node**>(elements);
    require(engine != nullptr && engine->type == cudnn_engine, "no descriptor of an engine");
    engine->described = n.described;
    engine->engine = n.engine;
    engine->final = true;
  } else if (n.type == cudnn_engine && name == cudnn_attr_engine_notes && type == cudnn_type_numerical_note) {
    give(notes_of(*n.described, n.engine), capacity, count, elements);
  } else if (n.type == cudnn_execution_plan && name == cudnn_attr_plan_workspace_bytes && type == cudnn_type_int64) {
    give(std::vector<std::int64_t>{workspace_of(*n.described, n.engine)}, capacity, count, elements);
  } else {
    require(false, "attribute " + std::to_string(name) + " cannot be read");
  }
}

void set(Node& n, int name, int type, std::int64_t count, const void* elements) {
  require(!n.final, "an attribute of a finalised descriptor", cudnn_not_initialized);
  require(count > 0 && elements != nullptr, "no elements");
  const auto known = std::find_if(std::begin(kSettable), std::end(kSettable),
                                  [&](const Attribute& a) { return a.descriptor == n.type && a.name == name; });
  const bool scale = is_scale(n.type, name);
  require(scale || known != std::end(kSettable), "attribute " + std::to_string(name) + " is none of this descriptor");
  require(scale ? type == cudnn_type_float || type == cudnn_type_double : type == known->type,
          "attribute " + std::to_string(name) + " has another type");
  const auto* const first = static_cast<const std::byte*>(elements);
  n.attributes[name] = {first, first + static_cast<std::size_t>(count) * bytes_of_attribute(type)};
}

// ---- execution ----------------------------------------------------------------------------------
void execute(cudnn_handle h, const Node& plan, const Node& pack) {
  require(h != nullptr && cuda_device::context_is_usable(), "no usable context", cudnn_execution_failed);
  require(plan.type == cudnn_execution_plan && plan.final && plan.has(cudnn_attr_plan_handle),
          "no finalised plan for a handle");
  require(pack.type == cudnn_variant_pack && pack.final, "no finalised variant pack");
  const auto ids = pack.list<std::int64_t>(cudnn_attr_pack_ids);
  const auto pointers = pack.list<void*>(cudnn_attr_pack_pointers);
  const Described& d = *plan.described;
  const auto address = [&](std::int64_t id, const Tensor& t) {
    const auto found = std::find(ids.begin(), ids.end(), id);
    require(found != ids.end(), "tensor " + std::to_string(id) + " has no address");
    void* const data = pointers[static_cast<std::size_t>(found - ids.begin())];
    require(reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(d.alignment) == 0,
            "tensor " + std::to_string(id) + " is not aligned");
    require(cuda_device::is_device_memory(data, extent(t)), "tensor " + std::to_string(id) + " is no device memory");
    return data;
  };
  Convolution c = d.convolution;
  c.tf32 = plan.engine == kTensorCores && c.x.type == cudnn_float;
  const Addresses at{address(d.x, c.x), address(d.w, c.w), address(d.y, c.y),
                     c.bias ? address(d.bias, *c.bias) : nullptr};
  void* const workspace = pack.one<void*>(cudnn_attr_pack_workspace);
  const auto bytes = static_cast<std::size_t>(workspace_of(d, plan.engine));
  require(cuda_device::is_device_memory(workspace, bytes), "the workspace is no device memory of its size");
  const auto work = [c, at, workspace, bytes] {
    std::memset(workspace, 0x5a, bytes);
    convolve(c, at);
  };
  require(cuda_device::submit_library_work(name_of_work(d, plan.engine), h->stream, work), "the stream accepts no work",
          cudnn_execution_failed);
}

Node& node_of(cudnn_descriptor d) {
  require(d != nullptr, "no descriptor");
  return *static_cast<Node*>(d);
}

}  // namespace

cudnn_status cudnnBackendCreateDescriptor(int type, cudnn_descriptor* to) {
  CUDNN_CALL(cudnnBackendCreateDescriptor);
  constexpr std::array known{cudnn_pointwise,
                             cudnn_convolution,
                             cudnn_engine,
                             cudnn_engine_config,
                             cudnn_engine_heuristic,
                             cudnn_execution_plan,
                             cudnn_operation_convolution_forward,
                             cudnn_operation_convolution_filter,
                             cudnn_operation_convolution_data,
                             cudnn_operation_pointwise,
                             cudnn_operation_graph,
                             cudnn_variant_pack,
                             cudnn_tensor,
                             cudnn_device_properties};
  return answer([&] {
    require(to != nullptr, "no place for the descriptor");
    require(std::find(known.begin(), known.end(), type) != known.end(), "a descriptor that is not known",
            cudnn_not_supported);
    *to = new Node{type, false, {}, nullptr, 0};
  });
}
cudnn_status cudnnBackendDestroyDescriptor(cudnn_descriptor d) {
  CUDNN_CALL(cudnnBackendDestroyDescriptor);
  delete static_cast<Node*>(d);
  return cudnn_success;
}
cudnn_status cudnnBackendFinalize(cudnn_descriptor d) {
  CUDNN_CALL(cudnnBackendFinalize);
  return answer([&] { finalise(node_of(d)); });
}
cudnn_status cudnnBackendSetAttribute(cudnn_descriptor d, int name, int type, std::int64_t count,
                                      const void* elements) {
  CUDNN_CALL(cudnnBackendSetAttribute);
  return answer([&] { set(node_of(d), name, type, count, elements); });
}
cudnn_status cudnnBackendGetAttribute(cudnn_descriptor d, int name, int type, std::int64_t capacity,
                                      std::int64_t* count, void* elements) {
  CUDNN_CALL(cudnnBackendGetAttribute);
  return answer([&] { get(node_of(d), name, type, capacity, count, elements); });
}
cudnn_status cudnnBackendExecute(cudnn_handle h, cudnn_descriptor plan, cudnn_descriptor pack) {
  CUDNN_CALL(cudnnBackendExecute);
  return answer([&] { execute(h, node_of(plan), node_of(pack)); });
}
