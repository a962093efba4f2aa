// The descriptors that nd::cuda::cudnn makes, as cuDNN reads them back: on the software device, and with
// the library itself, which needs no device for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <catena/ndarray/cuda/vendor/cudnn.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace test {

namespace cudnn = nd::cuda::cudnn;
namespace api = nd::cuda::api;

constexpr int kRoom = 8;
using Ints = std::vector<int>;

// The fields of a descriptor, as the library returns them. Lists are as long as the library says.
struct TensorRead {
  int type = -1, rank = -1;
  Ints shape = Ints(kRoom, -1), strides = Ints(kRoom, -1);
  explicit TensorRead(const cudnn::TensorDescriptor& desc) {
    cudnn::get_tensor(desc.value(), kRoom, &type, &rank, shape.data(), strides.data());
    shape.resize(std::size_t(rank));
    strides.resize(std::size_t(rank));
  }
};

inline nd::Array zeros(const nd::Shape& shape, nd::Dtype dtype) { return nd::zeros(shape, dtype); }

inline void check_tensor(const nd::Array& a, cudnn::TensorFormat format, int type, const Ints& shape,
                         const Ints& strides) {
  const TensorRead read(cudnn::create_tensor_descriptor(a, format));
  BOOST_TEST(read.type == type);
  BOOST_TEST(read.shape == shape, boost::test_tools::per_element());
  BOOST_TEST(read.strides == strides, boost::test_tools::per_element());
}

inline void check_tensors() {
  using cudnn::TensorFormat;
  check_tensor(zeros({2, 3, 4, 5}, nd::float32), TensorFormat::nchw, 0, {2, 3, 4, 5}, {60, 20, 5, 1});
  check_tensor(zeros({2, 3, 4, 5}, nd::float64), TensorFormat::nhwc, 1, {2, 3, 4, 5}, {60, 1, 15, 3});
  check_tensor(zeros({6, 7}, nd::float16), TensorFormat::nchw, 2, {6, 7}, {7, 1});
  check_tensor(zeros({6, 7}, nd::float16), TensorFormat::nhwc, 2, {6, 7}, {7, 1});
  check_tensor(zeros({2, 1, 3, 1, 2}, nd::bfloat16), TensorFormat::nchw, 9, {2, 1, 3, 1, 2}, {6, 6, 2, 2, 1});
  check_tensor(zeros({2, 5, 3}, nd::float32), TensorFormat::nhwc, 0, {2, 5, 3}, {15, 1, 5});
  check_tensor(zeros({1, 1, 1, 1}, nd::float32), TensorFormat::nchw, 0, {1, 1, 1, 1}, {1, 1, 1, 1});
  const TensorRead nd_tensor(cudnn::create_tensor_nd_descriptor(zeros({3, 2, 4}, nd::float32)));
  BOOST_TEST(nd_tensor.strides == (Ints{8, 4, 1}), boost::test_tools::per_element());

  const cudnn::TensorDescriptor bare = cudnn::create_uninitialized_tensor_descriptor();
  const int shape[] = {4, 3}, strides[] = {3, 1};
  cudnn::set_tensor(bare.value(), api::cudnn_double, 2, shape, strides);
  BOOST_TEST(TensorRead(bare).type == 1);
  BOOST_TEST(TensorRead(bare).shape == (Ints{4, 3}), boost::test_tools::per_element());

  // A copy is the same descriptor, which lives as long as one of them.
  cudnn::TensorDescriptor copy;
  BOOST_TEST(!copy);
  {
    const cudnn::TensorDescriptor made = cudnn::create_tensor_descriptor(zeros({2, 9}, nd::float32));
    copy = made;
    BOOST_TEST(copy.value() == made.value());
  }
  BOOST_TEST(TensorRead(copy).shape == (Ints{2, 9}), boost::test_tools::per_element());
}

