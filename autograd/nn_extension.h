// Folder autograd/nn_extension: interface, checks and portable implementation of a backend's neural-network operations.
// Implementations by cuDNN and oneDNN are in autograd/ndarray_backend, differentiable functions in nn/functions. This
// folder may use autograd, autograd/backend and kernels.
//
// NnExtension: the neural-network operations of vendor libraries. The class itself is the portable implementation on
// the value API, so it works with every backend. A backend with a faster implementation derives from it and overrides
// some functions (Backend::find_extension).
//
//   Array y = nn_extension(x).convolution(x, w, b, {.stride = {2, 2}, .pad = {1, 1}, .dilate = {1, 1}});
//
// Spatial axes are all axes after the first two (images: N, C, H, W); specs have one entry for each. Every result is a
// new array. Arrays may have any memory layout; convolutions may return channels-last memory behind the logical (N, C,
// ...) axes.
//
// The public functions check shapes and call a do_ function with operands of one dtype.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <catena/autograd/backend/operand.h>

namespace autograd {

// Returns the number of positions of a window of k elements at distance d that moves by s over size + 2 p elements.
// With cover_all the last window may extend beyond the padding, so that every element is in a window.
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

// A convolution with the result y, or the gradient of one of its operands for the gradient of y. The arrays have one
// floating dtype; the result and an absent bias are null.
struct Convolution {
  enum class Pass : std::uint8_t { forward, data, filter };  // computes y from x, w, b; x from w, y; w from x, y
  Pass pass;
  ConvolutionSpec spec;             // one entry for each axis
  Shape x_shape, w_shape, y_shape;  // (N, C, spatial...), (outputs, inputs / groups, k...), (N, outputs, out...)
  Array x, w, y, b;

  const Array& images() const { return x ? x : y; }  // the operand x, or y where x is the result
};

struct PoolingSpec {
  Dims size, stride, pad;
  bool cover_all = false;
};

// ---- recurrent networks ----
enum class RnnMode : std::uint8_t { relu, tanh, lstm, gru };
// Returns the number of matrices (and of biases) of one layer in one direction. The first half is applied to the input,
// the second half to the previous state.
//   relu, tanh  h' = act(W0 x + b0 + W1 h + b1)
//   lstm        i = s(W0 x + b0 + W4 h + b4), f = s(W1 x + b1 + W5 h + b5), a = tanh(W2 x + b2 + W6 h + b6),
//               o = s(W3 x + b3 + W7 h + b7); c' = f c + i a, h' = o tanh(c')
//   gru         r = s(W0 x + b0 + W3 h + b3), z = s(W1 x + b1 + W4 h + b4),
//               a = tanh(W2 x + b2 + r (W5 h + b5)); h' = (1 - z) a + z h
CATENA_EXPORT int rnn_matrices(RnnMode mode) noexcept;

// Layer k > 0 reads the outputs of layer k - 1, both directions concatenated, after dropout. Each direction d has its
// own mask: the mask of the kernel "dropout" for (seed, offsets[(k - 1) * directions + d]), so rnn_backward and all
// implementations use the same masks.
struct RnnSpec {
  RnnMode mode = RnnMode::lstm;
  std::int64_t layers = 1;
  bool bidirectional = false;
  bool training = true;  // false: no dropout; rnn_backward is then not possible
  double dropout = 0;
  std::uint64_t seed = 0;
  // With dropout, (layers - 1) * directions offsets: the result of Generator::take for the elements of the layer's
  // input, or live_scalar of it. They own their arrays.
  std::vector<Operand> offsets;
  // Set only for do_rnn with one layer and two directions: x has the inputs of direction 0 and, beside them, the inputs
  // of direction 1; the gradient of x has the same layout.
  bool separate_inputs = false;
};

// Sequences in order of decreasing length, packed: first the rows of all sequences at time 0, then the rows at time 1
// of all sequences longer than 1, and so on.
struct RnnOperands {
  Array x;                            // (rows of all times, inputs)
  std::vector<std::int64_t> batches;  // rows at each time, non-increasing
  Array hx, cx;                       // (layers * directions, batches[0], units), layer by layer; cx for lstm only
  // rnn_matrices() arrays for each layer and direction, in the order of hx: ws of shape (units, input or state size),
  // bs of shape (units).
  std::vector<Array> ws, bs;
};

// Statistics that NnExtension::batch_normalization computes beside its result.
struct BatchStatistics {
  bool variance = true;  // false: the variance in the result may be null
  // If not null, C-contiguous averages with one element per channel in the order of gamma, in the dtype of the
  // statistics. They become decay * average + (1 - decay) * statistic in place; of the variance the unbiased one
  // counts: times n / max(n - 1, 1) for n elements per channel.
  Array moving_mean, moving_variance;
  double decay = 0;
};

class NnExtension;
struct RnnResult {
  Array y;  // (rows of all times, units * directions), of the last layer
  // The states after the last element of each sequence, in the shape of hx; cy for lstm only.
  Array hy, cy;
  // Arrays for rnn_backward, which also reads y, but neither hy nor cy. Their content depends on the implementation.
  // They are never modified.
  std::vector<Array> saved;
  std::vector<RnnResult> parts;
  NnExtension* maker = nullptr;  // the implementation that made the result; rnn_backward of others forwards to it
};
// A null gradient counts as zero.
struct RnnOutputGradients {
  Array gy, ghy, gcy;
  bool wants_gx = true;  // false: gx may be null
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

  // Returns x w^T + b for x (N, inputs), w (outputs, inputs) and b (outputs) or null, all of one dtype. Use it for a w
  // that does not change from call to call: an implementation may convert w into its own layout and cache the result
  // (derived.h).
  Array linear(const Array& x, const Array& w, const Array& b);

