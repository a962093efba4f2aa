// Graphs of cuDNN's backend interface and the plans that execute them. Internal to this folder.
//
// A graph is described with descriptors, which needs no GPU. The plan for a device uses the first engine of the
// heuristics (then of the fallback list) that satisfies these rules. Plans are cached for the process.
// - No engines that round their operands to a narrower type or accumulate in one; float32 on tensor cores (TF32) only
// if nd::cuda::tf32_allowed().
// - No engines whose order of summation varies, if the call requires deterministic results.
// - No engines that need more workspace than max_workspace_size().
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <catena/autograd/ndarray_backend/cudnn/library.h>
#include <catena/autograd/nn_extension.h>

namespace autograd::internal::cudnn {

// ---- descriptors --------------------------------------------------------------------------------
// Owns a descriptor. Failures throw NotSupported, OutOfMemoryError, or CudaError with cuDNN's message.
class CATENA_EXPORT Descriptor {
 public:
  explicit Descriptor(int type);

  void set(int name, int type, std::int64_t count, const void* elements);
  void set_type(int name, int value) { set(name, api::cudnn_type_data_type, 1, &value); }
  void set_integers(int name, const Dims& values) { set(name, api::cudnn_type_int64, values.size(), values.data()); }
  void set_integer(int name, std::int64_t value) { set(name, api::cudnn_type_int64, 1, &value); }
  void set_flag(int name, bool value) { set(name, api::cudnn_type_boolean, 1, &value); }
  void set_enumerator(int name, int type, int value) { set(name, type, 1, &value); }
  void set_descriptor(int name, const Descriptor& value) {
    const api::cudnn_descriptor d = value.get();
    set(name, api::cudnn_type_descriptor, 1, &d);
  }
  void finalize();
  // Returns the status instead of throwing.
  api::cudnn_status try_finalize() noexcept;
  // Returns the number of elements of the attribute; writes at most `capacity` of them.
  std::int64_t get_attribute(int name, int type, std::int64_t capacity, void* elements) const;
  api::cudnn_descriptor get() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<void, api::cudnn_status (*)(api::cudnn_descriptor)> handle_;
};

enum class Layout : std::uint8_t { contiguous, channels_last };

// A dense tensor with the axes (N, C, spatial...).
struct TensorSpec {
  std::int64_t id = 0;
  int type = api::cudnn_float;
  Shape shape;
  Layout layout = Layout::contiguous;
  std::int64_t alignment = 16;  // of the first element, in bytes
  bool is_virtual = false;      // an intermediate result between two operations, without memory
};
// Returns the strides of a dense tensor, in elements.
CATENA_EXPORT Dims packed_strides(const Shape& shape, Layout layout);

// Operations on tensors; each tensor is identified by its number.
class CATENA_EXPORT Graph {
 public:
  // Returns the descriptor of the tensor, which is created at the first use of its number.
  const Descriptor& tensor(const TensorSpec& spec);
  // Returns a new descriptor that exists as long as the graph.
  Descriptor& add(int type);
  // Returns a new descriptor that is also an operation of the graph.
  Descriptor& add_operation(int type);
  const std::vector<api::cudnn_descriptor>& operations() const noexcept { return operations_; }