inline void check_filters() {
  int type = -1, format = -1, rank = -1;
  Ints shape(kRoom, -1);
  const auto read = [&](const nd::Array& a, cudnn::TensorFormat as) {
    const cudnn::FilterDescriptor desc = cudnn::create_filter_descriptor(a, as);
    shape.assign(kRoom, -1);
    cudnn::get_filter(desc.value(), kRoom, &type, &format, &rank, shape.data());
    shape.resize(std::size_t(rank));
  };
  read(zeros({8, 3, 5, 7}, nd::float16), cudnn::TensorFormat::nchw);
  BOOST_TEST((type == 2 && format == 0));
  BOOST_TEST(shape == (Ints{8, 3, 5, 7}), boost::test_tools::per_element());
  read(zeros({8, 3, 5}, nd::float64), cudnn::TensorFormat::nhwc);
  BOOST_TEST((type == 1 && format == 1));
  BOOST_TEST(shape == (Ints{8, 3, 5}), boost::test_tools::per_element());
}

inline void check_convolutions() {
  const auto read = [](const cudnn::ConvolutionDescriptor& desc, Ints pad, Ints stride, int mode, int compute) {
    Ints pads(kRoom, -1), strides(kRoom, -1), dilations(kRoom, -1);
    int rank = -1, actual_mode = -1, actual_compute = -1;
    cudnn::get_convolution(desc.value(), 6, &rank, pads.data(), strides.data(), dilations.data(), &actual_mode,
                           &actual_compute);
    BOOST_TEST(std::size_t(rank) == pad.size());
    for (Ints* list : {&pads, &strides, &dilations}) list->resize(pad.size());
    BOOST_TEST(pads == pad, boost::test_tools::per_element());
    BOOST_TEST(strides == stride, boost::test_tools::per_element());
    BOOST_TEST(dilations == Ints(pad.size(), 1), boost::test_tools::per_element());
    BOOST_TEST(actual_mode == mode);
    BOOST_TEST(actual_compute == compute);
  };
  read(cudnn::create_convolution_descriptor({1, 0}, {2, 3}, nd::float32), {1, 0}, {2, 3}, 1, 0);
  read(cudnn::create_convolution_descriptor({1, 2, 3}, {4, 5, 6}, nd::float64, cudnn::ConvolutionMode::convolution),
       {1, 2, 3}, {4, 5, 6}, 0, 1);
  read(cudnn::create_convolution_descriptor({4}, {1}, nd::float16), {4}, {1}, 1, 0);  // sums in float32
  read(cudnn::create_convolution_descriptor({4}, {1}, nd::bfloat16), {4}, {1}, 1, 0);
}

inline void check_poolings() {
  using cudnn::PoolingMode;
  const auto read = [](const cudnn::PoolingDescriptor& desc, int mode, Ints window, Ints pad, Ints stride) {
    Ints windows(kRoom, -1), pads(kRoom, -1), strides(kRoom, -1);
    int rank = -1, actual_mode = -1, nan = -1;
    cudnn::get_pooling(desc.value(), 6, &actual_mode, &nan, &rank, windows.data(), pads.data(), strides.data());
    BOOST_TEST(std::size_t(rank) == window.size());
    for (Ints* list : {&windows, &pads, &strides}) list->resize(window.size());
    BOOST_TEST(windows == window, boost::test_tools::per_element());
    BOOST_TEST(pads == pad, boost::test_tools::per_element());
    BOOST_TEST(strides == stride, boost::test_tools::per_element());
    BOOST_TEST(actual_mode == mode);
    BOOST_TEST(nan == 0);
  };
  read(cudnn::create_pooling_descriptor({3, 2}, {5, 4}, {1, 0}, PoolingMode::max), 0, {3, 2}, {1, 0}, {5, 4});
  read(cudnn::create_pooling_descriptor({3}, {2}, {1}, PoolingMode::average_count_include_padding), 1, {3}, {1}, {2});
  read(cudnn::create_pooling_descriptor({2, 3, 4}, {5, 6, 7}, {0, 1, 2}, PoolingMode::average_count_exclude_padding), 2,
       {2, 3, 4}, {0, 1, 2}, {5, 6, 7});
  read(cudnn::create_pooling_descriptor({3}, {2}, {1}, PoolingMode::max_deterministic), 3, {3}, {1}, {2});
}

inline void check_activation_descriptors() {
  using cudnn::ActivationMode;
  int number = 0;
  for (const ActivationMode mode :
       {ActivationMode::sigmoid, ActivationMode::relu, ActivationMode::tanh, ActivationMode::clipped_relu}) {
    int actual = -1, nan = -1;
    double coef = -1;
    const cudnn::ActivationDescriptor desc = cudnn::create_activation_descriptor(mode, 2.5 + number);
    cudnn::get_activation(desc.value(), &actual, &nan, &coef);
    BOOST_TEST(actual == number);
    BOOST_TEST(nan == 0);
    BOOST_TEST(coef == 2.5 + number);
    ++number;
  }
}

