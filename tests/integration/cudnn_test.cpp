// The descriptions for cuDNN: graphs of convolutions, and networks, are given to the real library wherever it is, which
// needs no GPU; where there is one, the results of convolutions are compared with those of the portable implementation.
// The other results are compared by cudnn_calls_test.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/cudnn/plans.h>
#include <catena/catena.h>
#include <catena/ndarray/device/device.h>

namespace {

using namespace autograd;
using internal::cudnn::ConvolutionProblem;
using internal::cudnn::Layout;
using internal::cudnn::Pass;
namespace cudnn = internal::cudnn;

bool have_cudnn() {
  try {
    cudnn::library();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

// Shapes of one convolution.
struct Case {
  const char* name;
  Shape x, w;
  ConvolutionSpec spec;

  Shape y() const {
    Shape y{x[0], w[0]};
    for (int i = 2; i < x.size(); ++i)
      y.push_back(
          get_conv_outsize(x[i], w[i], spec.stride[i - 2], spec.pad[i - 2], spec.cover_all, spec.dilate[i - 2]));
    return y;
  }
};
std::vector<Case> cases() {
  return {
      {"plain", {2, 8, 6, 7}, {4, 8, 3, 3}, {.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}}},
      {"stride", {2, 8, 9, 8}, {4, 8, 3, 2}, {.stride = {2, 3}, .pad = {0, 1}, .dilate = {1, 1}}},
      {"dilate", {1, 4, 11, 12}, {8, 4, 3, 3}, {.stride = {1, 2}, .pad = {2, 0}, .dilate = {2, 3}}},
      {"groups", {2, 8, 6, 6}, {16, 4, 3, 3}, {.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}, .groups = 2}},
      {"depthwise", {2, 8, 6, 6}, {8, 1, 3, 3}, {.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}, .groups = 8}},
      {"pointwise", {3, 8, 5, 5}, {16, 8, 1, 1}, {.stride = {1, 1}, .pad = {0, 0}, .dilate = {1, 1}}},
      {"cover_all", {2, 8, 6, 6}, {4, 8, 3, 3}, {.stride = {2, 2}, .pad = {0, 0}, .dilate = {1, 1}, .cover_all = true}},
      {"cover_all, dilate",
       {2, 8, 9, 10},
       {4, 8, 2, 3},
       {.stride = {3, 2}, .pad = {1, 0}, .dilate = {2, 1}, .cover_all = true}},
      {"one axis", {2, 8, 17}, {4, 8, 5}, {.stride = {2}, .pad = {2}, .dilate = {1}}},
      {"three axes", {1, 8, 5, 6, 7}, {8, 8, 3, 3, 3}, {.stride = {1, 1, 2}, .pad = {1, 1, 1}, .dilate = {1, 1, 1}}},
      {"deterministic",
       {2, 8, 6, 7},
       {4, 8, 3, 3},
       {.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}, .deterministic = true}},
  };
}

constexpr int kTypes[] = {nd::cuda::api::cudnn_half, nd::cuda::api::cudnn_bfloat16, nd::cuda::api::cudnn_float,
                          nd::cuda::api::cudnn_double};

BOOST_AUTO_TEST_SUITE(cudnn_descriptions)

BOOST_AUTO_TEST_CASE(strides_of_both_layouts) {
  const Shape shape{2, 3, 4, 5};
  BOOST_TEST((cudnn::packed_strides(shape, Layout::contiguous) == Dims{60, 20, 5, 1}));
  BOOST_TEST((cudnn::packed_strides(shape, Layout::channels_last) == Dims{60, 1, 15, 3}));
  // Together with the lengths they reach every place exactly once.
  for (const Layout layout : {Layout::contiguous, Layout::channels_last}) {
    const Dims s = cudnn::packed_strides({2, 3, 1, 4, 5}, layout);
    std::set<std::int64_t> places;
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t h = 0; h < 4; ++h)
          for (std::int64_t w = 0; w < 5; ++w) places.insert(n * s[0] + c * s[1] + h * s[3] + w * s[4]);
    BOOST_TEST(places.size() == 120u);
    BOOST_TEST(*places.rbegin() == 119);
  }
}

