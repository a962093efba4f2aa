// The function classes of the reference as a table. Of each class: its name; its label in graphs; what a call returns;
// the fewest and the most inputs; `node` if the function is one node of graphs, `composed` if it is made of others; the
// parameters of the constructor with their defaults, OR(default); the call for the inputs x; accessors to the arrays
// that the call leaves in `kept`.
//
// Meaning and errors of a class are documented at the function that its entry calls. Internal: see objects.h.
#pragma once

// clang-format off
#define CATENA_ACTIVATION_CLASSES(X, OR) \
  X(ClippedReLU, "ClippedReLU", Variable, 1, 1, node, (double z), (clipped_relu(x[0], z)), ) \
  X(CReLU, "CReLU", Variable, 1, 1, composed, (int axis OR(1)), (crelu(x[0], axis)), ) \
  X(ELU, "ELU", Variable, 1, 1, node, (double alpha OR(1.0)), (elu(x[0], alpha)), ) \
  X(HardSigmoid, "HardSigmoid", Variable, 1, 1, node, (), (hard_sigmoid(x[0])), ) \
  X(LeakyReLU, "LeakyReLU", Variable, 1, 1, node, (double slope OR(0.2)), (leaky_relu(x[0], slope)), ) \
  X(LogSoftmax, "LogSoftmax", Variable, 1, 1, node, (bool use_cudnn OR(true)), \
    (log_softmax(x[0], {.use_cudnn = if_false(use_cudnn)})), ) \
  X(LSTM, "LSTM", LSTMState, 2, 2, node, (), (lstm(x[0], x[1])), ) \
  X(PReLUFunction, "PReLUFunction", Variable, 2, 2, composed, (), (prelu(x[0], x[1])), ) \
  X(ReLU, "ReLU", Variable, 1, 1, node, (bool use_cudnn OR(true)), (relu(x[0], {if_false(use_cudnn)})), ) \
  X(Sigmoid, "Sigmoid", Variable, 1, 1, node, (bool use_cudnn OR(true)), (sigmoid(x[0], {if_false(use_cudnn)})), ) \
  X(SLSTM, "SLSTM", LSTMState, 4, 4, node, (), (slstm(x[0], x[1], x[2], x[3])), ) \
  X(Softmax, "Softmax", Variable, 1, 1, node, (bool use_cudnn OR(true), int axis OR(1)), \
    (softmax(x[0], {.axis = axis, .use_cudnn = if_false(use_cudnn)})), ) \
  X(Softplus, "Softplus", Variable, 1, 1, node, (double beta OR(1.0)), (softplus(x[0], beta)), ) \
  X(Tanh, "Tanh", Variable, 1, 1, node, (bool use_cudnn OR(true)), (tanh(x[0], {if_false(use_cudnn)})), )

