// Graphs of cuDNN's backend interface and the plans that execute them. Internal to this folder.
//
// A graph is described with descriptors, which needs no GPU; a plan is made of it for a device: the first engine of the
// heuristics (then of the fallback list) that keeps to the rules below. Plans are kept for the process.
// - Engines that round their operands to a narrower type, or sum in one, are not used; float32 through tensor cores
// (TF32) only where
//   nd::cuda::tf32_allowed().
// - Engines that add in an order of their own each time are not used where the call asks for deterministic results.
// - Engines that want more work space than max_workspace_size() are not used.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <catena/autograd/backend/nn_extension.h>
#include <catena/autograd/ndarray_backend/cudnn_library.h>

namespace autograd::internal::cudnn {

// ---- descriptors --------------------------------------------------------------------------------
// Owns one. Failures are thrown: NotSupported, OutOfMemoryError, or CudaError with cuDNN's own words.
class CATENA_EXPORT Descriptor {
 public:
  explicit Descriptor(int type);

  void set(int name, int type, std::int64_t count, const void* elements);
  void set_type(int name, int value) { set(name, api::cudnn_type_data_type, 1, &value); }
  void set_integers(int name, const Dims& values) { set(name, api::cudnn_type_int64, values.size(), values.data()); }
  void set_integer(int name, std::int64_t value) { set(name, api::cudnn_type_int64, 1, &value); }
  void set_fractions(int name, const Dims& values);  // whole numbers
  void set_flag(int name, bool value) { set(name, api::cudnn_type_boolean, 1, &value); }
  void set_enumerator(int name, int type, int value) { set(name, type, 1, &value); }
  void set_descriptor(int name, const Descriptor& value) {
    const api::cudnn_descriptor d = value.get();
    set(name, api::cudnn_type_descriptor, 1, &d);
  }
  void finalize();
  // The status instead of an exception.
  api::cudnn_status try_finalize() noexcept;
  // How many elements there are; at most `room` are written.
  std::int64_t get_attribute(int name, int type, std::int64_t room, void* elements) const;
  api::cudnn_descriptor get() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<void, api::cudnn_status (*)(api::cudnn_descriptor)> handle_;
};

enum class Layout : std::uint8_t { contiguous, channels_last };

// A tensor without gaps, whose axes are (N, C, spatial...).
struct TensorSpec {
  std::int64_t id = 0;
  int type = api::cudnn_float;
  Shape shape;
  Layout layout = Layout::contiguous;
  std::int64_t alignment = 16;  // of the first element, in bytes
  bool is_virtual = false;      // exists between two operations only
};
// In elements.
CATENA_EXPORT Dims packed_strides(const Shape& shape, Layout layout);

// Operations over tensors, each given once by its number.
class CATENA_EXPORT Graph {
 public:
  // The tensor's descriptor, made at the first mention of its number.
  const Descriptor& tensor(const TensorSpec& spec);
  // A descriptor that lives as long as the graph.
  Descriptor& add(int type);
  // The same, as one of the graph's operations.
  Descriptor& add_operation(int type);
  const std::vector<api::cudnn_descriptor>& operations() const noexcept { return operations_; }

 private:
  std::vector<std::pair<std::int64_t, std::size_t>> tensors_;
  std::vector<std::unique_ptr<Descriptor>> descriptors_;
  std::vector<api::cudnn_descriptor> operations_;
};

// ---- plans --------------------------------------------------------------------------------------
struct PlanRules {
  int type = api::cudnn_float;  // of the operands
  bool deterministic = false;
  bool tf32 = false;
  std::int64_t workspace_limit = 0;
};

struct Plan {
  Graph graph;  // these three are what the plan was made of
  Descriptor operations, config;
  Descriptor plan;
  std::int64_t workspace_bytes = 0;
};
using PlanPtr = std::shared_ptr<const Plan>;

// Where a plan is to run: on the device of a handle, or on one that is described by its properties alone, which need
// not be there.
struct Target {
  api::cudnn_handle handle = nullptr;
  const Descriptor* properties = nullptr;
};
// Null: no engine keeps the rules.
CATENA_EXPORT PlanPtr make_plan(const Target& target, Graph graph, const PlanRules& rules);

// The plan of a configuration on a device; `describe` gives its graph when it has not been asked for before. Null:
// cuDNN has none. `key` names the configuration completely but for the device and the rules.
PlanPtr find_plan(int device, const std::vector<std::int64_t>& key, const PlanRules& rules,
                  const std::function<Graph()>& describe);

struct Binding {
  std::int64_t id;
  void* data;
};
// Enqueues the plan on the current stream of the device of `near`; work space comes from the pool.
void execute(const Plan& plan, std::span<const Binding> bindings, const Array& near);

// Bytes that one call may take for itself, for the whole process. At first 256 MB.
CATENA_EXPORT std::int64_t max_workspace_size() noexcept;
CATENA_EXPORT void set_max_workspace_size(std::int64_t bytes);  // ValueError when negative

// ---- graphs -------------------------------------------------------------------------------------
// The numbers of tensors, for bindings.
enum : std::int64_t { kX = 1, kW, kY, kBias, kProduct };

enum class Pass : std::uint8_t { forward, forward_bias, data, filter };

// A convolution as cuDNN describes it: at least two spatial axes. For the gradients x, w or y stands for what the
// gradient is of.
struct ConvolutionProblem {
  // Of the logical shapes; one spatial axis gets another of length 1 before it.
  CATENA_EXPORT ConvolutionProblem(Pass pass, int type, Layout layout, const Shape& x, const Shape& w, const Shape& y,
                                   const ConvolutionSpec& spec);
  CATENA_EXPORT Graph describe() const;
  CATENA_EXPORT std::vector<std::int64_t> key() const;

  Pass pass;
  int type;
  Layout layout;
  Shape x, w, y;
  Dims stride, dilate, pad, pad_end;
  std::int64_t alignment = 16;
};

// Average pooling that counts the padding, or the gradient of it. As for convolutions, there are two spatial axes at
// least.
struct PoolingProblem {
  CATENA_EXPORT PoolingProblem(bool backward, int type, Layout layout, const Shape& x, const Shape& y,
                               const PoolingSpec& spec);
  CATENA_EXPORT Graph describe() const;
  CATENA_EXPORT std::vector<std::int64_t> key() const;

  bool backward;
  int type;
  Layout layout;
  Shape x, y;
  Dims size, stride, pad;
  std::int64_t alignment = 16;
};

}  // namespace autograd::internal::cudnn