// Every descriptor is accepted by the real library: dimensions, strides, attribute types and counts.
BOOST_AUTO_TEST_CASE(graphs_are_accepted_by_the_library) {
  if (!have_cudnn()) return;
  BOOST_TEST(cudnn::library().version >= 90000u);
  for (const Case& c : cases())
    for (const int type : kTypes)
      for (const Layout layout : {Layout::contiguous, Layout::channels_last})
        for (const Pass pass : {Pass::forward, Pass::forward_bias, Pass::data, Pass::filter})
          BOOST_TEST_CONTEXT(c.name << " type " << type << " layout " << int(layout) << " pass " << int(pass)) {
            const cudnn::Graph graph = ConvolutionProblem(pass, type, layout, c.x, c.w, c.y(), c.spec).describe();
            BOOST_TEST(graph.operations().size() == (pass == Pass::forward_bias ? 2u : 1u));
          }
}

BOOST_AUTO_TEST_CASE(networks_and_sequences_are_accepted_by_the_library) {
  if (!have_cudnn() || !cudnn::library().has_rnn) return;
  namespace api = nd::cuda::api;
  const cudnn::Library& lib = cudnn::library();
  const auto network = CATENA_CUDNN_OWN(rnn);
  const auto set = [&](int cell, int direction, int type, int math, int projected) {
    return lib.set_rnn(network.get(), api::cudnn_rnn_standard, cell, api::cudnn_rnn_double_bias, direction,
                       api::cudnn_linear_input, type, type, math, 3, 4, projected, 2, nullptr, 0);
  };
  for (const int cell : {api::cudnn_rnn_relu, api::cudnn_rnn_tanh, api::cudnn_lstm, api::cudnn_gru})
    for (const int direction : {api::cudnn_unidirectional, api::cudnn_bidirectional}) {
      BOOST_TEST(set(cell, direction, api::cudnn_double, api::cudnn_default_math, 4) == api::cudnn_success);
      for (const int math : {api::cudnn_default_math, api::cudnn_fma_math})
        BOOST_TEST(set(cell, direction, api::cudnn_float, math, 4) == api::cudnn_success);
    }
  BOOST_TEST(set(api::cudnn_gru, api::cudnn_unidirectional, api::cudnn_float, api::cudnn_fma_math, 5) !=
             api::cudnn_success);

  const auto sequences = CATENA_CUDNN_OWN(rnn_data);
  const int sorted[] = {4, 2, 1}, unsorted[] = {2, 4, 1};
  const auto set_lengths = [&](const int* lengths) {
    return lib.set_rnn_data(sequences.get(), api::cudnn_float, api::cudnn_rnn_packed, 4, 3, 5, lengths, nullptr);
  };
  BOOST_TEST(set_lengths(sorted) == api::cudnn_success);
  BOOST_TEST(set_lengths(unsorted) != api::cudnn_success);
  BOOST_CHECK_NO_THROW(cudnn::tensor_descriptor(api::cudnn_float, {2, 3, 4, 1}, {12, 4, 1, 1}));
  BOOST_CHECK_THROW(cudnn::tensor_descriptor(api::cudnn_float, {std::int64_t(1) << 31, 1, 1, 1}, {1, 1, 1, 1}),
                    cudnn::NotSupported);
}

BOOST_AUTO_TEST_CASE(wrong_descriptors_are_refused_in_the_librarys_own_words) {
  if (!have_cudnn()) return;
  namespace api = nd::cuda::api;
  cudnn::Descriptor tensor(api::cudnn_tensor);
  tensor.set_type(api::cudnn_attr_tensor_data_type, api::cudnn_float);
  tensor.set_integers(api::cudnn_attr_tensor_dimensions, {2, 3, 4, 5});
  tensor.set_integers(api::cudnn_attr_tensor_strides, {60, 20, 5});  // one is missing
  tensor.set_integer(api::cudnn_attr_tensor_id, 1);
  tensor.set_integer(api::cudnn_attr_tensor_alignment, 16);
  try {
    tensor.finalize();
    BOOST_ERROR("nothing was thrown");
  } catch (const catena::CudaError& e) {
    BOOST_TEST(e.library() == "cuDNN");
    BOOST_TEST(e.symbol().substr(0, 22) == "CUDNN_STATUS_BAD_PARAM");
    const std::string call = "cudnnBackendFinalize: ";
    BOOST_TEST(std::string(e.what()).substr(0, call.size()) == call, e.what());
    BOOST_TEST(std::string(e.what()).find(e.symbol()) > call.size(),
               "words of the library stand between: " << e.what());
  }
  // An attribute that does not belong to the descriptor.
  cudnn::Descriptor other(api::cudnn_tensor);
  BOOST_CHECK_THROW(other.set_integer(api::cudnn_attr_convolution_spatial_dims, 2), catena::CudaError);
}

