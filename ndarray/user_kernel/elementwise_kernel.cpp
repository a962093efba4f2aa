#include <catena/ndarray/user_kernel/elementwise_kernel.h>

#include <limits>

#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/user_kernel/kernel_arguments.h>

namespace nd {
namespace {

using catena::check;
using Form = BoundParameter::Form;

// Returns the common shape of all arrays that are not raw, or (size,).
Shape loop_shape(const internal::KernelArguments& arguments, std::string_view op,
                 const std::optional<std::int64_t>& size) {
  Shape shape;
  bool any = false;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments.is_moving(k)) continue;
    shape = any ? catena::broadcast_shapes(op, shape, arguments.array(k)->shape) : arguments.array(k)->shape;
    any = true;
  }
  if (any) {
    check<ValueError>(!size, op, "size = ", size.value_or(0), " is given beside arrays of shape ", shape,
                      "; it is for kernels whose arrays are all raw");
    return shape;
  }
  check<ValueError>(size.has_value(), op,
                    "the size of the loop is undecided: no array but raw ones is given, and no size");
  check<ValueError>(*size >= 0, op, "size = ", *size, " is negative");
  return {*size};
}

// Checks the shapes of given outputs and allocates the others.
void prepare_outputs(internal::KernelArguments& arguments, const KernelText& text, const Shape& shape, bool sized) {
  for (std::size_t k = text.nin; k < arguments.size(); ++k) {
    const KernelParameter& p = arguments.parameter(k);
    if (arguments.array(k) == nullptr)
      check<ValueError>(!p.raw || sized, text.label, "the size of the raw output ", p.name,
                        " is undecided: give the array, or a size");
    else if (!p.raw)
      check<ValueError>(arguments.array(k)->shape == shape, text.label, "the output ", p.name, " has shape ",
                        arguments.array(k)->shape, ", the arguments broadcast to ", shape);
  }
  arguments.check_outputs();
  for (std::size_t k = text.nin; k < arguments.size(); ++k)
    if (arguments.array(k) == nullptr) arguments.allocate(k, shape);
}

void run(internal::KernelArguments& arguments, const KernelText& text, const Shape& common) {
  arguments.separate(false);
  Shape shape = common;
  std::vector<Strides> strides;
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments.is_moving(k))
      strides.push_back(
          catena::broadcast_strides(text.label, arguments.array(k)->shape, arguments.array(k)->strides, shape));
  if (text.reduce_dims) catena::merge_axes(shape, strides);
  if (shape.empty()) {
    shape.push_back(1);
    for (Strides& s : strides) s.push_back(0);
  }

  KernelVariant variant;
  variant.rank = static_cast<std::uint8_t>(shape.size());
  const std::int64_t size = catena::size_of(shape);
  variant.index32 = size <= std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> words{size};
  words.insert(words.end(), shape.begin(), shape.end());
  auto next = strides.begin();
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments.add_fixed(k, variant, words)) continue;
    const Strides& s = *next++;
    const bool flat = s.size() == 1 && s[0] == static_cast<std::int64_t>(catena::itemsize(arguments.dtype(k)));
    words.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(arguments.array(k)->data)));
    if (!flat) words.insert(words.end(), s.begin(), s.end());
    variant.parameters.push_back({arguments.dtype(k), flat ? Form::flat : Form::strided, 0});
  }
  UserKernelCall call;
  call.text = &text;
  call.variant = &variant;
  call.words = words;
  call.size = size;
  arguments.launch(call);
}

}  // namespace

ElementwiseKernel::ElementwiseKernel(std::string_view in_params, std::string_view out_params,
                                     std::string_view operation, std::string_view name,
                                     const ElementwiseKernelOptions& options) {
  KernelText text;
  text.kind = KernelText::Kind::elementwise;
  text.name = name;
  text.label = describe(text);
  text.parameters = parse_parameters(text.label, in_params);
  text.nin = text.parameters.size();
  for (KernelParameter& p : parse_parameters(text.label, out_params, true)) text.parameters.push_back(std::move(p));
  text.operation = operation;
  text.reduce_dims = options.reduce_dims;
  text.preamble = options.preamble;
  text.options = options.options;
  text.loop_prep = options.loop_prep;
  text.after_loop = options.after_loop;
  internal::check_kernel(text);
  text_ = intern(std::move(text));
}

std::vector<Array> internal::call_kernel(const KernelText& text, std::span<const Operand> args,
                                         const ElementwiseCallOptions& options) {
  KernelArguments arguments(text, args, options.stream);
  const Shape shape = loop_shape(arguments, text.label, options.size);
  prepare_outputs(arguments, text, shape, options.size.has_value());
  if (catena::size_of(shape) != 0) run(arguments, text, shape);
  return arguments.outputs();
}

std::vector<Array> ElementwiseKernel::call(std::span<const Operand> args, const ElementwiseCallOptions& options) const
    try {
  return internal::call_kernel(*text_, args, options);
} catch (...) {
  catena::rethrow_standard(name());
}

KernelResult ElementwiseKernel::operator()(std::initializer_list<Operand> args,
                                           const ElementwiseCallOptions& options) const try {
  check<TypeError>(nout() <= 2, text_->label, "has ", nout(), " outputs; write auto [u, v, w] = kernel.call<3>(...)");
  return KernelResult(*text_, call({args.begin(), args.size()}, options));
} catch (...) {
  catena::rethrow_standard(name());
}

const std::vector<KernelParameter>& ElementwiseKernel::params() const noexcept { return text_->parameters; }
std::span<const KernelParameter> ElementwiseKernel::in_params() const noexcept {
  return std::span(params()).first(text_->nin);
}
std::span<const KernelParameter> ElementwiseKernel::out_params() const noexcept {
  return std::span(params()).subspan(text_->nin);
}
int ElementwiseKernel::nin() const noexcept { return static_cast<int>(text_->nin); }
int ElementwiseKernel::nout() const noexcept { return static_cast<int>(text_->nout()); }
int ElementwiseKernel::nargs() const noexcept { return nin() + nout(); }
const std::string& ElementwiseKernel::name() const noexcept { return text_->name; }
const std::string& ElementwiseKernel::operation() const noexcept { return text_->operation; }
const std::string& ElementwiseKernel::preamble() const noexcept { return text_->preamble; }
bool ElementwiseKernel::reduce_dims() const noexcept { return text_->reduce_dims; }

}  // namespace nd
