#include <catena/nn/caffe/caffe_model.h>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/wire_message.h>

// ---- the fields of the messages --------------------------------------------------------------------
namespace catena::wire {

using namespace nn::links::caffe::internal;

template <> struct Fields<BlobShape> { static constexpr Field<BlobShape> list[] = {field<1, &BlobShape::dim>()}; };
template <> struct Fields<Blob> {
  using P = Blob;
  static constexpr Field<P> list[] = {field<1, &P::num>(),        field<2, &P::channels>(), field<3, &P::height>(),
                                      field<4, &P::width>(),      field<5, &P::data>(),     field<7, &P::shape>(),
                                      field<8, &P::double_data>()};
};
template <> struct Fields<ConcatParameter> {
  using P = ConcatParameter;
  static constexpr Field<P> list[] = {field<1, &P::concat_dim>(), field<2, &P::axis>()};
};
template <> struct Fields<ConvolutionParameter> {
  using P = ConvolutionParameter;
  static constexpr Field<P> list[] = {field<2, &P::bias_term>(), field<3, &P::pad>(),       field<4, &P::kernel_size>(),
                                      field<5, &P::group>(),     field<6, &P::stride>(),    field<9, &P::pad_h>(),
                                      field<10, &P::pad_w>(),    field<11, &P::kernel_h>(), field<12, &P::kernel_w>(),
                                      field<13, &P::stride_h>(), field<14, &P::stride_w>(), field<16, &P::axis>(),
                                      field<18, &P::dilation>()};
};
template <> struct Fields<DropoutParameter> {
  static constexpr Field<DropoutParameter> list[] = {field<1, &DropoutParameter::dropout_ratio>()};
};
template <> struct Fields<EltwiseParameter> {
  using P = EltwiseParameter;
  static constexpr Field<P> list[] = {field<1, &P::operation>(), field<2, &P::coeff>()};
};
template <> struct Fields<InnerProductParameter> {
  using P = InnerProductParameter;
  static constexpr Field<P> list[] = {field<2, &P::bias_term>(), field<5, &P::axis>()};
};
template <> struct Fields<LRNParameter> {
  using P = LRNParameter;
  static constexpr Field<P> list[] = {field<1, &P::local_size>(), field<2, &P::alpha>(), field<3, &P::beta>(),
                                      field<4, &P::norm_region>(), field<5, &P::k>()};
};
template <> struct Fields<PoolingParameter> {
  using P = PoolingParameter;
  static constexpr Field<P> list[] = {
      field<1, &P::pool>(),     field<2, &P::kernel_size>(), field<3, &P::stride>(),         field<4, &P::pad>(),
      field<5, &P::kernel_h>(), field<6, &P::kernel_w>(),    field<7, &P::stride_h>(),       field<8, &P::stride_w>(),
      field<9, &P::pad_h>(),    field<10, &P::pad_w>(),      field<12, &P::global_pooling>()};
};
template <> struct Fields<ReLUParameter> {
  static constexpr Field<ReLUParameter> list[] = {field<1, &ReLUParameter::negative_slope>()};
};
template <> struct Fields<SliceParameter> {
  using P = SliceParameter;
  static constexpr Field<P> list[] = {field<1, &P::slice_dim>(), field<2, &P::slice_point>(), field<3, &P::axis>()};
};
template <> struct Fields<SoftmaxParameter> {  // its engine field is not needed here
  static constexpr Field<SoftmaxParameter> list[] = {field<2, &SoftmaxParameter::axis>()};
};
template <> struct Fields<BatchNormParameter> {
  using P = BatchNormParameter;
  static constexpr Field<P> list[] = {field<1, &P::use_global_stats>(), field<2, &P::moving_average_fraction>(),
                                      field<3, &P::eps>()};
};
template <> struct Fields<ScaleParameter> {
  using P = ScaleParameter;
  static constexpr Field<P> list[] = {field<1, &P::axis>(), field<4, &P::bias_term>()};
};

}  // namespace catena::wire