struct RnnRead {
  int algorithm = -1, cell = -1, bias = -1, direction = -1, input = -1, type = -1, compute = -1, math = -1;
  std::int32_t inputs = -1, units = -1, projected = -1, layers = -1;
  api::cudnn_dropout_descriptor dropout = nullptr;
  std::uint32_t flags = 77;
  explicit RnnRead(const cudnn::RnnDescriptor& d) {
    cudnn::get_rnn(d.value(), &algorithm, &cell, &bias, &direction, &input, &type, &compute, &math, &inputs, &units,
                   &projected, &layers, &dropout, &flags);
  }
};

inline void check_networks() {
  using namespace cudnn;
  const RnnRead lstm(create_rnn_descriptor(9, 2, {}, RnnInputMode::linear, DirectionMode::bidirectional, RnnMode::lstm,
                                           nd::float32, 7));
  BOOST_TEST((lstm.algorithm == 0 && lstm.cell == 2 && lstm.bias == 2 && lstm.direction == 1 && lstm.input == 0));
  BOOST_TEST((lstm.type == 0 && lstm.compute == 0 && lstm.math == 0));
  BOOST_TEST((lstm.inputs == 7 && lstm.units == 9 && lstm.projected == 9 && lstm.layers == 2));
  BOOST_TEST((lstm.dropout == nullptr && lstm.flags == 0u));
  const RnnRead gru(
      create_rnn_descriptor(5, 1, {}, RnnInputMode::skip, DirectionMode::unidirectional, RnnMode::gru, nd::float16));
  BOOST_TEST((gru.cell == 3 && gru.direction == 0 && gru.input == 1 && gru.inputs == 5 && gru.units == 5));
  BOOST_TEST((gru.type == 2 && gru.compute == 0));
  const RnnRead plain(
      create_rnn_descriptor(5, 3, {}, RnnInputMode::linear, DirectionMode::unidirectional, RnnMode::relu, nd::float64));
  BOOST_TEST((plain.cell == 0 && plain.type == 1 && plain.compute == 1 && plain.layers == 3));
  BOOST_TEST(RnnRead(create_rnn_descriptor(5, 3, {}, RnnInputMode::linear, DirectionMode::unidirectional, RnnMode::tanh,
                                           nd::float64))
                 .cell == 1);
  BOOST_TEST(
      static_cast<bool>(create_spatial_transformer_descriptor(SamplerType::bilinear, nd::float32, 4, {2, 3, 4, 5})));
}