  // Returns the cross-correlation of x (N, C, spatial...) with w, in the dtype of x; b is (outputs) or null.
  // AssertionError if an output length is not positive.
  Array convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& spec);
  // Returns the gradient of x, (N, C, spatial...), for gy (N, outputs, out...), in the dtype of gy.
  Array convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial, const ConvolutionSpec& spec);
  // Returns the gradient of w, whose spatial lengths are `kernel`.
  Array convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel, Dtype dtype,
                                    const ConvolutionSpec& spec);

  // Returns {y, indexes}. indexes (int32) are row-major positions in the window, padding included; among equal maxima,
  // the first. A window that covers only padding gives -inf and an index outside x.
  Arrays max_pooling(const Array& x, const PoolingSpec& spec);
  // Returns only y, with the same bits, in less time.
  Array max_pooling_values(const Array& x, const PoolingSpec& spec);
  Array max_pooling_backward(const Array& gy, const Array& indexes, const Dims& spatial, const PoolingSpec& spec);
  // Returns the elements of x at the positions `indexes`: the derivative of max_pooling_backward.
  Array max_pooling_by_index(const Array& x, const Array& indexes, const PoolingSpec& spec);
  // Returns the window sums divided by the number of elements of the window, padding included.
  Array average_pooling(const Array& x, const PoolingSpec& spec);
  Array average_pooling_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec);

  // Normalizes x over `axes`; gamma and beta broadcast to x and have length 1 along `axes`. Returns {y, mean, biased
  // variance, 1 / sqrt(variance + eps)} and, from some implementations, a reserve for the gradients; the statistics
  // have length 1 along `axes` and are float32 for 16-bit x. Parameters may be float32 beside 16-bit x, and are then
  // used without rounding.
  Arrays batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes,
                             const BatchStatistics& statistics = {});
  // Returns {gx, ggamma, gbeta}. mean, inv_std and reserve are results of batch_normalization; the reserve may be null.
  // ggamma and gbeta have length 1 along `axes`, and the dtype of gamma where it is float32 beside 16-bit x, else of x.
  Arrays batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                      const Array& inv_std, const Dims& axes, const Array& reserve = {});
  // All operands broadcast to x. Parameters may be float32 beside 16-bit x.
  Array fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                  const Array& var, double eps);

  // Computes a recurrent network; all results have the dtype of x. ValueError if operands do not fit each other.
  RnnResult rnn(const RnnOperands& operands, const RnnSpec& spec);
  // Returns the gradients of all operands, each in the shape and dtype of its operand. `result` is the result of rnn
  // for the same operands and spec.
  RnnGradients rnn_backward(const RnnOperands& operands, const RnnSpec& spec, const RnnResult& result,
                            const RnnOutputGradients& g);

  // im2col converts x (N, C, spatial...) to (N, C, k..., out...); positions outside x have the value `outside`. col2im
  // is the adjoint of im2col with 0 outside.
  Array im2col(const Array& x, const Dims& kernel, const ConvolutionSpec& spec, const Scalar& outside = 0);
  Array col2im(const Array& col, const Dims& spatial, const ConvolutionSpec& spec);

 protected:
  virtual Array do_linear(const Array& x, const Array& w, const Array& b);
  virtual Array do_convolution(const Convolution& c);
  virtual Arrays do_max_pooling(const Array& x, const PoolingSpec& spec, const Dims& out);
  virtual Array do_max_pooling_values(const Array& x, const PoolingSpec& spec, const Dims& out);
  virtual Array do_max_pooling_backward(const Array& gy, const Array& indexes, const Dims& spatial,
                                        const PoolingSpec& spec);
  virtual Array do_max_pooling_by_index(const Array& x, const Array& indexes, const PoolingSpec& spec);
  virtual Array do_average_pooling(const Array& x, const PoolingSpec& spec, const Dims& out);
  virtual Array do_average_pooling_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec);
  // The parameters of batch normalization have the dtype of x or, beside 16-bit x, all float32.
  virtual Arrays do_batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps,
                                        const Dims& axes, const BatchStatistics& statistics);
  virtual Arrays do_batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                                 const Array& inv_std, const Dims& axes, const Array& reserve);
  virtual Array do_fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                             const Array& var, double eps);
  // Called without dropout; with dropout, rnn calls do_rnn for each layer. x and the states are float32 or float64. ws
  // and bs have any floating dtypes; their gradients have the dtype of x. `result` is the result of do_rnn of the same
  // object, or of a call of rnn, without hy and cy.
  virtual RnnResult do_rnn(const RnnOperands& operands, const RnnSpec& spec);
  virtual RnnGradients do_rnn_backward(const RnnOperands& operands, const RnnSpec& spec, const RnnResult& result,
                                       const RnnOutputGradients& g);
  virtual Array do_im2col(const Array& x, const Dims& kernel, const ConvolutionSpec& spec, const Dims& out);
  virtual Array do_col2im(const Array& col, const Dims& spatial, const ConvolutionSpec& spec);
};

// Returns the implementation for the backend and device of x, or the portable one. On CUDA, returns the portable one if
// `use_cudnn` is false; its default is the configuration of the thread (autograd/config.h).
CATENA_EXPORT NnExtension& nn_extension(const Array& x, std::optional<bool> use_cudnn = {});
CATENA_EXPORT NnExtension& portable_nn_extension();

// Returns the implementation of this thread's last NnExtension operation: "portable", "onednn", "cudnn" or the name of
// a convolution of ndarray_backend; "" before the first.
CATENA_EXPORT std::string_view last_implementation() noexcept;
// To be called by implementations.
CATENA_EXPORT void set_last_implementation(std::string_view name) noexcept;  // name: a string literal

}  // namespace autograd