// An H100 in the library's own words; it then makes plans for one that is not there.
constexpr char kH100[] = R"({"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "deviceName": "NVIDIA H100 80GB HBM3", "regsPerBlock": 65536, "multiProcessorCount": 132,
  "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 9008, "isTccDriver": 0,
  "supportCoopLaunch": 1, "totalGlobalMem": 85899345920, "smClockRateKHz": 1980000,
  "memClockRateKHz": 2619000, "l2CacheSize": 52428800, "cudaDeviceId": 0, "deviceVer": 900,
  "driverVer": 13000})";

// The library's notes about the engine that a plan uses.
std::set<int> notes_of(const cudnn::Plan& plan) {
  namespace api = nd::cuda::api;
  cudnn::Descriptor engine(api::cudnn_engine);
  api::cudnn_descriptor handle = engine.get();
  plan.config.get_attribute(api::cudnn_attr_engine_config_engine, api::cudnn_type_descriptor, 1, &handle);
  int notes[api::cudnn_note_count] = {};
  constexpr std::int64_t capacity = api::cudnn_note_count;
  const std::int64_t count =
      engine.get_attribute(api::cudnn_attr_engine_notes, api::cudnn_type_numerical_note, capacity, notes);
  return {notes, notes + std::min(count, capacity)};
}

// Heuristics, filters and plans as on a real device: every case has a plan in one of the layouts at least, and the
// plans keep the rules.
BOOST_AUTO_TEST_CASE(plans_for_a_described_device_keep_the_rules) {
  if (!have_cudnn()) return;
  namespace api = nd::cuda::api;
  if (cudnn::library().version < 91900) {
    std::cout << "skipped: cuDNN " << cudnn::library().version << " makes no plans for a device that is not there\n";
    return;
  }
  cudnn::Descriptor h100(api::cudnn_device_properties);
  h100.set(api::cudnn_attr_properties_json, api::cudnn_type_char, sizeof kH100 - 1, kH100);
  h100.finalize();
  int plans = 0;
  for (const Case& c : cases())
    for (const int type : kTypes)
      for (const Pass pass : {Pass::forward, Pass::data, Pass::filter})
        for (const bool tf32 : {false, true})
          BOOST_TEST_CONTEXT(c.name << " type " << type << " pass " << int(pass) << " tf32 " << tf32) {
            const cudnn::PlanRules rules{type, c.spec.deterministic, tf32, std::int64_t(256) << 20};
            int found = 0;
            for (const Layout layout : {Layout::contiguous, Layout::channels_last}) {
              const ConvolutionProblem problem(pass, type, layout, c.x, c.w, c.y(), c.spec);
              const cudnn::PlanPtr plan =
                  cudnn::make_plan({.handle = nullptr, .properties = &h100}, problem.describe(), rules);
              if (plan == nullptr) continue;
              ++found;
              const std::set<int> notes = notes_of(*plan);
              BOOST_TEST(notes.count(api::cudnn_note_down_convert_inputs) == 0u);
              BOOST_TEST(notes.count(api::cudnn_note_reduced_precision_reduction) == 0u);
              if (type == api::cudnn_float && !tf32) BOOST_TEST(notes.count(api::cudnn_note_tensor_core) == 0u);
              if (c.spec.deterministic) BOOST_TEST(notes.count(api::cudnn_note_nondeterministic) == 0u);
              BOOST_TEST((plan->workspace_bytes >= 0 && plan->workspace_bytes <= rules.workspace_limit));
            }
            BOOST_TEST(found > 0);
            plans += found;
          }
  std::cout << plans << " plans for an H100\n";
}

