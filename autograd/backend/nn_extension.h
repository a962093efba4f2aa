// NnExtension: the neural-network operations that vendor libraries offer. The class itself is the portable
// implementation, built on the value API alone, so it works on every backend; a backend that knows better derives from
// it and overrides what it can (Backend::find_extension), leaving the rest.
//
//   Array y = nn_extension(x).convolution(x, w, b, {.stride = {2, 2}, .pad = {1, 1}, .dilate = {1, 1}});
//
// Spatial axes are all after the first two (images: N, C, H, W); specs have one entry for each. Every result is a new
// array; layouts in memory may be any: convolutions may give channels-last memory behind the logical (N, C, ...) axes.
//
// The public functions check shapes, let 16-bit floats be computed in float32 and rounded once, and call a do_ function
// with operands of one dtype: float32 or float64, or a 16-bit one where the implementation asks for it.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string_view>
#include <vector>

#include <catena/autograd/array.h>

namespace autograd {

// Positions of a window of k (taps at distance d) that moves by s over size + 2 p; with cover_all every element is in a
// window.
CATENA_EXPORT std::int64_t get_conv_outsize(std::int64_t size, std::int64_t k, std::int64_t s, std::int64_t p,
                                            bool cover_all = false, std::int64_t d = 1);
CATENA_EXPORT std::int64_t get_deconv_outsize(std::int64_t size, std::int64_t k, std::int64_t s, std::int64_t p,
                                              bool cover_all = false);

struct ConvolutionSpec {
  Dims stride, pad, dilate;  // dilate empty: 1 everywhere
  std::int64_t groups = 1;   // w is (outputs, inputs / groups, k...)
  bool cover_all = false;
  bool deterministic = false;
};

struct PoolingSpec {
  Dims size, stride, pad;
  bool cover_all = false;
};

// ---- recurrent networks ----
enum class RnnMode : std::uint8_t { relu, tanh, lstm, gru };
// Matrices, and biases, of one layer in one direction: the first half is for the input, the second for the state
// before.
//   relu, tanh  h' = act(W0 x + b0 + W1 h + b1)
//   lstm        i = s(W0 x + b0 + W4 h + b4), f = s(W1 x + b1 + W5 h + b5), a = tanh(W2 x + b2 + W6 h + b6),
//               o = s(W3 x + b3 + W7 h + b7); c' = f c + i a, h' = o tanh(c')
//   gru         r = s(W0 x + b0 + W3 h + b3), z = s(W1 x + b1 + W4 h + b4), a = tanh(W2 x + b2 + r (W5 h + b5)); h' =
//   (1 - z) a + z h
CATENA_EXPORT int rnn_matrices(RnnMode mode) noexcept;

// Layer k > 0 reads what the layer below gave, both directions side by side, after dropout: its mask is that of the row
// "dropout" for (seed, offsets[k - 1]), so it is the same in rnn_backward and with every implementation.
struct RnnSpec {
  RnnMode mode = RnnMode::lstm;
  std::int64_t layers = 1;
  bool bidirectional = false;
  bool training = true;  // false: no dropout, and rnn_backward is impossible
  double dropout = 0;
  std::uint64_t seed = 0;
  std::vector<Operand>
      offsets;  // layers - 1 of them where there is dropout: see Generator::take for the elements of the layer's input
};

// Sequences in order of decreasing length, packed: the rows of all at time 0, of all that are longer than 1 at time 1,
// ...
struct RnnOperands {
  Array x;                            // (rows of all times, inputs)
  std::vector<std::int64_t> batches;  // rows at each time: they never become more
  Array hx, cx;                       // (layers * directions, batches[0], units), layer by layer; cx for lstm alone
  std::vector<Array> ws, bs;  // rnn_matrices() for each in the order of hx; (units, what it multiplies) and (units)
};

struct RnnResult {
  Array y;       // (rows of all times, units * directions), of the last layer
  Array hy, cy;  // the states after each sequence's last element, in the shape of hx; cy of lstm alone
  // What rnn_backward needs; the implementation's own. Nothing in it is changed by anybody.
  std::vector<Array> saved;
  std::vector<RnnResult> parts;
};
// Null: not given, which is zero.
struct RnnOutputGradients {
  Array gy, ghy, gcy;
};
struct RnnGradients {
  Array gx, ghx, gcx;
  std::vector<Array> gws, gbs;
};

class CATENA_EXPORT NnExtension {
 public:
  static constexpr std::string_view kName = "nn";
  NnExtension() = default;
  NnExtension(const NnExtension&) = delete;
  NnExtension& operator=(const NnExtension&) = delete;
  virtual ~NnExtension();