 private:
  std::vector<std::pair<std::int64_t, std::size_t>> tensors_;
  std::vector<std::unique_ptr<Descriptor>> descriptors_;
  std::vector<api::cudnn_descriptor> operations_;
};

// ---- plans --------------------------------------------------------------------------------------
struct PlanRules {
  int type = api::cudnn_float;  // dtype of the operands
  bool deterministic = false;
  bool tf32 = false;
  std::int64_t workspace_limit = 0;
};

struct Plan {
  Graph graph;  // the graph from which the plan was made
  Descriptor operations, config;
  Descriptor plan;
  std::int64_t workspace_bytes = 0;
};
using PlanPtr = std::shared_ptr<const Plan>;

// The target of a plan: the device of a handle, or a device described only by its properties, which need not be
// present.
struct Target {
  api::cudnn_handle handle = nullptr;
  const Descriptor* properties = nullptr;
};
// Returns null if no engine satisfies the rules.
CATENA_EXPORT PlanPtr make_plan(const Target& target, Graph graph, const PlanRules& rules);

// Returns the plan for a configuration on a device. describe() returns the graph and is called at the first request
// only. Null if cuDNN has no plan. `key` identifies the configuration completely, except for the device and the rules.
PlanPtr find_plan(int device, const std::vector<std::int64_t>& key, const PlanRules& rules,
                  const std::function<Graph()>& describe);

struct Binding {
  std::int64_t id;
  void* data;
};
// Returns the workspace of the plan, on the device of `near`. OutOfMemoryError if there is no memory for it.
CATENA_EXPORT Array new_workspace(const Plan& plan, const Array& near);
// Enqueues the plan on the current stream of the device of `near`. A graph that is being captured keeps a reference to
// the plan, because the plan's engine may own code.
CATENA_EXPORT void execute(const PlanPtr& plan, std::span<const Binding> bindings, const Array& workspace,
                           const Array& near);

// Returns the limit in bytes for the workspace of one call: the limit of the thread's configuration, or else of the
// process, or else the default of the device.
CATENA_EXPORT std::int64_t max_workspace_size(nd::Device device);
CATENA_EXPORT void set_max_workspace_size(std::int64_t bytes);  // of the process; ValueError if negative
// The default for that much free memory: a sixteenth of it, at least 256 MiB and at most 1 GiB. The fastest algorithms
// for float32 need hundreds of MiB; more than 1 GiB is rarely faster.
CATENA_EXPORT std::int64_t default_workspace_size(std::int64_t free_bytes) noexcept;

// ---- graphs -------------------------------------------------------------------------------------
// The numbers of tensors for bindings.
enum : std::int64_t { kX = 1, kW, kY, kBias, kProduct };

enum class Pass : std::uint8_t { forward, forward_bias, data, filter };

// Returns the lengths of x with which a convolution with result y has the same padding at both ends of every axis. They
// are the lengths of x or greater; the additional elements are zeros after the end of x.
//
// The gradients of filters of some engines read only one of the two paddings of an axis in a descriptor, and are wrong
// without an error if the two differ. cuDNN therefore gets one padding per axis. Windows of k taps at distance d that
// move by s cover reach = (y - 1) s + (k - 1) d + 1 elements from the beginning of the padding p on. cuDNN computes y
// as floor((x + 2 p - (k - 1) d - 1) / s) + 1, as get_conv_outsize does without cover_all. Then reach is in (x + 2 p -
// s, x + 2 p], and no window reads the elements after it. With cover_all, reach exceeds x + 2 p by at most s - 1
// elements, which are zeros whether they count as padding or as elements of x. A larger padding at both ends would be
// correct too, but adds windows at the beginning, whose results would have to be removed, and engines reject paddings
// that are as long as the filter.
CATENA_EXPORT Shape symmetric_input(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec);

// The memory layouts of the tensors of a convolution. An engine that computes in another layout than that of a tensor
// transposes it in its workspace, and is faster at it than a copy before the call.
struct Layouts {
  Layouts(Layout all) : x(all), w(all), y(all) {}
  Layouts(Layout x, Layout w, Layout y) : x(x), w(w), y(y) {}
  Layout x, w, y;
};

// A convolution in the form of a cuDNN descriptor, with at least two spatial axes. For gradients, x, w or y is the
// array whose gradient is computed. x has the lengths of symmetric_input().
struct ConvolutionProblem {
  // The shapes are logical shapes. A single spatial axis is preceded by an axis of length 1.
  CATENA_EXPORT ConvolutionProblem(Pass pass, int type, const Layouts& layouts, const Shape& x, const Shape& w,
                                   const Shape& y, const ConvolutionSpec& spec);
  CATENA_EXPORT Graph describe() const;
  CATENA_EXPORT std::vector<std::int64_t> key() const;

  Pass pass;
  int type;
  Layouts layouts;
  Shape x, w, y;
  Dims stride, dilate, pad;  // pad: the same at the beginning and at the end
  std::int64_t alignment = 16;
};

}  // namespace autograd::internal::cudnn
