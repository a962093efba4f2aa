// A network file of Caffe: the messages of caffe.proto (https://github.com/BVLC/caffe), limited to the fields that
// CaffeFunction uses. Internal.
//
// Members have the names and the defaults of caffe.proto. The layers of V1 files are read into the same class as later
// ones, from which they differ only in field numbers; V1 files have a number instead of the name of the type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/shape.h>

namespace nn::links::caffe::internal {

struct BlobShape {
  std::vector<std::int64_t> dim;
};
struct Blob {
  std::int32_t num = 0, channels = 0, height = 0, width = 0;  // of old files, which have no shape
  BlobShape shape;
  std::vector<float> data;
  std::vector<double> double_data;

  // Moves the elements out of whichever of the two lists is present.
  std::vector<float> values() &&;
};

struct ConcatParameter {
  std::uint32_t concat_dim = 1;
  std::int32_t axis = 1;
};
struct ConvolutionParameter {
  bool bias_term = true;
  std::vector<std::uint32_t> pad, kernel_size, stride, dilation;
  std::uint32_t pad_h = 0, pad_w = 0, kernel_h = 0, kernel_w = 0, stride_h = 0, stride_w = 0;
  std::uint32_t group = 1;
  std::int32_t axis = 1;
};
struct DropoutParameter {
  float dropout_ratio = 0.5f;
};
struct EltwiseParameter {
  enum Operation : std::int32_t { prod, sum, max };
  std::int32_t operation = sum;
  std::vector<float> coeff;
};
struct InnerProductParameter {
  bool bias_term = true;
  std::int32_t axis = 1;
};
struct LRNParameter {
  enum NormRegion : std::int32_t { across_channels, within_channel };
  std::uint32_t local_size = 5;
  float alpha = 1, beta = 0.75f, k = 1;
  std::int32_t norm_region = across_channels;
};
struct PoolingParameter {
  enum Method : std::int32_t { max, ave, stochastic };
  std::int32_t pool = max;
  std::uint32_t kernel_size = 0, stride = 1, pad = 0;
  std::uint32_t kernel_h = 0, kernel_w = 0, stride_h = 0, stride_w = 0, pad_h = 0, pad_w = 0;
  bool global_pooling = false;
};
struct ReLUParameter {
  float negative_slope = 0;
};
struct SliceParameter {
  std::optional<std::uint32_t> slice_dim;
  std::vector<std::uint32_t> slice_point;
  std::optional<std::int32_t> axis;
};
struct SoftmaxParameter {
  std::int32_t axis = 1;
};
struct BatchNormParameter {
  std::optional<bool> use_global_stats;
  float moving_average_fraction = 0.999f, eps = 1e-5f;
};
struct ScaleParameter {
  std::int32_t axis = 1;
  bool bias_term = false;
};

struct LayerParameter {
  std::string name, type;
  std::int32_t v1_type = 0;
  std::vector<std::string> bottom, top;
  std::vector<Blob> blobs;
  ConcatParameter concat_param;
  ConvolutionParameter convolution_param;
  DropoutParameter dropout_param;
  EltwiseParameter eltwise_param;
  InnerProductParameter inner_product_param;
  LRNParameter lrn_param;
  PoolingParameter pooling_param;
  ReLUParameter relu_param;
  SoftmaxParameter softmax_param;
  SliceParameter slice_param;
  BatchNormParameter batch_norm_param;
  ScaleParameter scale_param;
};

// Returns the name in caffe.proto for a type number of V1 files: "CONVOLUTION"; empty for other numbers.
std::string_view v1_type_name(std::int32_t type) noexcept;

// A file in memory. Layers are decoded one at a time, so only the numbers of one layer are in memory twice.
class CATENA_EXPORT CaffeModel {
 public:
  // Throws an IOError if the file cannot be read, and a ValueError if it is no message, or a message without layers.
  explicit CaffeModel(const std::string& path);
  CaffeModel(const CaffeModel&) = delete;
  CaffeModel& operator=(const CaffeModel&) = delete;

  const std::string& context() const noexcept { return context_; }
  bool is_v1() const noexcept { return v1_; }  // true if the layers are in the field `layers`, not `layer`
  std::size_t size() const noexcept { return layers_.size(); }
  // Throws a ValueError if it is no message.
  LayerParameter layer(std::size_t i) const;

 private:
  std::string context_;
  std::vector<std::byte> file_;
  bool v1_ = false;
  std::vector<std::span<const std::byte>> layers_;
};

}  // namespace nn::links::caffe::internal
