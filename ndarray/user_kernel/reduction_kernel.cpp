#include <catena/ndarray/user_kernel/reduction_kernel.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include <catena/kernels/device/user_parameters.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/user_kernel/kernel_arguments.h>

namespace nd {
namespace {

using catena::check;
using Form = BoundParameter::Form;

bool contains(const Dims& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

void check_raw(const internal::KernelArguments& arguments, const KernelText& text, const Dims& axes) {
  for (int k = 0; k < axes.size(); ++k)
    if (axes[k] != k)
      for (std::size_t p = 0; p < arguments.size(); ++p)
        check<NotImplementedError>(!arguments.parameter(p).raw || arguments.array(p) == nullptr, text.label,
                                   "the parameter ", arguments.parameter(p).name,
                                   " is raw, which needs the reduced axes to be the leading ones; they are ", axes);
}

struct Axes {
  internal::LoopAxes kept, reduced;  // strides of outputs are in `kept` only, behind those of the inputs
};

Axes axes_of(const internal::KernelArguments& arguments, const KernelText& text, const Shape& in, const Dims& axes,
             bool keepdims) {
  Axes l;
  for (int a = 0; a < in.size(); ++a) (contains(axes, a) ? l.reduced : l.kept).shape.push_back(in[a]);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments.is_moving(k)) continue;
    const catena::ArrayHeader& h = *arguments.array(k);
    Strides kept, reduced;
    if (k < text.nin) {
      const Strides all = catena::broadcast_strides(text.label, h.shape, h.strides, in);
      for (int a = 0; a < in.size(); ++a) (contains(axes, a) ? reduced : kept).push_back(all[a]);
      l.reduced.strides.push_back(reduced);
    } else {
      for (int a = 0; a < h.strides.size(); ++a)
        if (!keepdims || !contains(axes, a)) kept.push_back(h.strides[a]);
    }
    l.kept.strides.push_back(kept);
  }
  l.kept.normalize(text.reduce_dims);
  l.reduced.normalize(text.reduce_dims);
  return l;
}

// Sets how the work is divided: neighbouring outputs per block, 32 if their elements are neighbours (`columns`) and
// more if an output has few elements; and parts per output, if there are too few outputs to fill a device. Depends only
// on the call, so that results depend neither on the device nor on the number of threads.
void divide(catena::user::ReduceWork& work, bool columns, Device device) {
  constexpr std::int64_t kManyOutputs = 64;            // the CPU splits reductions to fewer outputs
  constexpr std::int64_t kBlocks = 512, kRounds = 16;  // blocks that fill a GPU; elements per thread that pay
  constexpr std::int64_t kThreads = catena::user::kReductionBlock;
  if (device.kind == Device::Kind::cpu) {
    if (work.outputs < kManyOutputs)
      work.splits = std::clamp<std::int64_t>(work.count / internal::kHostGrain, 1, kManyOutputs);
    return;
  }
  const std::int64_t few =
      kThreads / static_cast<std::int64_t>(
                     std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(work.count, 1, kThreads))));
  work.width = columns && work.outputs >= 32 ? std::max<std::int64_t>(few, 32) : few;
  const std::int64_t blocks = (work.outputs + work.width - 1) / work.width;
  work.splits =
      std::clamp<std::int64_t>(std::min(work.count / (kThreads / work.width * kRounds), kBlocks / blocks), 1, kThreads);
}

