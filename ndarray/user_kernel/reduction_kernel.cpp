#include <catena/ndarray/user_kernel/reduction_kernel.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/device/user_parameters.h>
#include <catena/ndarray/user_kernel/kernel_arguments.h>

namespace nd {
namespace {

using catena::check;
using Form = BoundParameter::Form;

Shape input_shape(const internal::KernelArguments& arguments, const KernelText& text) {
  Shape shape;
  bool any = false;
  for (std::size_t k = 0; k < text.nin; ++k) {
    if (!arguments.is_moving(k)) continue;
    shape = any ? catena::broadcast_shapes(text.label, shape, arguments.array(k)->shape) : arguments.array(k)->shape;
    any = true;
  }
  check<ValueError>(any, text.label, "at least one input must be an array that is not raw");
  return shape;
}

bool contains(const Dims& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

void check_raw(const internal::KernelArguments& arguments, const KernelText& text, const Dims& axes) {
  for (int k = 0; k < axes.size(); ++k)
    if (axes[k] != k)
      for (std::size_t p = 0; p < arguments.size(); ++p)
        check<NotImplementedError>(!arguments.parameter(p).raw || arguments.array(p) == nullptr, text.label,
                                   "the parameter ", arguments.parameter(p).name,
                                   " is raw, which needs the reduced axes to be the leading ones; they are ", axes);
}

void prepare_outputs(internal::KernelArguments& arguments, const KernelText& text, const Shape& shape) {
  for (std::size_t k = text.nin; k < arguments.size(); ++k) {
    const KernelParameter& p = arguments.parameter(k);
    if (arguments.array(k) == nullptr)
      check<ValueError>(!p.raw, text.label, "the size of the raw output ", p.name, " is undecided: give the array");
    else if (!p.raw)
      check<ValueError>(arguments.array(k)->shape == shape, text.label, "the output ", p.name, " has shape ",
                        arguments.array(k)->shape, ", the result ", shape);
  }
  arguments.check_outputs();
  for (std::size_t k = text.nin; k < arguments.size(); ++k)
    if (arguments.array(k) == nullptr) arguments.allocate(k, shape);
}

// Strides of all operands that advance with the loop, along the kept and the reduced axes; inputs come first.
struct Layout {
  Shape kept, reduced;
  std::vector<Strides> kept_strides, reduced_strides;
};

Layout lay_out(const internal::KernelArguments& arguments, const KernelText& text, const Shape& in, const Dims& axes,
               bool keepdims) {
  Layout l;
  for (int a = 0; a < in.size(); ++a) (contains(axes, a) ? l.reduced : l.kept).push_back(in[a]);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments.is_moving(k)) continue;
    const catena::ArrayHeader& h = *arguments.array(k);
    Strides kept, reduced;
    if (k < text.nin) {
      const Strides all = catena::broadcast_strides(text.label, h.shape, h.strides, in);
      for (int a = 0; a < in.size(); ++a) (contains(axes, a) ? reduced : kept).push_back(all[a]);
      l.reduced_strides.push_back(reduced);
    } else {
      for (int a = 0; a < h.strides.size(); ++a)
        if (!keepdims || !contains(axes, a)) kept.push_back(h.strides[a]);
    }
    l.kept_strides.push_back(kept);
  }
  if (text.reduce_dims) {
    catena::merge_axes(l.kept, l.kept_strides);
    catena::merge_axes(l.reduced, l.reduced_strides);
  }
  const auto not_empty = [](Shape& shape, std::vector<Strides>& strides) {
    if (!shape.empty()) return;
    shape.push_back(1);
    for (Strides& s : strides) s.push_back(0);
  };
  not_empty(l.kept, l.kept_strides);
  not_empty(l.reduced, l.reduced_strides);
  return l;
}

void run(internal::KernelArguments& arguments, const KernelText& text, const Shape& in, const Dims& axes,
         bool keepdims) {
  arguments.separate(true);
  const Layout l = lay_out(arguments, text, in, axes, keepdims);
  const std::int64_t outputs = catena::size_of(l.kept), count = catena::size_of(l.reduced);

  KernelVariant variant;
  variant.rank = static_cast<std::uint8_t>(l.kept.size());
  variant.reduced_rank = static_cast<std::uint8_t>(l.reduced.size());
  variant.index32 = std::max(outputs, count) <= std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> words(sizeof(catena::user::ReduceWork) / sizeof(std::int64_t));
  for (const Shape* shape : {&l.kept, &l.reduced}) {
    words.push_back(catena::size_of(*shape));
    words.insert(words.end(), shape->begin(), shape->end());
  }
  for (std::size_t k = 0, moving = 0; k < arguments.size(); ++k) {
    if (arguments.add_fixed(k, variant, words)) continue;
    words.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(arguments.array(k)->data)));
    words.insert(words.end(), l.kept_strides[moving].begin(), l.kept_strides[moving].end());
    if (k < text.nin) words.insert(words.end(), l.reduced_strides[moving].begin(), l.reduced_strides[moving].end());
    variant.parameters.push_back({arguments.dtype(k), Form::strided, 0});
    ++moving;
  }
  UserKernelCall call;
  call.text = &text;
  call.variant = &variant;
  call.words = words;
  call.size = outputs;
  call.count = count;
  call.columns = std::abs(l.kept_strides[0].back()) < std::abs(l.reduced_strides[0].back());
  arguments.launch(call);
}

}  // namespace

