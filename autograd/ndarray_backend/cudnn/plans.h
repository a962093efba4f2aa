// Graphs of cuDNN's backend interface and the plans that execute them. Internal to this folder.
//
// A graph is described with descriptors, which needs no GPU. For a device, a plan is made from it: the first engine of
// the heuristics (then of the fallback list) that satisfies these rules. Plans are cached for the process.
// - Engines that round their operands to a narrower type, or accumulate in one, are not used; float32 on tensor cores
// (TF32) only if nd::cuda::tf32_allowed().
// - Engines whose order of summation varies are not used if the call requires deterministic results.
// - Engines that need more work space than max_workspace_size() are not used.
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
  // The number of elements of the attribute; at most `room` are written.
  std::int64_t get_attribute(int name, int type, std::int64_t room, void* elements) const;
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
  bool is_virtual = false;      // an intermediate between two operations, without memory
};
// The strides of a dense tensor, in elements.
CATENA_EXPORT Dims packed_strides(const Shape& shape, Layout layout);

// Operations over tensors; each tensor is identified by its number.
class CATENA_EXPORT Graph {
 public:
  // The tensor's descriptor, created when its number is first used.
  const Descriptor& tensor(const TensorSpec& spec);
  // A new descriptor that lives as long as the graph.
  Descriptor& add(int type);
  // A new descriptor that is also an operation of the graph.
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
  Graph graph;  // the arguments that the plan was made from
  Descriptor operations, config;
  Descriptor plan;
  std::int64_t workspace_bytes = 0;
};
using PlanPtr = std::shared_ptr<const Plan>;

// The target of a plan: the device of a handle, or a device described by its properties alone, which need not be
// present.
struct Target {
  api::cudnn_handle handle = nullptr;
  const Descriptor* properties = nullptr;
};
// Null when no engine satisfies the rules.
CATENA_EXPORT PlanPtr make_plan(const Target& target, Graph graph, const PlanRules& rules);

// The plan of a configuration on a device. describe() gives the graph on the first request. Null when cuDNN has no
// plan. `key` identifies the configuration completely except for the device and the rules.
PlanPtr find_plan(int device, const std::vector<std::int64_t>& key, const PlanRules& rules,
                  const std::function<Graph()>& describe);

struct Binding {
  std::int64_t id;
  void* data;
};
// Enqueues the plan on the current stream of the device of `near`; work space comes from the pool. A graph under
// capture keeps the plan, whose engine may have code of its own.
void execute(const PlanPtr& plan, std::span<const Binding> bindings, const Array& near);

// The limit of work space of one call in bytes: that of the thread's configuration, or that of the whole process, which
// is 8 MiB unless it is set.
CATENA_EXPORT std::int64_t max_workspace_size() noexcept;
CATENA_EXPORT void set_max_workspace_size(std::int64_t bytes);  // ValueError when negative

// ---- graphs -------------------------------------------------------------------------------------
// The numbers of tensors, used in bindings.
enum : std::int64_t { kX = 1, kW, kY, kBias, kProduct };

enum class Pass : std::uint8_t { forward, forward_bias, data, filter };

// The lengths of x with which a convolution that gives y is one whose padding is the same at both ends of every axis:
// those of x, or more; the additional elements are zeros behind the end of x.
//
// Some engines' filter gradients read only one of the two paddings that a descriptor has for an axis and return wrong
// numbers without an error where they differ, so cuDNN is given one padding per axis. Windows of k taps at distance d
// that move by s cover reach = (y - 1) s + (k - 1) d + 1 elements from the beginning of the padding p on. cuDNN
// computes y from floor((x + 2 p - (k - 1) d - 1) / s) + 1, and get_conv_outsize does the same without cover_all: then
// reach lies in (x + 2 p - s, x + 2 p], and elements behind it are not read by any window. With cover_all it exceeds x
// + 2 p by at most s - 1 elements, which are zeros whether they count as padding or as elements of x. A padding that is
// larger at both ends would do, too, but adds windows at the beginning, whose results are to be dropped, and engines
// refuse paddings that are as long as the filter.
CATENA_EXPORT Shape symmetric_input(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec);

// A convolution as cuDNN describes it, with at least two spatial axes. For gradients, x, w or y stands for the array
// whose gradient is computed; x has the lengths of symmetric_input().
struct ConvolutionProblem {
  // From logical shapes; a single spatial axis is preceded by one of length 1.
  CATENA_EXPORT ConvolutionProblem(Pass pass, int type, Layout layout, const Shape& x, const Shape& w, const Shape& y,
                                   const ConvolutionSpec& spec);
  CATENA_EXPORT Graph describe() const;
  CATENA_EXPORT std::vector<std::int64_t> key() const;

  Pass pass;
  int type;
  Layout layout;
  Shape x, w, y;
  Dims stride, dilate, pad;  // pad: at the beginning and at the end
  std::int64_t alignment = 16;
};

}  // namespace autograd::internal::cudnn