namespace nn::links::caffe::internal {

using catena::check;
using catena::ValueError;
using catena::WireReader;
using catena::WireType;
using catena::wire::Field;
using catena::wire::field;

namespace {

constexpr std::string_view kKind = "model of Caffe";

using L = LayerParameter;
constexpr Field<L> kLayer[] = {field<1, &L::name>(),
                               field<2, &L::type>(),
                               field<3, &L::bottom>(),
                               field<4, &L::top>(),
                               field<7, &L::blobs>(),
                               field<104, &L::concat_param>(),
                               field<106, &L::convolution_param>(),
                               field<108, &L::dropout_param>(),
                               field<110, &L::eltwise_param>(),
                               field<117, &L::inner_product_param>(),
                               field<118, &L::lrn_param>(),
                               field<121, &L::pooling_param>(),
                               field<123, &L::relu_param>(),
                               field<125, &L::softmax_param>(),
                               field<126, &L::slice_param>(),
                               field<139, &L::batch_norm_param>(),
                               field<142, &L::scale_param>()};
constexpr Field<L> kV1Layer[] = {field<2, &L::bottom>(),
                                 field<3, &L::top>(),
                                 field<4, &L::name>(),
                                 field<5, &L::v1_type>(),
                                 field<6, &L::blobs>(),
                                 field<9, &L::concat_param>(),
                                 field<10, &L::convolution_param>(),
                                 field<12, &L::dropout_param>(),
                                 field<17, &L::inner_product_param>(),
                                 field<18, &L::lrn_param>(),
                                 field<19, &L::pooling_param>(),
                                 field<24, &L::eltwise_param>(),
                                 field<30, &L::relu_param>(),
                                 field<31, &L::slice_param>(),
                                 field<39, &L::softmax_param>()};

std::vector<std::byte> content_of(const std::string& path) {
  catena::FileSource source("CaffeFunction", path);
  std::vector<std::byte> content(std::size_t(source.remaining().value_or(0)) + 1);  // one byte more, to detect the end
  for (std::size_t n = 0;;) {
    const std::size_t wanted = content.size() - n;
    const std::size_t got = source.read(content.data() + n, wanted);
    n += got;
    if (got < wanted) {
      content.resize(n);
      return content;
    }
    content.resize(content.size() * 2);
  }
}

}  // namespace

std::vector<float> Blob::values() && {
  if (double_data.empty()) return std::move(data);
  return {double_data.begin(), double_data.end()};
}

std::string_view v1_type_name(std::int32_t type) noexcept {
  static constexpr std::string_view kNames[] = {"NONE",
                                                "ACCURACY",
                                                "BNLL",
                                                "CONCAT",
                                                "CONVOLUTION",
                                                "DATA",
                                                "DROPOUT",
                                                "EUCLIDEAN_LOSS",
                                                "FLATTEN",
                                                "HDF5_DATA",
                                                "HDF5_OUTPUT",
                                                "IM2COL",
                                                "IMAGE_DATA",
                                                "INFOGAIN_LOSS",
                                                "INNER_PRODUCT",
                                                "LRN",
                                                "MULTINOMIAL_LOGISTIC_LOSS",
                                                "POOLING",
                                                "RELU",
                                                "SIGMOID",
                                                "SOFTMAX",
                                                "SOFTMAX_LOSS",
                                                "SPLIT",
                                                "TANH",
                                                "WINDOW_DATA",
                                                "ELTWISE",
                                                "POWER",
                                                "SIGMOID_CROSS_ENTROPY_LOSS",
                                                "HINGE_LOSS",
                                                "MEMORY_DATA",
                                                "ARGMAX",
                                                "THRESHOLD",
                                                "DUMMY_DATA",
                                                "SLICE",
                                                "MVN",
                                                "ABSVAL",
                                                "SILENCE",
                                                "CONTRASTIVE_LOSS",
                                                "EXP",
                                                "DECONVOLUTION"};
  return type >= 0 && std::size_t(type) < std::size(kNames) ? kNames[type] : std::string_view();
}

CaffeModel::CaffeModel(const std::string& path)
    : context_(catena::io_context("CaffeFunction", path)), file_(content_of(path)) {
  constexpr std::uint32_t kV1Layers = 2, kLayers = 100;  // fields of NetParameter
  std::vector<std::span<const std::byte>> old;
  WireReader reader(context_, kKind, file_);
  while (const std::optional<catena::WireField> found = reader.next()) {
    if (found->type != WireType::bytes) continue;
    if (found->number == kLayers) layers_.push_back(found->bytes);
    else if (found->number == kV1Layers) old.push_back(found->bytes);
  }
  v1_ = layers_.empty();
  if (v1_) layers_ = std::move(old);
  check<ValueError>(!layers_.empty(), context_, "has no layers, so it is no model of Caffe");
}

LayerParameter CaffeModel::layer(std::size_t i) const {
  LayerParameter layer;
  const WireReader file(context_, kKind, file_);
  catena::wire::read_message<L>(layer, WireReader(file, layers_.at(i)),
                                v1_ ? std::span<const Field<L>>(kV1Layer) : kLayer);
  return layer;
}

}  // namespace nn::links::caffe::internal
