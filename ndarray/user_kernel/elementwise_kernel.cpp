#include <catena/ndarray/user_kernel/elementwise_kernel.h>

#include <limits>

#include <catena/kernels/device/user_parameters.h>
#include <catena/ndarray/user_kernel/kernel_arguments.h>

namespace nd {
namespace {

using catena::check;
using Form = BoundParameter::Form;

// Returns the common shape of all arrays that are not raw, or (size,).
Shape loop_shape(const internal::KernelArguments& arguments, std::string_view op,
                 const std::optional<std::int64_t>& size) {
  if (const std::optional<Shape> shape = arguments.common_shape(arguments.size())) {
    check<ValueError>(!size, op, "size = ", size.value_or(0), " is given beside arrays of shape ", *shape,
                      "; it is for kernels whose arrays are all raw");
    return *shape;
  }
  check<ValueError>(size.has_value(), op,
                    "the size of the loop is undecided: no array but raw ones is given, and no size");
  check<ValueError>(*size >= 0, op, "size = ", *size, " is negative");
  return {*size};
}

void run(internal::KernelArguments& arguments, const KernelText& text, const Shape& common, std::int64_t elements) {
  arguments.separate(false);
  internal::LoopAxes axes{common, {}};
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments.is_moving(k))
      axes.strides.push_back(
          catena::broadcast_strides(text.label, arguments.array(k)->shape, arguments.array(k)->strides, common));
  axes.normalize(text.reduce_dims);

  KernelVariant variant;
  variant.rank = static_cast<std::uint8_t>(axes.shape.size());
  const std::int64_t size = catena::size_of(axes.shape);
  variant.index32 = size <= std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> words;
  words.reserve(64);
  words.push_back(size);
  words.insert(words.end(), axes.shape.begin(), axes.shape.end());
  auto next = axes.strides.begin();
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments.add_fixed(k, variant, words)) continue;
    const Strides& s = *next++;
    const bool flat = s.size() == 1 && s[0] == static_cast<std::int64_t>(catena::itemsize(arguments.dtype(k)));
    words.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(arguments.array(k)->data)));
    if (!flat) words.insert(words.end(), s.begin(), s.end());
    variant.parameters.push_back({arguments.dtype(k), flat ? Form::flat : Form::strided, 0});
  }
  arguments.launch(variant, [&](const internal::LoadedText& code, StreamRef stream) {
    constexpr unsigned threads = catena::user::kElementwiseBlock;
    code.launch(code.entry, internal::launch_shape(stream.device, size, elements, threads, threads), words, stream);
  });
}

}  // namespace

ElementwiseKernel::ElementwiseKernel(std::string_view in_params, std::string_view out_params,
                                     std::string_view operation, std::string_view name,
                                     const ElementwiseKernelOptions& options)
    : TextKernel([&] {
        KernelText text = internal::text_of(KernelText::Kind::elementwise, name, in_params, out_params, options);
        text.operation = operation;
        text.loop_prep = options.loop_prep;
        text.after_loop = options.after_loop;
        internal::check_kernel(text);
        return intern(std::move(text));
      }()) {}

std::vector<Array> internal::call_kernel(const KernelText& text, std::span<const Operand> args,
                                         const ElementwiseCallOptions& options) {
  KernelArguments arguments(text, args, options.stream);
  check<ValueError>(options.elements_per_position > 0, text.label,
                    "elements_per_position = ", options.elements_per_position, " is not positive");
  const Shape shape = loop_shape(arguments, text.label, options.size);
  arguments.prepare_outputs(shape, "the arguments broadcast to", options.size.has_value());
  if (catena::size_of(shape) != 0) run(arguments, text, shape, options.elements_per_position);
  return arguments.outputs();
}

std::span<const KernelParameter> ElementwiseKernel::in_params() const noexcept {
  return std::span(params()).first(text_->nin);
}
std::span<const KernelParameter> ElementwiseKernel::out_params() const noexcept {
  return std::span(params()).subspan(text_->nin);
}
const std::string& ElementwiseKernel::operation() const noexcept { return text_->operation; }
const std::string& ElementwiseKernel::preamble() const noexcept { return text_->preamble; }
bool ElementwiseKernel::reduce_dims() const noexcept { return text_->reduce_dims; }

}  // namespace nd
