// Convolution layers with PyTorch's names and options. Parameters have the keys of the classes from which they derive
// (W, b) and their initial values.
//
//   nn::Conv2d(3, 64, 3, {.padding = 1}), nn::Conv2d(3, 64, 3, 1, "same"), nn::Conv2d(3, 64, {.kernel_size = {3, 5}})
//   nn::LazyConv2d(64, 3)                       the first call determines the number of input channels
//
// Lengths are one for all axes or one for each. ValueError for other texts than those of the options.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <catena/nn/functions/torch_convolution.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>

namespace nn {

// Options of Conv1d to Conv3d.
struct ConvOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> in_channels = {}, out_channels = {};  // these three in place of the arguments
  OptionalLengths kernel_size = {};
  Lengths stride = 1;
  Padding padding = 0;
  Lengths dilation = 1;
  int groups = 1;
  bool bias = true;
  std::string_view padding_mode = "zeros";  // or "reflect", "replicate", "circular"
  LayerDevice device = {};
  LayerDtype dtype = {};
};
// Options of ConvTranspose1d to ConvTranspose3d.
struct ConvTransposeOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> in_channels = {}, out_channels = {};
  OptionalLengths kernel_size = {};
  Lengths stride = 1, padding = 0;
  Lengths output_padding = 0;  // the result is longer by it at its end
  int groups = 1;
  bool bias = true;
  Lengths dilation = 1;
  std::string_view padding_mode = "zeros";  // the only one (ValueError for others)
  LayerDevice device = {};
  LayerDtype dtype = {};
};
using Conv2dOptions = ConvOptions;

namespace internal {
// The padding that a layer adds to x before its convolution, where that of the convolution itself is not enough.
struct CATENA_EXPORT ExplicitPadding {
  ExplicitPadding(const char* layer, int axes, const Lengths& kernel, const ConvOptions& o);
  bool is_given() const noexcept { return is_given_; }
  Lengths rest;  // the padding of the convolution
  Variable added_to(const Variable& x) const;

