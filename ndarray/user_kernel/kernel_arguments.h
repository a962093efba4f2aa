// Arguments of a kernel given as text, checked against its parameters. Internal to ndarray/user_kernel.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/user_kernel/user_kernel.h>

namespace nd {

struct ElementwiseCallOptions;
struct ReductionCallOptions;

}  // namespace nd

namespace nd::internal {

// ValueError unless the name is an identifier, and the names of the parameters differ from each other and from other
// names in the text: its placeholders, and the reduced value.
void check_kernel(const KernelText& text);

// Returns a text with the properties that both kinds of kernels have. ValueError for invalid parameter lists.
template <class Options>
KernelText text_of(KernelText::Kind kind, std::string_view name, std::string_view in_params,
                   std::string_view out_params, const Options& options) {
  KernelText text;
  text.kind = kind;
  text.name = name;
  text.label = describe(text);
  text.parameters = parse_parameters(text.label, in_params);
  text.nin = text.parameters.size();
  for (KernelParameter& p : parse_parameters(text.label, out_params, true)) text.parameters.push_back(std::move(p));
  text.reduce_dims = options.reduce_dims;
  text.preamble = options.preamble;
  text.options = options.options;
  return text;
}

// Execute calls of an ElementwiseKernel or a ReductionKernel with an interned text.
std::vector<Array> call_kernel(const KernelText& text, std::span<const Operand> args,
                               const ElementwiseCallOptions& options);
std::vector<Array> call_kernel(const KernelText& text, std::span<const Operand> args,
                               const ReductionCallOptions& options);

// The shape of a loop, with the strides of the operands that advance with it. normalize() merges neighbouring axes
// where that is allowed, and makes a loop without axes a loop over one axis of length 1.
struct LoopAxes {
  Shape shape;
  catena::SmallVector<Strides, 4> strides;
  void normalize(bool may_merge);
};

// A text compiled for a variant and loaded on a device.
struct LoadedText {
  std::string label;
  std::unique_ptr<DeviceModule> module;
  const void *entry = nullptr, *second = nullptr;
  std::size_t accumulator_bytes = 0;
  std::vector<std::size_t> structure_bytes = {};  // sizes of the classes of the parameters, 0 for numbers

  // ValueError if the parameter struct, given as `words`, is larger than the device allows.
  void launch(const void* function, const LaunchShape& shape, std::span<const std::int64_t> words,
              StreamRef stream) const;
};

// Elements that a thread of the CPU processes.
inline constexpr std::int64_t kHostGrain = 16384;
// Returns the launch over a number of items of `elements` elements each. On CUDA, blocks of `threads` threads process
// `per_block` items at a time; the number of blocks is limited to several times the number that fills the device, and
// the kernels loop over the remaining items.
LaunchShape launch_shape(Device device, std::int64_t items, std::int64_t elements, unsigned threads,
                         std::int64_t per_block);

// The rules that elementwise and reduction kernels share. Messages start with the kernel's name.
class KernelArguments {
 public:
  // `args`: the inputs, or inputs and all outputs (TypeError otherwise); they must outlive this object. A given stream
  // becomes the current one until the end of the call; ValueError if it belongs to another device than the arrays.
  KernelArguments(const KernelText& text, std::span<const Operand> args, const std::optional<Stream>& stream);

  std::size_t size() const noexcept { return text_.parameters.size(); }
  const KernelParameter& parameter(std::size_t k) const noexcept { return text_.parameters[k]; }
  Dtype dtype(std::size_t k) const noexcept { return dtypes_[k]; }
  Device device() const noexcept { return device_; }
  // Null for scalars and for outputs that have not been allocated yet.
  const catena::ArrayHeader* array(std::size_t k) const noexcept { return arrays_[k].get(); }
  bool is_moving(std::size_t k) const noexcept { return array(k) != nullptr && !parameter(k).raw; }

  // Returns the common shape of the arrays among the first `count` that are not raw; nothing if there is none.
  std::optional<Shape> common_shape(std::size_t count) const;
  // Checks that given outputs have the shape `shape` (`origin` says in messages whose shape it is), that no two
  // elements of an output share memory, and that no two outputs overlap. Allocates the other outputs, raw ones only
  // with `sized`.
  void prepare_outputs(const Shape& shape, std::string_view origin, bool sized);
  // Copies inputs that writing an output would change. With `positions_differ`, an input identical to an output is
  // copied too.
  void separate(bool positions_differ);

  // Appends a scalar or raw operand to the parameters of the call. Returns false for an operand that advances with the
  // loop.
  bool add_fixed(std::size_t k, KernelVariant& variant, std::vector<std::int64_t>& words) const;
  // Calls run(code, stream) with the code of a variant, which is compiled at its first use.
  template <class F> void launch(const KernelVariant& variant, F&& run) const {
    const std::shared_ptr<const LoadedText> code = load(variant);
    check_structures(*code);
    catena::SmallVector<const catena::ArrayHeader*, 8> arrays;
    for (const Array& a : arrays_) arrays.push_back(a.get());
    const std::span<const catena::ArrayHeader* const> all(arrays);
    const StreamRef stream = stream_for(device_);
    launch_on(stream, all.first(text_.nin), all.subspan(text_.nin), [&] { run(*code, stream); });
  }
  std::vector<Array> outputs() const;

 private:
  void check_count(std::size_t given) const;
  void resolve_types();
  void check_outputs() const;
  std::shared_ptr<const LoadedText> load(const KernelVariant& variant) const;
  // ValueError for an array whose last axis has another length than the class of its parameter has bytes.
  void check_structures(const LoadedText& code) const;

  const KernelText& text_;
  std::span<const Operand> args_;
  std::vector<Array> arrays_;  // one per parameter
  catena::SmallVector<Dtype, 8> dtypes_;
  Device device_;
  std::optional<StreamScope> scope_;
};

}  // namespace nd::internal
