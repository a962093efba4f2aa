#include <catena/autograd/ndarray_backend/cudnn/plans.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/config.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/device/device.h>

namespace autograd::internal::cudnn {
namespace {

api::cudnn_descriptor create_descriptor(int type) {
  api::cudnn_descriptor made = nullptr;
  CATENA_CUDNN(create_descriptor, type, &made);
  return made;
}

}  // namespace

// ---- descriptors --------------------------------------------------------------------------------
Descriptor::Descriptor(int type) : handle_(create_descriptor(type), library().destroy_descriptor) {}

void Descriptor::set(int name, int type, std::int64_t count, const void* elements) {
  CATENA_CUDNN(set_attribute, get(), name, type, count, elements);
}

void Descriptor::finalize() { CATENA_CUDNN(finalize, get()); }

api::cudnn_status Descriptor::try_finalize() noexcept { return library().finalize(get()); }

std::int64_t Descriptor::get_attribute(int name, int type, std::int64_t capacity, void* elements) const {
  std::int64_t count = 0;
  CATENA_CUDNN(get_attribute, get(), name, type, capacity, &count, elements);
  return count;
}

Dims packed_strides(const Shape& shape, Layout layout) {
  Dims strides = Dims::filled(shape.size(), 1);
  std::int64_t step = 1;
  if (layout == Layout::channels_last) step = std::max<std::int64_t>(shape[1], 1);  // the channels are innermost
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (layout == Layout::channels_last && axis == 1) continue;
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

const Descriptor& Graph::tensor(const TensorSpec& spec) {
  for (const auto& [id, index] : tensors_)
    if (id == spec.id) return *descriptors_[index];
  Descriptor& d = add(api::cudnn_tensor);
  d.set_type(api::cudnn_attr_tensor_data_type, spec.type);
  d.set_integers(api::cudnn_attr_tensor_dimensions, spec.shape);
  d.set_integers(api::cudnn_attr_tensor_strides, packed_strides(spec.shape, spec.layout));
  d.set_integer(api::cudnn_attr_tensor_id, spec.id);
  d.set_integer(api::cudnn_attr_tensor_alignment, spec.alignment);
  d.set_flag(api::cudnn_attr_tensor_virtual, spec.is_virtual);
  d.finalize();
  tensors_.emplace_back(spec.id, descriptors_.size() - 1);
  return d;
}

Descriptor& Graph::add(int type) { return *descriptors_.emplace_back(std::make_unique<Descriptor>(type)); }

Descriptor& Graph::add_operation(int type) {
  Descriptor& d = add(type);
  operations_.push_back(d.get());
  return d;
}

// ---- plans --------------------------------------------------------------------------------------
namespace {

Descriptor operation_graph(const Graph& graph, const Target& target) {
  Descriptor d(api::cudnn_operation_graph);
  if (target.handle != nullptr) d.set(api::cudnn_attr_graph_handle, api::cudnn_type_handle, 1, &target.handle);
  d.set(api::cudnn_attr_graph_operations, api::cudnn_type_descriptor,
        static_cast<std::int64_t>(graph.operations().size()), graph.operations().data());
  d.finalize();
  return d;
}

// Returns the engine configurations, best first; empty if the heuristics of that mode propose none.
std::vector<Descriptor> engine_configs(const Descriptor& graph, const Target& target, int mode) {
  Descriptor heuristic(api::cudnn_engine_heuristic);
  if (target.properties != nullptr) heuristic.set_descriptor(api::cudnn_attr_heuristic_properties, *target.properties);
  heuristic.set_descriptor(api::cudnn_attr_heuristic_graph, graph);
  heuristic.set_enumerator(api::cudnn_attr_heuristic_mode, api::cudnn_type_heuristic_mode, mode);
  const api::cudnn_status status = heuristic.try_finalize();
  if (is_unsupported(status)) return {};
  check(status, api::CudnnNames::finalize);
  const std::int64_t count =
      heuristic.get_attribute(api::cudnn_attr_heuristic_results, api::cudnn_type_descriptor, 0, nullptr);
  std::vector<Descriptor> configs;
  std::vector<api::cudnn_descriptor> handles;
  for (std::int64_t i = 0; i < count; ++i) handles.push_back(configs.emplace_back(api::cudnn_engine_config).get());
  if (count == 0) return configs;
  const std::int64_t found =
      heuristic.get_attribute(api::cudnn_attr_heuristic_results, api::cudnn_type_descriptor, count, handles.data());
  configs.erase(configs.begin() + std::min(found, count), configs.end());
  return configs;
}

bool keeps_rules(const Descriptor& config, const PlanRules& rules) {
  Descriptor engine(api::cudnn_engine);
  api::cudnn_descriptor handle = engine.get();
  config.get_attribute(api::cudnn_attr_engine_config_engine, api::cudnn_type_descriptor, 1, &handle);
  std::array<int, api::cudnn_note_count> notes{};
  const std::int64_t count =
      std::min<std::int64_t>(engine.get_attribute(api::cudnn_attr_engine_notes, api::cudnn_type_numerical_note,
                                                  api::cudnn_note_count, notes.data()),
                             api::cudnn_note_count);
  const auto has = [&](int note) {
    return std::find(notes.begin(), notes.begin() + count, note) != notes.begin() + count;
  };
  if (has(api::cudnn_note_down_convert_inputs) || has(api::cudnn_note_reduced_precision_reduction)) return false;
  if (rules.type == api::cudnn_float && !rules.tf32 && has(api::cudnn_note_tensor_core)) return false;
  return !rules.deterministic || !has(api::cudnn_note_nondeterministic);
}

}  // namespace

PlanPtr make_plan(const Target& target, Graph graph, const PlanRules& rules) {
  Descriptor operations = operation_graph(graph, target);
  for (const int mode : {api::cudnn_heuristic_a, api::cudnn_heuristic_fallback})
    for (Descriptor& config : engine_configs(operations, target, mode)) {
      if (!keeps_rules(config, rules)) continue;
      Descriptor plan(api::cudnn_execution_plan);
      if (target.handle != nullptr) plan.set(api::cudnn_attr_plan_handle, api::cudnn_type_handle, 1, &target.handle);
      if (target.properties != nullptr) plan.set_descriptor(api::cudnn_attr_plan_properties, *target.properties);
      plan.set_descriptor(api::cudnn_attr_plan_engine_config, config);
      // The heuristics may propose engines that do not support the graph; then the next one is tried.
      if (plan.try_finalize() != api::cudnn_success) continue;
      std::int64_t bytes = 0;
      plan.get_attribute(api::cudnn_attr_plan_workspace_bytes, api::cudnn_type_int64, 1, &bytes);
      if (bytes > rules.workspace_limit) continue;
      return std::make_shared<Plan>(
          Plan{std::move(graph), std::move(operations), std::move(config), std::move(plan), bytes});
    }
  return nullptr;
}

namespace {

struct KeyHash {
  std::size_t operator()(const std::vector<std::int64_t>& key) const noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const std::int64_t n : key) h = (h ^ static_cast<std::uint64_t>(n)) * 0x100000001b3u;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

std::atomic<std::int64_t> workspace_limit{-1};  // of the process; -1: the defaults of the devices

// The memory that is free when the device is first asked for its default determines it, so that the same call finds the
// same plan later.
std::int64_t default_of(nd::Device device) {
  static auto& mutex = *new std::mutex;
  static auto& of_device = *new std::unordered_map<int, std::int64_t>;
  const std::lock_guard lock(mutex);
  const auto found = of_device.find(device.id);
  if (found != of_device.end()) return found->second;
  const std::int64_t size = default_workspace_size(std::int64_t(nd::memory_info(device).free_bytes));
  return of_device.emplace(device.id, size).first->second;
}

}  // namespace

std::int64_t default_workspace_size(std::int64_t free_bytes) noexcept {
  constexpr std::int64_t kLeast = std::int64_t(256) << 20, kMost = std::int64_t(1) << 30, kShare = 16;
  return std::clamp(free_bytes / kShare, kLeast, kMost);
}

std::int64_t max_workspace_size(nd::Device device) {
  if (const std::int64_t of_thread = cudnn_modes().max_workspace_size; of_thread >= 0) return of_thread;
  const std::int64_t of_process = workspace_limit.load(std::memory_order_relaxed);
  if (of_process >= 0) return of_process;
  return device.kind == nd::Device::Kind::cuda ? default_of(device) : default_workspace_size(0);
}
void set_max_workspace_size(std::int64_t bytes) {
  catena::check<catena::ValueError>(bytes >= 0, "set_max_workspace_size", bytes, " bytes must not be negative");
  workspace_limit.store(bytes, std::memory_order_relaxed);
}

PlanPtr find_plan(int device, const std::vector<std::int64_t>& configuration, const PlanRules& rules,
                  const std::function<Graph()>& describe) {
  static auto& mutex = *new std::shared_mutex;
  static auto& plans = *new std::unordered_map<std::vector<std::int64_t>, PlanPtr, KeyHash>;
  constexpr std::size_t kMaxPlans = 4096;
  std::vector<std::int64_t> key = configuration;
  for (const std::int64_t n : {std::int64_t(device), std::int64_t(rules.type), std::int64_t(rules.deterministic),
                               std::int64_t(rules.tf32), rules.workspace_limit})
    key.push_back(n);
  {
    const std::shared_lock lock(mutex);
    if (const auto found = plans.find(key); found != plans.end()) return found->second;
  }
  PlanPtr plan;
  try {
    const Handle handle(device);
    plan = make_plan({handle.get(), nullptr}, describe(), rules);
  } catch (const NotSupported&) {
    plan = nullptr;  // the absence of a plan is cached too
  }
  const std::unique_lock lock(mutex);
  if (plans.size() >= kMaxPlans) plans.clear();
  return plans.emplace(std::move(key), std::move(plan)).first->second;
}

Array new_workspace(const Plan& plan, const Array& near) {
  return near.backend().empty({plan.workspace_bytes}, Dtype::uint8, near.device());
}

void execute(const PlanPtr& plan, std::span<const Binding> bindings, const Array& scratch, const Array& near) {
  const Handle handle(near);
  void* const workspace = scratch->data;
  std::vector<std::int64_t> ids;
  std::vector<void*> pointers;
  for (const Binding& b : bindings) {
    ids.push_back(b.id);
    pointers.push_back(b.data);
  }
  Descriptor pack(api::cudnn_variant_pack);
  pack.set(api::cudnn_attr_pack_ids, api::cudnn_type_int64, static_cast<std::int64_t>(ids.size()), ids.data());
  pack.set(api::cudnn_attr_pack_pointers, api::cudnn_type_void_ptr, static_cast<std::int64_t>(pointers.size()),
           pointers.data());
  pack.set(api::cudnn_attr_pack_workspace, api::cudnn_type_void_ptr, 1, &workspace);
  pack.finalize();
  nd::cuda::keep_in_graph(plan);
  CATENA_CUDNN_ENQUEUE(handle, execute, plan->plan.get(), pack.get());
}

// ---- convolutions -------------------------------------------------------------------------------
Shape symmetric_input(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec) {
  Shape lengths = x;
  for (int i = 0; i < spec.stride.size(); ++i) {
    const std::int64_t reach = (y[i + 2] - 1) * spec.stride[i] + (w[i + 2] - 1) * spec.dilate[i] + 1;
    lengths[i + 2] = std::max(x[i + 2], reach - 2 * spec.pad[i]);
  }
  return lengths;
}

ConvolutionProblem::ConvolutionProblem(Pass pass, int type, const Layouts& layouts, const Shape& x, const Shape& w,
                                       const Shape& y, const ConvolutionSpec& spec)
    : pass(pass),
      type(type),
      layouts(layouts),
      x(symmetric_input(x, w, y, spec)),
      w(w),
      y(y),
      stride(spec.stride),
      dilate(spec.dilate),
      pad(spec.pad) {
  if (stride.size() > 1) return;
  for (Shape* s : {&this->x, &this->w, &this->y}) s->insert(2, 1);
  for (Dims* d : {&stride, &dilate}) d->insert(0, 1);
  pad.insert(0, 0);
}

std::vector<std::int64_t> ConvolutionProblem::key() const {
  std::vector<std::int64_t> key{
      std::int64_t(pass), std::int64_t(layouts.x),    std::int64_t(layouts.w), std::int64_t(layouts.y),
      alignment,          std::int64_t(stride.size())};
  for (const Dims* d : std::initializer_list<const Dims*>{&x, &w, &y, &stride, &dilate, &pad})
    key.insert(key.end(), d->begin(), d->end());
  return key;
}

namespace {

// Sets the factors of alpha * operation + beta * previous content.
void set_scales(Descriptor& operation, int alpha, int beta, int type) {
  const double one64 = 1, zero64 = 0;
  const float one = 1, zero = 0;
  if (type == api::cudnn_double) {
    operation.set(alpha, api::cudnn_type_double, 1, &one64);
    operation.set(beta, api::cudnn_type_double, 1, &zero64);
  } else {
    operation.set(alpha, api::cudnn_type_float, 1, &one);
    operation.set(beta, api::cudnn_type_float, 1, &zero);
  }
}

int compute_type(int type) { return type == api::cudnn_double ? api::cudnn_double : api::cudnn_float; }

}  // namespace

Graph ConvolutionProblem::describe() const {
  Graph graph;
  const auto tensor = [&](std::int64_t id, const Shape& shape) -> const Descriptor& {
    const Layout layout = id == kX ? layouts.x : id == kW ? layouts.w : layouts.y;
    return graph.tensor({id, type, shape, layout, alignment, false});
  };
  Descriptor& convolution = graph.add(api::cudnn_convolution);
  convolution.set_type(api::cudnn_attr_convolution_compute_type, compute_type(type));
  convolution.set_enumerator(api::cudnn_attr_convolution_mode, api::cudnn_type_convolution_mode,
                             api::cudnn_cross_correlation);
  convolution.set_integer(api::cudnn_attr_convolution_spatial_dims, stride.size());
  convolution.set_integers(api::cudnn_attr_convolution_strides, stride);
  convolution.set_integers(api::cudnn_attr_convolution_dilations, dilate);
  convolution.set_integers(api::cudnn_attr_convolution_pre_paddings, pad);
  convolution.set_integers(api::cudnn_attr_convolution_post_paddings, pad);
  convolution.finalize();

  if (pass == Pass::data || pass == Pass::filter) {
    const bool data = pass == Pass::data;
    Descriptor& op =
        graph.add_operation(data ? api::cudnn_operation_convolution_data : api::cudnn_operation_convolution_filter);
    op.set_descriptor(data ? api::cudnn_attr_data_convolution : api::cudnn_attr_filter_convolution, convolution);
    op.set_descriptor(data ? api::cudnn_attr_data_dx : api::cudnn_attr_filter_x, tensor(kX, x));
    op.set_descriptor(data ? api::cudnn_attr_data_w : api::cudnn_attr_filter_dw, tensor(kW, w));
    op.set_descriptor(data ? api::cudnn_attr_data_dy : api::cudnn_attr_filter_dy, tensor(kY, y));
    if (data) set_scales(op, api::cudnn_attr_data_alpha, api::cudnn_attr_data_beta, type);
    else set_scales(op, api::cudnn_attr_filter_alpha, api::cudnn_attr_filter_beta, type);
    op.finalize();
    return graph;
  }

  const bool with_bias = pass == Pass::forward_bias;
  const Descriptor& product =
      with_bias ? graph.tensor({kProduct, compute_type(type), y, layouts.y, alignment, true}) : tensor(kY, y);
  Descriptor& op = graph.add_operation(api::cudnn_operation_convolution_forward);
  op.set_descriptor(api::cudnn_attr_forward_convolution, convolution);
  op.set_descriptor(api::cudnn_attr_forward_x, tensor(kX, x));
  op.set_descriptor(api::cudnn_attr_forward_w, tensor(kW, w));
  op.set_descriptor(api::cudnn_attr_forward_y, product);
  set_scales(op, api::cudnn_attr_forward_alpha, api::cudnn_attr_forward_beta, type);
  op.finalize();
  if (!with_bias) return graph;

  Shape bias_shape = Shape::filled(y.size(), 1);
  bias_shape[1] = y[1];
  Descriptor& addition = graph.add(api::cudnn_pointwise);
  addition.set_enumerator(api::cudnn_attr_pointwise_mode, api::cudnn_type_pointwise_mode, api::cudnn_pointwise_add);
  addition.set_type(api::cudnn_attr_pointwise_math_type, compute_type(type));
  addition.finalize();
  Descriptor& add_bias = graph.add_operation(api::cudnn_operation_pointwise);
  add_bias.set_descriptor(api::cudnn_attr_operation_pointwise, addition);
  add_bias.set_descriptor(api::cudnn_attr_operation_pointwise_x, product);
  add_bias.set_descriptor(api::cudnn_attr_operation_pointwise_b, tensor(kBias, bias_shape));
  add_bias.set_descriptor(api::cudnn_attr_operation_pointwise_y, tensor(kY, y));
  add_bias.finalize();
  return graph;
}

}  // namespace autograd::internal::cudnn