ReductionKernel::ReductionKernel(std::string_view in_params, std::string_view out_params, std::string_view map_expr,
                                 std::string_view reduce_expr, std::string_view post_map_expr,
                                 std::optional<std::string_view> identity, std::string_view name,
                                 const ReductionKernelOptions& options) {
  KernelText text;
  text.kind = KernelText::Kind::reduction;
  text.name = name;
  text.label = describe(text);
  text.parameters = parse_parameters(text.label, in_params);
  text.nin = text.parameters.size();
  for (KernelParameter& p : parse_parameters(text.label, out_params, true)) text.parameters.push_back(std::move(p));
  text.map = map_expr;
  text.reduce = reduce_expr;
  text.post_map = post_map_expr;
  if (identity) text.identity = std::string(*identity);
  text.reduce_type = options.reduce_type;
  text.reduce_dims = options.reduce_dims;
  text.preamble = options.preamble;
  text.options = options.options;
  internal::check_kernel(text);
  check<ValueError>(text.nout() > 0, text.label, "a reduction needs an output");
  text_ = intern(std::move(text));
}

std::vector<Array> internal::call_kernel(const KernelText& text, std::span<const Operand> args,
                                         const ReductionCallOptions& options) {
  std::vector<Operand> with_out;
  if (!options.out.is_null()) {
    check<NotImplementedError>(text.nout() == 1, text.label, "has ", text.nout(),
                               " outputs, which must be given as arguments");
    check<ValueError>(args.size() != text.parameters.size(), text.label, "the output is given twice");
    with_out.assign(args.begin(), args.end());
    with_out.emplace_back(options.out);
    args = with_out;
  }
  KernelArguments arguments(text, args, options.stream);
  const Shape in = input_shape(arguments, text);
  const Dims axes = catena::reduced_axes(text.label, options.axis, in.size());
  check_raw(arguments, text, axes);
  const Shape shape = catena::reduced_shape(in, axes, options.keepdims);
  const bool nothing = catena::size_of(in) == 0 && catena::size_of(shape) != 0;
  check<ValueError>(!nothing || text.identity.has_value(), text.label, "shape ", in, " has no elements along axes ",
                    axes, ", and the kernel has no identity");
  prepare_outputs(arguments, text, shape);
  if (catena::size_of(shape) != 0) run(arguments, text, in, axes, options.keepdims);
  return arguments.outputs();
}

std::vector<Array> ReductionKernel::call(std::span<const Operand> args, const ReductionCallOptions& options) const try {
  return internal::call_kernel(*text_, args, options);
} catch (...) {
  catena::rethrow_standard(name());
}

KernelResult ReductionKernel::operator()(std::initializer_list<Operand> args, const ReductionCallOptions& options) const
    try {
  check<TypeError>(nout() <= 2, text_->label, "has ", nout(), " outputs; write auto [u, v, w] = kernel.call<3>(...)");
  return KernelResult(*text_, call({args.begin(), args.size()}, options));
} catch (...) {
  catena::rethrow_standard(name());
}

const std::vector<KernelParameter>& ReductionKernel::params() const noexcept { return text_->parameters; }
int ReductionKernel::nin() const noexcept { return static_cast<int>(text_->nin); }
int ReductionKernel::nout() const noexcept { return static_cast<int>(text_->nout()); }
int ReductionKernel::nargs() const noexcept { return nin() + nout(); }
const std::string& ReductionKernel::name() const noexcept { return text_->name; }

}  // namespace nd