// 16-bit operands need not be copied into one layout: engines transpose them in their workspace.
BOOST_AUTO_TEST_CASE(plans_for_operands_of_several_layouts) {
  if (!have_cudnn()) return;
  namespace api = nd::cuda::api;
  if (cudnn::library().version < 91900) return;
  cudnn::Descriptor h100(api::cudnn_device_properties);
  h100.set(api::cudnn_attr_properties_json, api::cudnn_type_char, sizeof kH100 - 1, kH100);
  h100.finalize();
  const Shape x{64, 256, 28, 28}, w{256, 256, 3, 3};
  const ConvolutionSpec spec{.stride = {1, 1}, .pad = {1, 1}, .dilate = {1, 1}};
  constexpr Layout kLast = Layout::channels_last, kPlain = Layout::contiguous;
  const auto bytes = [&](Pass pass, const cudnn::Layouts& layouts) {
    const ConvolutionProblem problem(pass, api::cudnn_half, layouts, x, w, x, spec);
    const cudnn::PlanPtr plan = cudnn::make_plan({.handle = nullptr, .properties = &h100}, problem.describe(),
                                                 {api::cudnn_half, false, false, std::int64_t(256) << 20});
    BOOST_REQUIRE(plan != nullptr);
    return plan->workspace_bytes;
  };
  const std::int64_t image = 64 * 256 * 28 * 28 * 2, filter = 256 * 256 * 9 * 2;
  for (const Pass pass : {Pass::forward, Pass::data, Pass::filter}) {
    BOOST_TEST(bytes(pass, kLast) < filter);
    BOOST_TEST(bytes(pass, {kLast, kPlain, kLast}) >= filter);
    BOOST_TEST(bytes(pass, {kLast, kPlain, kLast}) < image);
    BOOST_TEST(bytes(pass, {kPlain, kPlain, kLast}) >= image + filter);
    BOOST_TEST(bytes(pass, {kPlain, kPlain, kLast}) < 2 * image);
  }
}

BOOST_AUTO_TEST_CASE(configurations_have_keys_of_their_own) {
  std::set<std::vector<std::int64_t>> keys;
  std::size_t count = 0;
  for (const Case& c : cases()) {
    if (c.spec.deterministic) continue;  // one of the rules and not of the configuration
    for (const cudnn::Layouts& layout : {cudnn::Layouts(Layout::contiguous), cudnn::Layouts(Layout::channels_last),
                                         cudnn::Layouts(Layout::contiguous, Layout::contiguous, Layout::channels_last),
                                         cudnn::Layouts(Layout::channels_last, Layout::contiguous, Layout::contiguous),
                                         cudnn::Layouts(Layout::contiguous, Layout::channels_last, Layout::contiguous)})
      for (const Pass pass : {Pass::forward, Pass::forward_bias, Pass::data, Pass::filter}) {
        keys.insert(ConvolutionProblem(pass, nd::cuda::api::cudnn_float, layout, c.x, c.w, c.y(), c.spec).key());
        ++count;
      }
  }
  BOOST_TEST(keys.size() == count);
}

BOOST_AUTO_TEST_CASE(work_space_has_a_limit) {
  constexpr std::int64_t kMiB = 1 << 20;
  for (const auto& [free, expected] : {std::pair(std::int64_t(0), 256 * kMiB),
                                       {4096 * kMiB, 256 * kMiB},
                                       {8192 * kMiB, 512 * kMiB},
                                       {16384 * kMiB, 1024 * kMiB},
                                       {81920 * kMiB, 1024 * kMiB}})
    BOOST_TEST(cudnn::default_workspace_size(free) == expected);
  const nd::Device here = nd::current_device();
  const std::int64_t before = cudnn::max_workspace_size(here);
  BOOST_TEST(before >= 256 * kMiB);
  cudnn::set_max_workspace_size(12345);
  BOOST_TEST(cudnn::max_workspace_size(here) == 12345);
  {
    const auto scope = using_config({.max_workspace_size = 77});
    BOOST_TEST(cudnn::max_workspace_size(here) == 77);
  }
  BOOST_CHECK_THROW(cudnn::set_max_workspace_size(-1), catena::ValueError);
  BOOST_TEST(cudnn::max_workspace_size(here) == 12345);
  cudnn::set_max_workspace_size(before);
}

// ---- on a device --------------------------------------------------------------------------------
const Device kCuda{Device::Kind::cuda, 0};

