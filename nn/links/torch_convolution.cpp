#include <catena/nn/links/torch_convolution.h>

#include <algorithm>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/nn/functions/torch_batches.h>
#include <catena/nn/functions/torch_images.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>

namespace nn::internal {

using catena::check;
using catena::Dims;
using catena::ValueError;

namespace {

Pair pair_of(const char* name, const Lengths& lengths) {
  const Dims both = lengths.of("Conv2d", name, 2);
  return {int(both[0]), int(both[1])};
}

// Returns the name of a mode in pad_last.
const char* mode_of(const char* layer, std::string_view padding_mode) {
  if (padding_mode == "zeros") return "constant";
  for (const char* const mode : {"reflect", "replicate", "circular"})
    if (padding_mode == mode) return mode;
  catena::fail<ValueError>(layer, "padding_mode is \"", padding_mode,
                           "\"; the modes are \"zeros\", \"reflect\", \"replicate\" and \"circular\"");
}

}  // namespace

ExplicitPadding::ExplicitPadding(const char* layer, int axes, const Lengths& kernel, const ConvOptions& o)
    : rest(o.padding), mode_(mode_of(layer, o.padding_mode)) {
  Dims both = o.padding.of(layer, "padding", axes), behind = Dims::filled(axes, 0);
  if (o.padding.same()) {
    const SamePadding same = same_padding(layer, kernel.of(layer, "kernel_size", axes), o.stride, o.dilation);
    both = same.both;
    behind = same.behind;
    rest = Lengths(both);
  }
  const bool is_odd = std::any_of(behind.begin(), behind.end(), [](std::int64_t n) { return n != 0; });
  if (std::string_view(mode_) == "constant" && !is_odd) return;
  is_given_ = true;
  rest = Lengths(0);
  before_ = both;
  behind_ = both;
  for (int a = 0; a < axes; ++a) behind_[a] += behind[a];
}

Variable ExplicitPadding::added_to(const Variable& x) const {
  check<ValueError>(x.ndim() >= before_.size(), "Conv", "x has the shape ", x.shape(), ", which has less than ",
                    before_.size(), " spatial axes");
  std::vector<catena::Integer> widths;
  for (int a = before_.size() - 1; a >= 0; --a) {
    widths.emplace_back(before_[a]);
    widths.emplace_back(behind_[a]);
  }
  return pad_last(x, widths, PadModeOptions{.mode = mode_});
}

void check_transposed_padding(std::string_view padding_mode) {
  check<ValueError>(padding_mode == "zeros", "ConvTranspose", "padding_mode is \"", padding_mode,
                    "\"; a transposed convolution has only \"zeros\"");
}

const Lengths& kernel_of_layer(const char* layer, const std::optional<Lengths>& kernel) {
  check<ValueError>(kernel.has_value(), layer, "kernel_size is missing");
  return *kernel;
}

Conv2dBase::Conv2dBase(std::optional<int> in, int out, const Lengths& kernel, const ConvOptions& o,
                       const Lengths& padding)
    : Convolution2D(in, out, pair_of("kernel_size", kernel),
                    Convolution2DOptions{.stride = pair_of("stride", o.stride),
                                         .pad = pair_of("padding", padding),
                                         .dilate = pair_of("dilation", o.dilation),
                                         .groups = o.groups,
                                         .nobias = !o.bias}) {}
ConvTranspose2dBase::ConvTranspose2dBase(std::optional<int> in, int out, const Lengths& kernel,
                                         const ConvTransposeOptions& o)
    : Deconvolution2D(in, out, pair_of("kernel_size", kernel),
                      Deconvolution2DOptions{.stride = pair_of("stride", o.stride),
                                             .pad = pair_of("padding", o.padding),
                                             .dilate = pair_of("dilation", o.dilation),
                                             .groups = o.groups,
                                             .nobias = !o.bias}) {}

template <int axes, class Base> Variable ConvOf<axes, Base>::operator()(const Variable& x) {
  if (!padding_.is_given() || !x) return Base::operator()(x);
  LinkCall called(*this, x);
  return called(Base::operator()(padding_.added_to(x)));
}

template <int axes, class Base> Variable ConvTransposeOf<axes, Base>::operator()(const Variable& x) {
  const Dims more = options_.output_padding.of("ConvTranspose", "output_padding", axes);
  if (std::all_of(more.begin(), more.end(), [](std::int64_t n) { return n == 0; })) return Base::operator()(x);
  this->update_handles();
  LinkCall called(*this, x);
  try {
    if (!this->W.is_initialized()) {
      check_ndim(x, axes + 2);
      grouped(kFirstCall, "in_channels", x.shape(1), options_.groups);
      Shape shape{x.shape(1), this->out_channels / options_.groups};
      for (const std::int64_t k : kernel_) shape.push_back(k);
      this->W.initialize(shape);
    }
    return called(conv_transpose(axes, x, this->W, handle_of(this->b),
                                 {.stride = options_.stride,
                                  .padding = options_.padding,
                                  .output_padding = options_.output_padding,
                                  .groups = options_.groups,
                                  .dilation = options_.dilation}));
  } catch (...) {
    rethrow_at(*this, "ConvTranspose", filter_detail(x, this->W, 0, 1));
  }
}

template class ConvOf<1, ConvNdBase<1>>;
template class ConvOf<2, Conv2dBase>;
template class ConvOf<3, ConvNdBase<3>>;
template class ConvTransposeOf<1, ConvTransposeNdBase<1>>;
template class ConvTransposeOf<2, ConvTranspose2dBase>;
template class ConvTransposeOf<3, ConvTransposeNdBase<3>>;

}  // namespace nn::internal