// Wrong arguments are refused before the library is called, or in the library's words.
inline void check_descriptor_errors() {
  using namespace cudnn;
  const nd::Array a = zeros({4, 6}, nd::float32);
  BOOST_TEST(message_of<catena::ValueError>([&] { create_tensor_descriptor(a.transpose()); }) ==
             "cudnn::create_tensor_descriptor: the array of shape (6, 4) and strides (4, 24) must be C-contiguous");
  BOOST_TEST(
      message_of<catena::ValueError>([&] {
        create_filter_descriptor(zeros({4, 3, 2}, nd::float32).transpose());
      }) ==
      "cudnn::create_filter_descriptor: the array of shape (2, 3, 4) and strides (4, 8, 24) must be C-contiguous");
  BOOST_TEST(message_of<catena::ValueError>([] { create_tensor_descriptor(nd::Array()); }) ==
             "cudnn::create_tensor_descriptor: the array is null");
  for (const nd::Dtype dtype : {nd::int32, nd::uint8, nd::bool_, nd::complex64})
    BOOST_TEST(message_of<catena::TypeError>([&] {
                 create_tensor_descriptor(zeros({2, 2}, dtype));
               }) == catena::concat("cudnn::get_data_type: cuDNN has no type for arrays of dtype ", dtype));
  BOOST_CHECK_THROW(create_filter_descriptor(zeros({2, 2, 2}, nd::int64)), catena::TypeError);
  BOOST_CHECK_THROW(create_convolution_descriptor({1}, {1}, nd::int32), catena::TypeError);
  BOOST_CHECK_THROW(create_spatial_transformer_descriptor(SamplerType::bilinear, nd::int8, 1, {2}), catena::TypeError);
  BOOST_TEST(message_of<catena::ValueError>([] {
               create_tensor_descriptor(zeros({1LL << 33, 0}, nd::float32));
             }) == "cudnn::create_tensor_descriptor: the length 8589934592 does not fit in 32 bits");
  BOOST_TEST(message_of<catena::ValueError>([] {
               create_convolution_descriptor({1, 1}, {1}, nd::float32);
             }) == "cudnn::create_convolution_descriptor: pad (1, 1) and stride (1,) must be of one length");
  BOOST_TEST(message_of<catena::ValueError>([] {
               create_pooling_descriptor({2, 2}, {1}, {0, 0}, PoolingMode::max);
             }) == "cudnn::create_pooling_descriptor: ksize (2, 2), stride (1,) and pad (0, 0) must be of one length");
  BOOST_CHECK_THROW(create_pooling_descriptor({2, 2}, {1, 1}, {0}, PoolingMode::max), catena::ValueError);
  BOOST_TEST(message_of<catena::ValueError>([] {
               create_spatial_transformer_descriptor(SamplerType::bilinear, nd::float32, 3, {2, 3, 4, 5});
             }) == "cudnn::create_spatial_transformer_descriptor: dim_a (2, 3, 4, 5) must have nb_dims = 3 elements");
  const auto network = [](std::int64_t units, std::int64_t layers, RnnInputMode input, std::int64_t inputs) {
    create_rnn_descriptor(units, layers, {}, input, DirectionMode::unidirectional, RnnMode::gru, nd::float32, inputs);
  };
  BOOST_TEST(message_of<catena::ValueError>([&] { network(4, 1, RnnInputMode::skip, 5); }) ==
             "cudnn::create_rnn_descriptor: input_size 5 must be hidden_size 4 where the input is not multiplied by a "
             "matrix");
  BOOST_TEST(message_of<catena::ValueError>([&] { network(0, 1, RnnInputMode::linear, 5); }) ==
             "cudnn::create_rnn_descriptor: hidden_size 0, num_layers 1 and input_size 5 must be positive");
  BOOST_CHECK_THROW(network(3, 0, RnnInputMode::linear, 0), catena::ValueError);
  BOOST_CHECK_THROW(network(1LL << 40, 1, RnnInputMode::linear, 0), catena::ValueError);
  BOOST_CHECK_THROW(set_dropout_descriptor({}, nullptr, 0.5), catena::ValueError);

  // The library's own: the function, its words and its status.
  const auto refused = [](auto&& f, const std::string& call, const std::string& symbol) {
    const std::string text = message_of<catena::CudnnError>(f);
    BOOST_TEST(text.starts_with(call + ": "), text);
    BOOST_TEST(text.find("cuDNN error") != std::string::npos, text);
    BOOST_TEST(text.find("(" + symbol + ")") != std::string::npos, text);
  };
  refused([] { create_tensor_descriptor(zeros({3}, nd::float32)); }, "cudnnSetTensorNdDescriptor",
          "CUDNN_STATUS_BAD_PARAM");
  refused(
      [] {
        create_tensor_descriptor(zeros({2, 0}, nd::float32));
      },
      "cudnnSetTensorNdDescriptor", "CUDNN_STATUS_BAD_PARAM");
  refused(
      [] {
        create_tensor_descriptor(zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}, nd::float32));
      },
      "cudnnSetTensorNdDescriptor", "CUDNN_STATUS_NOT_SUPPORTED");
  refused(
      [] {
        create_filter_descriptor(zeros({2, 2}, nd::float32));
      },
      "cudnnSetFilterNdDescriptor", "CUDNN_STATUS_BAD_PARAM");
  refused([] { create_convolution_descriptor({1}, {0}, nd::float32); }, "cudnnSetConvolutionNdDescriptor",
          "CUDNN_STATUS_BAD_PARAM");
  refused([] { create_pooling_descriptor({0}, {1}, {0}, PoolingMode::max); }, "cudnnSetPoolingNdDescriptor",
          "CUDNN_STATUS_BAD_PARAM");
  refused([] { create_activation_descriptor(static_cast<ActivationMode>(9)); }, "cudnnSetActivationDescriptor",
          "CUDNN_STATUS_BAD_PARAM");
}

}  // namespace test