  // Cross-correlation of x (N, C, spatial...) with w; b is (outputs) or null. In x's dtype. AssertionError when an
  // output length is not positive.
  Array convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& spec);
  // The gradient of its x: gy (N, outputs, out...) to (N, C, spatial...). In gy's dtype.
  Array convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial, const ConvolutionSpec& spec);
  // The gradient of its w, whose spatial lengths are `kernel`.
  Array convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel, Dtype dtype,
                                    const ConvolutionSpec& spec);

  // {y, indexes}: indexes (int32) are row-major positions in the window, padding included; the first maximum wins. A
  // window in the padding gives -inf and an index outside x.
  Arrays max_pooling(const Array& x, const PoolingSpec& spec);
  Array max_pooling_backward(const Array& gy, const Array& indexes, const Dims& spatial, const PoolingSpec& spec);
  // x at the positions that indexes name: the derivative of max_pooling_backward.
  Array max_pooling_by_index(const Array& x, const Array& indexes, const PoolingSpec& spec);
  // Window sum over the number of its elements: the padding counts.
  Array average_pooling(const Array& x, const PoolingSpec& spec);
  Array average_pooling_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec);

  // Over `axes` of x; gamma and beta broadcast to x with length 1 along `axes`. {y, mean, biased variance, 1 /
  // sqrt(variance + eps)}, the statistics with length 1 along `axes`, in float32 for 16-bit x.
  Arrays batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes);
  // {gx, ggamma, gbeta}; mean and inv_std as batch_normalization gave them. ggamma and gbeta keep `axes` with length 1.
  Arrays batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                      const Array& inv_std, const Dims& axes);
  // All operands broadcast to x.
  Array fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                  const Array& var, double eps);

  // A recurrent network; all results in x's dtype. ValueError where operands do not fit each other.
  RnnResult rnn(const RnnOperands& operands, const RnnSpec& spec);
  // The gradients of everything, each in the shape and dtype of what it is for; `result` is what rnn gave for the same
  // operands and spec.
  RnnGradients rnn_backward(const RnnOperands& operands, const RnnSpec& spec, const RnnResult& result,
                            const RnnOutputGradients& g);

  // x (N, C, spatial...) to (N, C, k..., out...), positions outside x being 0, and the adjoint.
  Array im2col(const Array& x, const Dims& kernel, const ConvolutionSpec& spec);
  Array col2im(const Array& col, const Dims& spatial, const ConvolutionSpec& spec);

 protected:
  // The dtype of what the do_ functions of convolutions get for operands of `dtype`: float32 for the 16-bit floats. An
  // implementation that multiplies those as they are, sums in float32 and rounds once returns `dtype`.
  virtual Dtype convolution_dtype(Dtype dtype) const;
  virtual Array do_convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& spec,
                               const Dims& out);
  virtual Array do_convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial,
                                             const ConvolutionSpec& spec);
  virtual Array do_convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel,
                                               const ConvolutionSpec& spec);
  virtual Arrays do_max_pooling(const Array& x, const PoolingSpec& spec, const Dims& out);
  virtual Array do_max_pooling_backward(const Array& gy, const Array& indexes, const Dims& spatial,
                                        const PoolingSpec& spec);
  virtual Array do_max_pooling_by_index(const Array& x, const Array& indexes, const PoolingSpec& spec);
  virtual Array do_average_pooling(const Array& x, const PoolingSpec& spec, const Dims& out);
  virtual Array do_average_pooling_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec);
  virtual Arrays do_batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps,
                                        const Dims& axes);
  virtual Arrays do_batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                                 const Array& inv_std, const Dims& axes);
  virtual Array do_fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                             const Array& var, double eps);
  // No dropout, float32 or float64; of a single layer where the call has dropout. `result` is what do_rnn of the same
  // object gave.
  virtual RnnResult do_rnn(const RnnOperands& operands, const RnnSpec& spec);
  virtual RnnGradients do_rnn_backward(const RnnOperands& operands, const RnnSpec& spec, const RnnResult& result,
                                       const RnnOutputGradients& g);
  virtual Array do_im2col(const Array& x, const Dims& kernel, const ConvolutionSpec& spec, const Dims& out);
  virtual Array do_col2im(const Array& col, const Dims& spatial, const ConvolutionSpec& spec);
};

// The implementation for x's backend and device: its own or the portable one.
CATENA_EXPORT NnExtension& nn_extension(const Array& x);
CATENA_EXPORT NnExtension& portable_nn_extension();

// Which implementation ran this thread's last NnExtension operation: "portable", "onednn", "cudnn"; "" before the
// first.
CATENA_EXPORT std::string_view last_implementation() noexcept;
// For implementations.
CATENA_EXPORT void set_last_implementation(std::string_view name) noexcept;  // a literal

}  // namespace autograd