Array numbers(const Shape& shape, Dtype dtype, int seed) {
  std::vector<double> values(static_cast<std::size_t>(catena::size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double((i * 7 + i / 5 * 3 + std::size_t(seed)) % 11) / 8 - 0.625;
  return to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), dtype), kCuda);
}

void check_close(const Array& actual, const Array& expected, double tolerance) {
  BOOST_REQUIRE(actual.shape() == expected.shape());
  BOOST_TEST(actual.dtype() == expected.dtype());
  const auto host = [](const Array& a) {
    std::vector<double> v(static_cast<std::size_t>(a.size()));
    to_host(astype(a, Dtype::float64), v.data());
    return v;
  };
  const std::vector<double> a = host(actual), e = host(expected);
  double scale = 1;
  for (const double v : e) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i) BOOST_REQUIRE(std::abs(a[i] - e[i]) <= tolerance * scale);
}

Array channels_last(const Array& a) {
  Dims to{0}, back{0, a.ndim() - 1};
  for (int i = 2; i < a.ndim(); ++i) to.push_back(i);
  to.push_back(1);
  for (int i = 1; i < a.ndim() - 1; ++i) back.push_back(i);
  return transpose(copy(transpose(a, to)), back);
}

BOOST_AUTO_TEST_CASE(results_agree_with_the_portable_implementation) {
  if (!nd::is_available(Device::Kind::cuda)) {
    std::cout << "skipped: there is no CUDA device on this machine\n";
    return;
  }
  if (!have_cudnn()) return;
  for (const Case& c : cases())
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
      for (const bool last : {false, true})
        BOOST_TEST_CONTEXT(c.name << " " << dtype << (last ? " channels last" : "")) {
          const double tolerance = dtype == Dtype::float64   ? 1e-12
                                   : dtype == Dtype::float32 ? 1e-5
                                   : dtype == Dtype::float16 ? 2e-3
                                                             : 1e-2;
          const Array given = numbers(c.x, dtype, 1), w = numbers(c.w, dtype, 2), b = numbers({c.w[0]}, dtype, 3);
          const Array gy = numbers(c.y(), dtype, 4);
          const Array x = last ? channels_last(given) : given, gradient = last ? channels_last(gy) : gy;
          const Dims spatial(std::span<const std::int64_t>(c.x.data() + 2, std::size_t(c.x.size() - 2)));
          const Dims kernel(std::span<const std::int64_t>(c.w.data() + 2, std::size_t(c.w.size() - 2)));
          NnExtension& own = nn_extension(x);
          NnExtension& portable = portable_nn_extension();
          BOOST_TEST(&own != &portable);
          check_close(own.convolution(x, w, b, c.spec), portable.convolution(x, w, b, c.spec), tolerance);
          check_close(own.convolution(x, w, Array(), c.spec), portable.convolution(x, w, Array(), c.spec), tolerance);
          check_close(own.convolution_backward_data(w, gradient, spatial, c.spec),
                      portable.convolution_backward_data(w, gradient, spatial, c.spec), tolerance);
          check_close(own.convolution_backward_filter(x, gradient, kernel, dtype, c.spec),
                      portable.convolution_backward_filter(x, gradient, kernel, dtype, c.spec), 4 * tolerance);
        }
  const Array x = numbers({8, 16, 12, 12}, Dtype::float32, 1), w = numbers({16, 16, 3, 3}, Dtype::float32, 2);
  nn_extension(x).convolution(x, w, Array(), cases().front().spec);
  BOOST_TEST(last_implementation() == "cudnn");
}

// Without the library the portable kernels run, and no message is printed unless it is asked for.
BOOST_AUTO_TEST_CASE(without_cudnn_the_portable_kernels_run) {
  if (!nd::is_available(Device::Kind::cuda) || cudnn::is_available()) {
    std::cout << "skipped: needs a CUDA device and no cuDNN\n";
    return;
  }
  BOOST_TEST(internal::cudnn_extension() == nullptr);
  const Case c = cases().front();
  const Array x = numbers(c.x, Dtype::float32, 1), w = numbers(c.w, Dtype::float32, 2);
  BOOST_TEST(&nn_extension(x) == &portable_nn_extension());
  const Array y = nn_extension(x).convolution(x, w, Array(), c.spec);
  BOOST_TEST(last_implementation() == "portable");
  BOOST_TEST(y.shape() == c.y());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