#define CATENA_ARRAY_CLASSES(X, OR) \
  X(Broadcast, "Broadcast", Variables, 1, many, node, (), (broadcast(x)), ) \
  X(BroadcastTo, "BroadcastTo", Variable, 1, 1, node, (const Shape& shape), (broadcast_to(x[0], shape)), ) \
  X(Cast, "Cast", Variable, 1, 1, node, (Dtype typ), (cast(x[0], typ)), ) \
  X(Concat, "Concat", Variable, 1, many, node, (int axis OR(1)), (concat(x, axis)), ) \
  X(Copy, "Copy", Variable, 1, 1, node, (int out_device), (copy(x[0], out_device)), ) \
  X(Depth2Space, "Depth2Space", Variable, 1, 1, composed, (int r), (depth2space(x[0], r)), ) \
  X(Dstack, "Dstack", Variable, 1, many, composed, (), (dstack(x)), ) \
  X(ExpandDims, "ExpandDims", Variable, 1, 1, node, (int axis), (expand_dims(x[0], axis)), ) \
  X(Flatten, "Flatten", Variable, 1, 1, node, (), (flatten(x[0])), ) \
  X(FlipLR, "FlipLR", Variable, 1, 1, node, (), (fliplr(x[0])), ) \
  X(FlipUD, "FlipUD", Variable, 1, 1, node, (), (flipud(x[0])), ) \
  X(GetItem, "GetItem", Variable, 1, 1, node, (const std::vector<IndexItem>& slices), (get_item(x[0], slices)), ) \
  X(Hstack, "Hstack", Variable, 1, many, composed, (), (hstack(x)), ) \
  X(Im2Col, "Im2Col", Variable, 1, 1, node, (Pair ksize, Pair stride, Pair pad, bool cover_all, Pair dilate), \
    (im2col(x[0], ksize, stride, pad, cover_all, dilate)), ) \
  X(Pad, "Pad", Variable, 1, 1, node, \
    (const PadSides<std::int64_t>& pad_width, const std::string& mode, const PadOptions& keywords OR(PadOptions())), \
    (pad(x[0], pad_width, mode, keywords)), ) \
  X(PadSequence, "PadSequence", Variable, 1, many, node, \
    (std::optional<std::int64_t> length, const Scalar& padding), (pad_sequence(x, length, padding)), ) \
  X(Permutate, "Permutate", Variable, 2, 2, node, (int axis OR(0), bool inv OR(false)), \
    (permutate(x[0], x[1], axis, inv)), ) \
  X(Reshape, "Reshape", Variable, 1, 1, node, (const Shape& shape), (reshape(x[0], shape)), ) \
  X(ResizeImages, "ResizeImages", Variable, 1, 1, composed, (Pair output_shape), \
    (resize_images(x[0], output_shape)), ) \
  X(Rollaxis, "Rollaxis", Variable, 1, 1, node, (int axis, int start), (rollaxis(x[0], axis, start)), ) \
  X(SelectItem, "SelectItem", Variable, 2, 2, composed, (), (select_item(x[0], x[1])), ) \
  X(Space2Depth, "Space2Depth", Variable, 1, 1, composed, (int r), (space2depth(x[0], r)), ) \
  X(SpatialTransformerGrid, "SpatialTransformerGrid", Variable, 1, 1, composed, \
    (Pair output_shape, bool use_cudnn OR(true)), \
    (spatial_transformer_grid(x[0], output_shape, {if_false(use_cudnn)})), ) \
  X(SpatialTransformerSampler, "SpatialTransformerSampler", Variable, 2, 2, composed, \
    (bool use_cudnn OR(true)), (spatial_transformer_sampler(x[0], x[1], {if_false(use_cudnn)})), ) \
  X(SplitAxis, "SplitAxis", Variables, 1, 1, node, (const Sections& indices_or_sections, int axis), \
    (split_axis(x[0], indices_or_sections, axis)), ) \
  X(Squeeze, "Squeeze", Variable, 1, 1, node, (const Axes& axis OR(Axes())), (squeeze(x[0], axis)), ) \
  X(Swapaxes, "Swapaxes", Variable, 1, 1, node, (int axis1, int axis2), (swapaxes(x[0], axis1, axis2)), ) \
  X(Tile, "Tile", Variable, 1, 1, composed, (const Dims& reps), (tile(x[0], reps)), ) \
  X(Transpose, "Transpose", Variable, 1, 1, node, (const Dims& axes OR(Dims())), (transposed(x[0], axes)), ) \
  X(TransposeSequence, "TransposeSequence", Variables, 0, many, composed, (), (transpose_sequence(x)), ) \
  X(Vstack, "Vstack", Variable, 1, many, composed, (), (vstack(x)), ) \
  X(Where, "Where", Variable, 3, 3, node, (), (where(x[0], x[1], x[2])), )