 private:
  bool is_given_ = false;
  catena::Dims before_, behind_;
  const char* mode_;  // of pad_last
};

class CATENA_EXPORT Conv2dBase : public Convolution2D {
 protected:
  Conv2dBase(std::optional<int> in, int out, const Lengths& kernel, const ConvOptions& o, const Lengths& padding);
};
template <int axes> class CATENA_EXPORT ConvNdBase : public ConvolutionND {
 protected:
  ConvNdBase(std::optional<int> in, int out, const Lengths& kernel, const ConvOptions& o, const Lengths& padding)
      : ConvolutionND(axes, in, out, kernel,
                      ConvolutionNDLinkOptions{.stride = o.stride,
                                               .pad = padding,
                                               .dilate = o.dilation,
                                               .groups = o.groups,
                                               .initial_bias = o.bias ? Initializer(0.0) : Initializer()}) {}
};
template <class Options, class P> Options with_lengths(Options options, const Lengths& stride, const P& padding) {
  options.stride = stride;
  options.padding = padding;
  return options;
}
CATENA_EXPORT void check_transposed_padding(std::string_view padding_mode);
CATENA_EXPORT const Lengths& kernel_of_layer(const char* layer, const std::optional<Lengths>& kernel);

template <int axes, class Base> class CATENA_EXPORT ConvOf : public Base {
 public:
  using Options = ConvOptions;
  ConvOf(std::optional<int> in, int out, const Lengths& kernel, const Options& o = {})
      : ConvOf(in, out, kernel, o, ExplicitPadding("Conv", axes, kernel, o)) {}
  ConvOf(std::optional<int> in, int out, const Options& o)
      : ConvOf(in, out, kernel_of_layer("Conv", o.kernel_size), o) {}
  // Conv2d({.in_channels = 3, .out_channels = 8, .kernel_size = 3})
  template <std::same_as<Options> O = Options>
  explicit ConvOf(const O& o) : ConvOf(o.in_channels, required("Conv", "out_channels", o.out_channels), o) {}
  ConvOf(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride, const Padding& padding = 0,
         const Lengths& dilation = 1, int groups = 1, bool has_bias = true)
      : ConvOf(
            in, out, kernel,
            Options{.stride = stride, .padding = padding, .dilation = dilation, .groups = groups, .bias = has_bias}) {}
  // Conv2d(3, 8, 3, 1, 1, {.bias = false})
  template <std::same_as<Options> O = Options>
  ConvOf(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride, const Padding& padding,
         const O& others)
      : ConvOf(in, out, kernel, with_lengths(others, stride, padding)) {}

  NN_MEMBERS_OF(Base)
  Variable operator()(const Variable& x);

 private:
  ConvOf(std::optional<int> in, int out, const Lengths& kernel, const Options& o, const ExplicitPadding& padding)
      : Base(in, out, kernel, o, padding.rest), padding_(padding) {
    place(*this, o.device, o.dtype);
  }
  ExplicitPadding padding_;
};

class CATENA_EXPORT ConvTranspose2dBase : public Deconvolution2D {
 protected:
  ConvTranspose2dBase(std::optional<int> in, int out, const Lengths& kernel, const ConvTransposeOptions& o);
};
template <int axes> class CATENA_EXPORT ConvTransposeNdBase : public DeconvolutionND {
 protected:
  ConvTransposeNdBase(std::optional<int> in, int out, const Lengths& kernel, const ConvTransposeOptions& o)
      : DeconvolutionND(
            axes, in, out, kernel,
            DeconvolutionNDLinkOptions{
                .stride = o.stride, .pad = o.padding, .dilate = o.dilation, .groups = o.groups, .nobias = !o.bias}) {}
};
template <int axes, class Base> class CATENA_EXPORT ConvTransposeOf : public Base {
 public:
  using Options = ConvTransposeOptions;
  ConvTransposeOf(std::optional<int> in, int out, const Lengths& kernel, const Options& o = {})
      : Base(in, out, kernel, o), options_(o), kernel_(kernel.of("ConvTranspose", "kernel_size", axes)) {
    check_transposed_padding(o.padding_mode);
    place(*this, o.device, o.dtype);
  }
  ConvTransposeOf(std::optional<int> in, int out, const Options& o)
      : ConvTransposeOf(in, out, kernel_of_layer("ConvTranspose", o.kernel_size), o) {}
  template <std::same_as<Options> O = Options>
  explicit ConvTransposeOf(const O& o)
      : ConvTransposeOf(o.in_channels, required("ConvTranspose", "out_channels", o.out_channels), o) {}
  ConvTransposeOf(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride,
                  const Lengths& padding = 0, const Lengths& output_padding = 0, int groups = 1, bool has_bias = true,
                  const Lengths& dilation = 1)
      : ConvTransposeOf(in, out, kernel,
                        Options{.stride = stride,
                                .padding = padding,
                                .output_padding = output_padding,
                                .groups = groups,
                                .bias = has_bias,
                                .dilation = dilation}) {}
  // ConvTranspose2d(3, 8, 4, 2, 1, {.bias = false})
  template <std::same_as<Options> O = Options>
  ConvTransposeOf(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride, const Lengths& padding,
                  const O& others)
      : ConvTransposeOf(in, out, kernel, with_lengths(others, stride, padding)) {}

  NN_MEMBERS_OF(Base)
  Variable operator()(const Variable& x);

 private:
  Options options_;
  catena::Dims kernel_;
};

// Layer(out, ...) for Layer(in, out, ...), whose number of inputs the first call determines.
template <class Layer> class LazyConvOf : public Layer {
 public:
  using typename Layer::Options;
  LazyConvOf(int out, const Lengths& kernel, const Options& o = {}) : Layer(std::nullopt, out, kernel, o) {}
  LazyConvOf(int out, const Options& o) : Layer(std::nullopt, out, o) {}
  template <std::same_as<Options> O = Options> explicit LazyConvOf(const O& o) : Layer(o) {}
  template <class P = Lengths>
  LazyConvOf(int out, const Lengths& kernel, const Lengths& stride, const P& padding = 0)
      : Layer(std::nullopt, out, kernel, stride, padding) {}
};
}  // namespace internal

// Convolutions over one to three axes. padding "same" keeps the lengths, with a stride of 1 (ValueError for others);
// for the modes of padding see pad().
struct Conv1d : internal::ConvOf<1, internal::ConvNdBase<1>> {
  using ConvOf::ConvOf;
};
struct Conv2d : internal::ConvOf<2, internal::Conv2dBase> {
  using ConvOf::ConvOf;
};
struct Conv3d : internal::ConvOf<3, internal::ConvNdBase<3>> {
  using ConvOf::ConvOf;
};
// Transposed convolutions. ValueError in the call unless output_padding is less than the stride or the dilation.
struct ConvTranspose1d : internal::ConvTransposeOf<1, internal::ConvTransposeNdBase<1>> {
  using ConvTransposeOf::ConvTransposeOf;
};
struct ConvTranspose2d : internal::ConvTransposeOf<2, internal::ConvTranspose2dBase> {
  using ConvTransposeOf::ConvTransposeOf;
};
struct ConvTranspose3d : internal::ConvTransposeOf<3, internal::ConvTransposeNdBase<3>> {
  using ConvTransposeOf::ConvTransposeOf;
};
using LazyConv1d = internal::LazyConvOf<Conv1d>;
using LazyConv2d = internal::LazyConvOf<Conv2d>;
using LazyConv3d = internal::LazyConvOf<Conv3d>;
using LazyConvTranspose1d = internal::LazyConvOf<ConvTranspose1d>;
using LazyConvTranspose2d = internal::LazyConvOf<ConvTranspose2d>;
using LazyConvTranspose3d = internal::LazyConvOf<ConvTranspose3d>;

}  // namespace nn
