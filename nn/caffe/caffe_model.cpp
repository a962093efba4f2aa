#include <catena/nn/caffe/caffe_model.h>

#include <bit>
#include <cstring>
#include <type_traits>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/nn/caffe/wire.h>

namespace nn::links::caffe::internal {

using catena::check;
using catena::ValueError;

namespace {

// Limit for the names and blobs of one layer, because an entry may need only two bytes in the file.
constexpr std::size_t kMaxRepeated = 65536;

// Reads one field of M. A field whose wire type does not fit the member is skipped as unknown, as in the library of
// protocol buffers.
template <class M> struct Field {
  std::uint32_t number;
  void (*read)(M& message, const WireReader& reader, const WireField& field);
};

template <class M> void read_message(M& message, WireReader reader, std::span<const Field<M>> fields) {
  while (const std::optional<WireField> found = reader.next())
    for (const Field<M>& f : fields)
      if (f.number == found->number) f.read(message, reader, *found);
}

// ---- members, by their types -----------------------------------------------------------------------
template <class T> struct Repeated : std::false_type {};
template <class T> struct Repeated<std::vector<T>> : std::true_type {};

template <class T> constexpr WireType wire_type_of() {
  if (std::is_integral_v<T>) return WireType::varint;
  return sizeof(T) == 4 ? WireType::fixed32 : WireType::fixed64;
}
template <class T> T number_of(std::uint64_t value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(value);
  else if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<std::uint32_t>(value));
  else return std::bit_cast<T>(value);
}

template <class T>
requires std::is_arithmetic_v<T>
void take(T& member, const WireReader&, const WireField& field) {
  if (field.type == wire_type_of<T>()) member = number_of<T>(field.value);
}
template <class T> void take(std::optional<T>& member, const WireReader& reader, const WireField& field) {
  T value{};
  take(value, reader, field);
  if (field.type == wire_type_of<T>()) member = value;
}
void take(std::string& member, const WireReader&, const WireField& field) {
  if (field.type == WireType::bytes)
    member.assign(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
}
// Numbers, one by one or packed.
template <class T>
requires std::is_arithmetic_v<T>
void take(std::vector<T>& member, const WireReader& reader, const WireField& field) {
  if (field.type == wire_type_of<T>()) {
    member.push_back(number_of<T>(field.value));
  } else if (field.type == WireType::bytes && std::is_integral_v<T>) {
    for (WireReader packed(reader, field.bytes); !packed.at_end();) member.push_back(number_of<T>(packed.varint()));
  } else if (field.type == WireType::bytes) {
    check<ValueError>(field.bytes.size() % sizeof(T) == 0, reader.context(),
                      "is no model of Caffe: ", field.bytes.size(), " bytes before byte ", reader.position(),
                      " are no numbers of ", sizeof(T), " bytes");
    const std::size_t before = member.size();
    member.resize(before + field.bytes.size() / sizeof(T));
    if (!field.bytes.empty()) std::memcpy(member.data() + before, field.bytes.data(), field.bytes.size());
  }
}
template <class M>
void take(M& message, const WireReader& reader,
          const WireField& field) requires(std::is_class_v<M> && !Repeated<M>::value);

template <class M>
requires std::is_class_v<M>
void take(std::vector<M>& members, const WireReader& reader, const WireField& field) {
  if (field.type != WireType::bytes) return;
  check<ValueError>(members.size() < kMaxRepeated, reader.context(), "the layer before byte ", reader.position(),
                    " has more than ", kMaxRepeated, " entries of one kind");
  take(members.emplace_back(), reader, field);
}

template <class M, class T> M class_of(T M::*);
template <auto Member>
void take_member(decltype(class_of(Member))& message, const WireReader& reader, const WireField& field) {
  take(message.*Member, reader, field);
}
template <std::uint32_t number, auto Member> constexpr Field<decltype(class_of(Member))> field() {
  return {number, take_member<Member>};
}

// ---- the fields of the messages --------------------------------------------------------------------
template <class M> struct Fields;  // `list`: its fields

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

// A message that occurs twice is merged: numbers of the second replace those of the first, lists are continued.
template <class M>
void take(M& message, const WireReader& reader,
          const WireField& field) requires(std::is_class_v<M> && !Repeated<M>::value) {
  if (field.type == WireType::bytes)
    read_message<M>(message, WireReader(reader, field.bytes), std::span<const Field<M>>(Fields<M>::list));
}

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
  WireReader reader(context_, file_);
  while (const std::optional<WireField> found = reader.next()) {
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
  const WireReader file(context_, file_);
  read_message<L>(layer, WireReader(file, layers_.at(i)), v1_ ? std::span<const Field<L>>(kV1Layer) : kLayer);
  return layer;
}

}  // namespace nn::links::caffe::internal