#define CATENA_CONNECTION_CLASSES(X, OR) \
  X(BilinearFunction, "BilinearFunction", Variable, 3, 6, composed, (), \
    (bilinear(x[0], x[1], x[2], at(x, 3), at(x, 4), at(x, 5))), ) \
  X(Convolution2DFunction, "Convolution2DFunction", Variable, 2, 3, node, \
    (Pair stride OR(1), Pair pad OR(0), bool use_cudnn OR(true), bool cover_all OR(false), \
     bool deterministic OR(false)), \
    (convolution_2d(x[0], x[1], at(x, 2), {.stride = stride, .pad = pad, .cover_all = cover_all, \
                                           .deterministic = if_true(deterministic), \
                                           .use_cudnn = if_false(use_cudnn)})), ) \
  X(ConvolutionND, "ConvolutionND", Variable, 2, 3, node, \
    (int ndim, const Lengths& stride OR(1), const Lengths& pad OR(0), bool use_cudnn OR(true), \
     bool cover_all OR(false)), \
    (convolution_nd(of_rank("ConvolutionND", x[0], ndim), x[1], at(x, 2), \
                    {.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = if_false(use_cudnn)})), ) \
  X(Deconvolution2DFunction, "Deconvolution2DFunction", Variable, 2, 3, composed, \
    (Pair stride OR(1), Pair pad OR(0), const OrNone<Pair>& outsize OR({}), bool use_cudnn OR(true), \
     bool deterministic OR(false)), \
    (deconvolution_2d(x[0], x[1], at(x, 2), {.stride = stride, .pad = pad, .outsize = outsize, \
                                             .deterministic = if_true(deterministic), \
                                             .use_cudnn = if_false(use_cudnn)})), ) \
  X(DeconvolutionND, "DeconvolutionND", Variable, 2, 3, composed, \
    (int ndim, const Lengths& stride OR(1), const Lengths& pad OR(0), const OrNone<Lengths>& outsize OR({}), \
     bool use_cudnn OR(true)), \
    (deconvolution_nd(of_rank("DeconvolutionND", x[0], ndim), x[1], at(x, 2), \
                      {.stride = stride, .pad = pad, .outsize = outsize, .use_cudnn = if_false(use_cudnn)})), ) \
  X(DepthwiseConvolution2D, "DepthwiseConvolution2D", Variable, 2, 3, composed, \
    (Pair stride OR(1), Pair pad OR(0)), \
    (depthwise_convolution_2d(x[0], x[1], at(x, 2), {.stride = stride, .pad = pad})), ) \
  X(DilatedConvolution2DFunction, "DilatedConvolution2DFunction", Variable, 2, 3, node, \
    (Pair stride OR(1), Pair pad OR(0), Pair dilate OR(1), bool use_cudnn OR(true), bool cover_all OR(false)), \
    (dilated_convolution_2d(x[0], x[1], at(x, 2), {.stride = stride, .pad = pad, .dilate = dilate, \
                                                   .cover_all = cover_all, .use_cudnn = if_false(use_cudnn)})), ) \
  X(EmbedIDFunction, "EmbedIDFunction", Variable, 2, 2, composed, \
    (std::optional<std::int64_t> ignore_label OR(std::nullopt)), \
    (embed_id(x[0], x[1], {.ignore_label = ignore_label})), ) \
  X(LinearFunction, "LinearFunction", Variable, 2, 3, node, (), (linear(x[0], x[1], at(x, 2))), ) \
  X(NStepLSTM, "NStepLSTM", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepLSTM", {2, 1, 8}, n_layers, x, [&](const StepLists& l) { \
      return n_step_lstm(n_layers, states.ratio, x[0], x[1], l.ws, l.bs, l.xs, {.train = train}); })), ) \
  X(NStepBiLSTM, "NStepBiLSTM", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepBiLSTM", {2, 2, 8}, n_layers, x, [&](const StepLists& l) { \
      return n_step_bilstm(n_layers, states.ratio, x[0], x[1], l.ws, l.bs, l.xs, {.train = train}); })), ) \
  X(NStepGRU, "NStepGRU", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepGRU", {1, 1, 6}, n_layers, x, [&](const StepLists& l) { \
      return n_step_gru(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train}); })), ) \
  X(NStepBiGRU, "NStepBiGRU", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepBiGRU", {1, 2, 6}, n_layers, x, [&](const StepLists& l) { \
      return n_step_bigru(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train}); })), ) \
  X(NStepRNNTanh, "NStepRNNTanh", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepRNNTanh", {1, 1, 2}, n_layers, x, [&](const StepLists& l) { \
      return n_step_rnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train}); })), ) \
  X(NStepRNNReLU, "NStepRNNReLU", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepRNNReLU", {1, 1, 2}, n_layers, x, [&](const StepLists& l) { \
      return n_step_rnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, \
                 {.train = train, .activation = "relu"}); })), ) \
  X(NStepBiRNNTanh, "NStepBiRNNTanh", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepBiRNNTanh", {1, 2, 2}, n_layers, x, [&](const StepLists& l) { \
      return n_step_birnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, {.train = train}); })), ) \
  X(NStepBiRNNReLU, "NStepBiRNNReLU", Variables, 4, many, node, \
    (int n_layers, DropoutStates states, bool train OR(true)), \
    (n_step("NStepBiRNNReLU", {1, 2, 2}, n_layers, x, [&](const StepLists& l) { \
      return n_step_birnn(n_layers, states.ratio, x[0], l.ws, l.bs, l.xs, \
                 {.train = train, .activation = "relu"}); })), )

#define CATENA_EVALUATION_CLASSES(X, OR) \
  X(Accuracy, "Accuracy", Variable, 2, 2, node, (std::optional<int> ignore_label OR(std::nullopt)), \
    (accuracy(x[0], x[1], ignore_label)), ) \
  X(BinaryAccuracy, "BinaryAccuracy", Variable, 2, 2, node, (), (binary_accuracy(x[0], x[1])), ) \
  X(ClassificationSummary, "ClassificationSummary", nn::ClassificationSummary, 2, 2, node, \
    (std::optional<int> label_num, double beta, int ignore_label), \
    (classification_summary(x[0], x[1], {.label_num = label_num, .beta = beta, .ignore_label = ignore_label})), ) \
  X(R2_score, "R2_score", Variable, 2, 2, node, (const Array& sample_weight, const std::string& multioutput), \
    (r2_score(x[0], x[1], {.sample_weight = sample_weight, .multioutput = multioutput})), )

#define CATENA_LOSS_CLASSES(X, OR) \
  X(AbsoluteError, "AbsoluteError", Variable, 2, 2, composed, (), (absolute_error(x[0], x[1])), ) \
  X(Contrastive, "Contrastive", Variable, 3, 3, composed, (double margin, const std::string& reduce OR("mean")), \
    (contrastive(x[0], x[1], x[2], {.margin = margin, .reduce = reduce})), ) \
  X(ConnectionistTemporalClassification, "ConnectionistTemporalClassification", Variable, 4, many, composed, \
    (int blank_symbol, const std::string& reduce OR("mean")), \
    (connectionist_temporal_classification(behind(x, 3), x[2], blank_symbol, x[0].data(), x[1].data(), reduce)), ) \
  X(CrossCovariance, "CrossCovariance", Variable, 2, 2, composed, \
    (const std::string& reduce OR("half_squared_sum")), (cross_covariance(x[0], x[1], {.reduce = reduce})), ) \
  X(DeCov, "DeCov", Variable, 1, 1, composed, (const std::string& reduce OR("half_squared_sum")), \
    (decov(x[0], {.reduce = reduce})), ) \
  X(Hinge, "Hinge", Variable, 2, 2, composed, \
    (const std::string& norm OR("L1"), const std::string& reduce OR("mean")), \
    (hinge(x[0], x[1], {.norm = norm, .reduce = reduce})), ) \
  X(HuberLoss, "HuberLoss", Variable, 2, 2, composed, \
    (double delta, const std::string& reduce OR("sum_along_second_axis")), \
    (huber_loss(x[0], x[1], delta, {.reduce = reduce})), ) \
  X(MeanAbsoluteError, "MeanAbsoluteError", Variable, 2, 2, composed, (), (mean_absolute_error(x[0], x[1])), ) \
  X(MeanSquaredError, "MeanSquaredError", Variable, 2, 2, node, (), (mean_squared_error(x[0], x[1])), ) \
  X(NegativeSamplingFunction, "NegativeSamplingFunction", Variable, 3, 3, composed, \
    (const Sampler& sampler, int sample_size, const std::string& reduce OR("sum")), \
    (negative_samples(kept, x, sampler, sample_size, reduce)), \
    CATENA_KEPT(samples, 0)) \
  X(SigmoidCrossEntropy, "SigmoidCrossEntropy", Variable, 2, 2, composed, \
    (bool use_cudnn OR(true), bool normalize OR(true), const std::string& reduce OR("mean")), \
    (sigmoid_cross_entropy(x[0], x[1], {.normalize = normalize, .reduce = reduce, \
                                        .use_cudnn = if_false(use_cudnn)})), ) \
  X(SoftmaxCrossEntropy, "SoftmaxCrossEntropy", Variable, 2, 2, node, \
    (bool use_cudnn OR(true), bool normalize OR(true), bool cache_score OR(true), \
     const Array& class_weight OR(Array()), int ignore_label OR(-1), const std::string& reduce OR("mean")), \
    (softmax_cross_entropy(x[0], x[1], {.normalize = normalize, .cache_score = cache_score, \
                                        .class_weight = class_weight, .ignore_label = ignore_label, \
                                        .reduce = reduce, .use_cudnn = if_false(use_cudnn)})), ) \
  X(SquaredError, "SquaredError", Variable, 2, 2, composed, (), (squared_error(x[0], x[1])), ) \
  X(Triplet, "Triplet", Variable, 3, 3, composed, (double margin, const std::string& reduce OR("mean")), \
    (triplet(x[0], x[1], x[2], {.margin = margin, .reduce = reduce})), )

#define CATENA_OPERATOR_CLASSES(X, OR) \
  X(Neg, "__neg__", Variable, 1, 1, node, (), (-x[0]), ) \
  X(Absolute, "|_|", Variable, 1, 1, node, (), (absolute(x[0])), ) \
  X(Add, "_ + _", Variable, 2, 2, node, (), (x[0] + x[1]), ) \
  X(AddConstant, "_ + " + value.label(), Variable, 1, 1, node, (const Constant& value), (x[0] + value), ) \
  X(Sub, "_ - _", Variable, 2, 2, node, (), (x[0] - x[1]), ) \
  X(SubFromConstant, value.label() + " - _", Variable, 1, 1, node, (const Constant& value), (value - x[0]), ) \
  X(Mul, "_ * _", Variable, 2, 2, node, (), (x[0] * x[1]), ) \
  X(MulConstant, "_ * " + value.label(), Variable, 1, 1, node, (const Constant& value), (x[0] * value), ) \
  X(Div, "_ / _", Variable, 2, 2, node, (), (x[0] / x[1]), ) \
  X(DivFromConstant, "_ / " + value.label(), Variable, 1, 1, node, (const Constant& value), (value / x[0]), ) \
  X(PowVarVar, "_ ** _", Variable, 2, 2, node, (), (pow(x[0], x[1])), ) \
  X(PowVarConst, "_ ** " + value.label(), Variable, 1, 1, node, (const Constant& value), (pow(x[0], value)), ) \
  X(PowConstVar, value.label() + " ** _", Variable, 1, 1, node, (const Constant& value), (pow(value, x[0])), ) \
  X(MatMulVarVar, "_ @ _", Variable, 2, 2, node, (), (operator_matmul(x[0], x[1])), ) \
  X(MatMulVarConst, "_ @ " + value.label(), Variable, 1, 1, composed, (const Constant& value), \
    (operator_matmul(x[0], value)), ) \
  X(MatMulConstVar, value.label() + " @ _", Variable, 1, 1, composed, (const Constant& value), \
    (operator_matmul(value, x[0])), )

#define CATENA_MATH_CLASSES(X, OR) \
  X(BatchL2NormSquared, "BatchL2NormSquared", Variable, 1, 1, node, (), (batch_l2_norm_squared(x[0])), ) \
  X(Ceil, "ceil", Variable, 1, 1, node, (), (ceil(x[0])), ) \
  X(Clip, "Clip", Variable, 1, 1, node, (double x_min, double x_max), (clip(x[0], x_min, x_max)), ) \
  X(BatchDet, "det", Variable, 1, 1, node, (), (batch_det(x[0])), ) \
  X(Exp, "exp", Variable, 1, 1, node, (), (exp(x[0])), ) \
  X(Log, "log", Variable, 1, 1, node, (), (log(x[0])), ) \
  X(Log2, "log2", Variable, 1, 1, node, (), (log2(x[0])), ) \
  X(Log10, "log10", Variable, 1, 1, node, (), (log10(x[0])), ) \
  X(Expm1, "expm1", Variable, 1, 1, node, (), (expm1(x[0])), ) \
  X(Floor, "floor", Variable, 1, 1, node, (), (floor(x[0])), ) \
  X(Fmod, "fmod", Variable, 2, 2, node, (), (fmod(x[0], x[1])), ) \
  X(Cosh, "cosh", Variable, 1, 1, node, (), (cosh(x[0])), ) \
  X(Sinh, "sinh", Variable, 1, 1, node, (), (sinh(x[0])), ) \
  X(Identity, "Identity", Outputs, 1, many, node, (), (identity(x)), ) \
  X(Inv, "Inv", Variable, 1, 1, node, (), (inv(x[0])), ) \
  X(BatchInv, "BatchInv", Variable, 1, 1, node, (), (batch_inv(x[0])), ) \
  X(LinearInterpolate, "LinearInterpolate", Variable, 3, 3, node, (), (linear_interpolate(x[0], x[1], x[2])), ) \
  X(Log1p, "log1p", Variable, 1, 1, node, (), (log1p(x[0])), ) \
  X(LogSumExp, "LogSumExp", Variable, 1, 1, node, (const Axes& axis OR(Axes())), (logsumexp(x[0], axis)), ) \
  X(MatMul, "MatMul", Variable, 2, 2, node, (bool transa OR(false), bool transb OR(false)), \
    (matmul(x[0], x[1], transa, transb)), ) \
  X(BatchMatMul, "BatchMatMul", Variable, 2, 2, node, (bool transa OR(false), bool transb OR(false)), \
    (batch_matmul(x[0], x[1], transa, transb)), ) \
  X(Maximum, "Maximum", Variable, 2, 2, node, (), (maximum(x[0], x[1])), ) \
  X(Minimum, "Minimum", Variable, 2, 2, node, (), (minimum(x[0], x[1])), ) \
  X(Max, "Max", Variable, 1, 1, node, (const Axes& axis OR(Axes()), bool keepdims OR(false)), \
    (max(x[0], axis, keepdims)), ) \
  X(Min, "Min", Variable, 1, 1, node, (const Axes& axis OR(Axes()), bool keepdims OR(false)), \
    (min(x[0], axis, keepdims)), ) \
  X(ArgMax, "ArgMax", Variable, 1, 1, node, (std::optional<int> axis OR(std::nullopt)), (argmax(x[0], axis)), ) \
  X(ArgMin, "ArgMin", Variable, 1, 1, node, (std::optional<int> axis OR(std::nullopt)), (argmin(x[0], axis)), ) \
  X(Sqrt, "sqrt", Variable, 1, 1, node, (), (sqrt(x[0])), ) \
  X(Square, "square", Variable, 1, 1, node, (), (square(x[0])), ) \
  X(SquaredDifference, "SquaredDifference", Variable, 2, 2, node, (), (squared_difference(x[0], x[1])), ) \
  X(Sum, "Sum", Variable, 1, 1, node, (const Axes& axis OR(Axes()), bool keepdims OR(false)), \
    (sum(x[0], axis, keepdims)), ) \
  X(Sin, "sin", Variable, 1, 1, node, (), (sin(x[0])), ) \
  X(Cos, "cos", Variable, 1, 1, node, (), (cos(x[0])), ) \
  X(Tan, "tan", Variable, 1, 1, node, (), (tan(x[0])), ) \
  X(Arcsin, "arcsin", Variable, 1, 1, node, (), (arcsin(x[0])), ) \
  X(Arccos, "arccos", Variable, 1, 1, node, (), (arccos(x[0])), ) \
  X(Arctan, "arctan", Variable, 1, 1, node, (), (arctan(x[0])), )

#define CATENA_NOISE_CLASSES(X, OR) \
  X(Dropout, "Dropout", Variable, 1, 1, node, (double dropout_ratio), \
    (dropped(kept, x[0], dropout_ratio)), CATENA_KEPT(mask, 0)) \
  X(Gaussian, "Gaussian", Variable, 2, 2, composed, (), \
    (gaussian_sample(kept, x[0], x[1])), CATENA_KEPT(eps, 0)) \
  X(SimplifiedDropconnect, "SimplifiedDropconnect", Variable, 2, 3, composed, \
    (double ratio, const Array& mask OR(Array())), \
    (disconnected(kept, x, ratio, mask)), CATENA_KEPT(mask, 0)) \
  X(Zoneout, "Zoneout", Variable, 2, 2, composed, (double zoneout_ratio), \
    (zoned_out(kept, x[0], x[1], zoneout_ratio)), CATENA_KEPT(keep, 0))

#define CATENA_NORMALIZATION_CLASSES(X, OR) \
  X(BatchNormalizationFunction, "BatchNormalizationFunction", Variable, 3, 5, node, \
    (double eps OR(2e-5), const Array& mean OR(Array()), const Array& var OR(Array()), bool train OR(false), \
     double decay OR(0.9), bool use_cudnn OR(true)), \
    (normalized(kept, x, {.eps = eps, .running_mean = mean, .running_var = var, .decay = decay, \
                          .use_cudnn = if_false(use_cudnn)}, train)), \
    CATENA_KEPT(running_mean, 0) CATENA_KEPT(running_var, 1)) \
  X(NormalizeL2, "NormalizeL2", Variable, 1, 1, composed, (double eps OR(1e-5), const Axes& axis OR(1)), \
    (normalize(x[0], eps, axis)), ) \
  X(LocalResponseNormalization, "LocalResponseNormalization", Variable, 1, 1, composed, \
    (int n OR(5), double k OR(2), double alpha OR(1e-4), double beta OR(0.75)), \
    (local_response_normalization(x[0], {.n = n, .k = k, .alpha = alpha, .beta = beta})), )

#define CATENA_POOLING_CLASSES(X, OR) \
  X(AveragePooling2D, "AveragePooling2D", Variable, 1, 1, node, \
    (Pair ksize, const OrNone<Pair>& stride OR({}), Pair pad OR(0), CATENA_UNUSED bool cover_all OR(true), \
     bool use_cudnn OR(true)), \
    (average_pooling_2d(x[0], ksize, {.stride = stride, .pad = pad, .use_cudnn = if_false(use_cudnn)})), ) \
  X(AveragePoolingND, "AveragePoolingND", Variable, 1, 1, node, \
    (int ndim, const Lengths& ksize, const OrNone<Lengths>& stride OR({}), const Lengths& pad OR(0), \
     bool cover_all OR(false), bool use_cudnn OR(true)), \
    (average_pooling_nd(without_cover_all(of_rank("AveragePoolingND", x[0], ndim), cover_all), ksize, \
                        {.stride = stride, .pad = pad, .use_cudnn = if_false(use_cudnn)})), ) \
  X(MaxPooling2D, "MaxPooling2D", Variable, 1, 1, node, \
    (Pair ksize, const OrNone<Pair>& stride OR({}), Pair pad OR(0), bool cover_all OR(true), \
     bool use_cudnn OR(true)), \
    (keeping(kept, max_pooling_2d(x[0], ksize, {.stride = stride, .pad = pad, .cover_all = cover_all, \
                                                .use_cudnn = if_false(use_cudnn)}, return_indices))), \
    CATENA_KEPT(indexes, 0)) \
  X(MaxPoolingND, "MaxPoolingND", Variable, 1, 1, node, \
    (int ndim, const Lengths& ksize, const OrNone<Lengths>& stride OR({}), const Lengths& pad OR(0), \
     bool cover_all OR(true), bool use_cudnn OR(true)), \
    (keeping(kept, max_pooling_nd(of_rank("MaxPoolingND", x[0], ndim), ksize, \
                                  {.stride = stride, .pad = pad, .cover_all = cover_all, \
                                   .use_cudnn = if_false(use_cudnn)}, return_indices))), \
    CATENA_KEPT(indexes, 0)) \
  X(ROIPooling2D, "ROIPooling2D", Variable, 2, 2, composed, (int outh, int outw, double spatial_scale), \
    (roi_pooling_2d(x[0], x[1], outh, outw, spatial_scale)), ) \
  X(SpatialPyramidPooling2D, "SpatialPyramidPooling2D", Variable, 1, 1, composed, \
    (const Shape& x_shape, int pyramid_height, PoolingClass pooling_class, bool use_cudnn OR(true)), \
    (spatial_pyramid_pooling_2d(of_shape("SpatialPyramidPooling2D", x[0], x_shape), pyramid_height, \
                                pooling_class, {if_false(use_cudnn)})), ) \
  X(Unpooling2D, "Unpooling2D", Variable, 1, 1, node, \
    (const Lengths& ksize, const OrNone<Lengths>& stride OR({}), const Lengths& pad OR(0), \
     const OrNone<Lengths>& outsize OR({}), bool cover_all OR(true)), \
    (unpooling_2d(x[0], ksize, {.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all})), ) \
  X(UnpoolingND, "UnpoolingND", Variable, 1, 1, node, \
    (int ndim, const Lengths& ksize, const OrNone<Lengths>& stride OR({}), const Lengths& pad OR(0), \
     const OrNone<Lengths>& outsize OR({}), bool cover_all OR(true)), \
    (unpooling_nd(of_rank("UnpoolingND", x[0], ndim), ksize, \
                  {.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all})), ) \
  X(Upsampling2D, "Upsampling2D", Variable, 1, 1, composed, \
    (const Array& indexes, const Lengths& ksize, const OrNone<Lengths>& stride OR({}), \
     const Lengths& pad OR(0), const OrNone<Lengths>& outsize OR({}), bool cover_all OR(true)), \
    (upsampling_2d(x[0], indexes, ksize, {.stride = stride, .pad = pad, .outsize = outsize, \
                                          .cover_all = cover_all})), )

#define CATENA_FUNCTION_CLASSES(X, OR) \
  CATENA_ACTIVATION_CLASSES(X, OR) CATENA_ARRAY_CLASSES(X, OR) CATENA_CONNECTION_CLASSES(X, OR) \
  CATENA_EVALUATION_CLASSES(X, OR) CATENA_LOSS_CLASSES(X, OR) CATENA_OPERATOR_CLASSES(X, OR) \
  CATENA_MATH_CLASSES(X, OR) CATENA_NOISE_CLASSES(X, OR) CATENA_NORMALIZATION_CLASSES(X, OR) \
  CATENA_POOLING_CLASSES(X, OR)
// clang-format on