// Launches a reduction whose parameters are `words`, which begin with `work`.
void reduce(const internal::LoadedText& code, catena::user::ReduceWork work, std::vector<std::int64_t>& words,
            StreamRef stream) {
  // Freed after the launches are enqueued: the pool reuses the memory in the order of the stream.
  std::unique_ptr<Storage, void (*)(Storage*)> partial(nullptr, [](Storage* s) { catena::release(s); });
  if (work.splits > 1) {
    const auto accumulators = static_cast<std::size_t>(work.outputs * work.splits);
    partial.reset(new_storage(accumulators * code.accumulator_bytes, stream.device));
    work.partial = partial->data;
  }
  std::memcpy(words.data(), &work, sizeof work);
  const std::int64_t each = std::max<std::int64_t>(work.count / work.splits, 1);
  LaunchShape shape =
      internal::launch_shape(stream.device, work.outputs, each, catena::user::kReductionBlock, work.width);
  shape.grid[1] = static_cast<unsigned>(work.splits);
  code.launch(code.entry, shape, words, stream);
  if (work.splits == 1) return;
  shape = internal::launch_shape(stream.device, work.outputs, work.splits, catena::user::kReductionBlock, 1);
  code.launch(code.second, shape, words, stream);
}

void run(internal::KernelArguments& arguments, const KernelText& text, const Shape& in, const Dims& axes,
         bool keepdims) {
  arguments.separate(true);
  const auto [kept, reduced] = axes_of(arguments, text, in, axes, keepdims);
  catena::user::ReduceWork work{catena::size_of(kept.shape), catena::size_of(reduced.shape), 1, 1, nullptr};

  KernelVariant variant;
  variant.rank = static_cast<std::uint8_t>(kept.shape.size());
  variant.reduced_rank = static_cast<std::uint8_t>(reduced.shape.size());
  variant.index32 = std::max(work.outputs, work.count) <= std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> words(sizeof work / sizeof(std::int64_t));
  for (const Shape* shape : {&kept.shape, &reduced.shape}) {
    words.push_back(catena::size_of(*shape));
    words.insert(words.end(), shape->begin(), shape->end());
  }
  for (std::size_t k = 0, moving = 0; k < arguments.size(); ++k) {
    if (arguments.add_fixed(k, variant, words)) continue;
    words.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(arguments.array(k)->data)));
    if (k < text.nin) words.insert(words.end(), reduced.strides[moving].begin(), reduced.strides[moving].end());
    words.insert(words.end(), kept.strides[moving].begin(), kept.strides[moving].end());
    variant.parameters.push_back({arguments.dtype(k), Form::strided, 0});
    ++moving;
  }
  divide(work, std::abs(kept.strides[0].back()) < std::abs(reduced.strides[0].back()), arguments.device());
  arguments.launch(variant,
                   [&](const internal::LoadedText& code, StreamRef stream) { reduce(code, work, words, stream); });
}

}  // namespace

ReductionKernel::ReductionKernel(std::string_view in_params, std::string_view out_params, std::string_view map_expr,
                                 std::string_view reduce_expr, std::string_view post_map_expr,
                                 std::optional<std::string_view> identity, std::string_view name,
                                 const ReductionKernelOptions& options)
    : TextKernel([&] {
        KernelText text = internal::text_of(KernelText::Kind::reduction, name, in_params, out_params, options);
        text.map = map_expr;
        text.reduce = reduce_expr;
        text.post_map = post_map_expr;
        if (identity) text.identity = std::string(*identity);
        text.reduce_type = options.reduce_type;
        internal::check_kernel(text);
        check<ValueError>(text.nout() > 0, text.label, "a reduction needs an output");
        return intern(std::move(text));
      }()) {}

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
  const std::optional<Shape> inputs = arguments.common_shape(text.nin);
  check<ValueError>(inputs.has_value(), text.label, "at least one input must be an array that is not raw");
  const Shape& in = *inputs;
  const Dims axes = catena::reduced_axes(text.label, options.axis, in.size());
  check_raw(arguments, text, axes);
  const Shape shape = catena::reduced_shape(in, axes, options.keepdims);
  const bool nothing = catena::size_of(in) == 0 && catena::size_of(shape) != 0;
  check<ValueError>(!nothing || text.identity.has_value(), text.label, "shape ", in, " has no elements along axes ",
                    axes, ", and the kernel has no identity");
  arguments.prepare_outputs(shape, "the result", false);
  if (catena::size_of(shape) != 0) run(arguments, text, in, axes, options.keepdims);
  return arguments.outputs();
}

}  // namespace nd
