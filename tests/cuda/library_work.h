// For each of the libraries: work on the device that calls all of its entry points, and whether its results are right.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/cuda/vendor/cublas.h>
#include <catena/ndarray/cuda/vendor/cudnn.h>
#include <catena/ndarray/cuda/vendor/cufft.h>
#include <catena/ndarray/cuda/vendor/cusparse.h>
#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/ndarray/cuda/vendor/nvjpeg.h>
#include <catena/ndarray/cuda/vendor/solver.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/fft_plans.h>
#include <catena/ndarray/sparse/sparse.h>

namespace library_work {

using namespace nd::cuda::api;

// A little of everything: memory, copies both ways, kernels, streams, events, pinned memory, a graph.
inline bool driver_work() {
  std::vector<float> values(3000, 0.5f);
  const nd::Array x = nd::array(values);
  nd::Array y = nd::exp(x) + 1;
  const nd::Stream stream;
  {
    const nd::StreamScope on(stream);
    y = y * 2;
    stream.record().synchronize();
  }
  nd::synchronize(x.device());
  nd::MemoryPointer pinned = nd::alloc_pinned_memory(64);
  nd::MemoryPointer block = nd::raw_alloc(64);
  block.memset(1, 64);
  block.copy_to_host(pinned.ptr(), 64);
  nd::Array z;
  nd::cuda::Graph graph([&] { z = nd::sum(y); });
  graph.replay();
  nd::memory_pool().free_all_blocks();
  const double expected = 3000 * 2 * (std::exp(0.5) + 1);
  return std::abs(z.item<double>() - expected) < 1e-4 * expected && pinned.ptr()[63] == std::byte(1);
}

const nd::Device kCuda{nd::Device::Kind::cuda, 0};

// Products: batches, a bias with an activation, and one of each precision. Without the library they are the portable
// kernel's.
inline bool cublaslt_work() {
  const auto filled = [](const nd::Shape& shape, double v, nd::Dtype dtype) {
    return nd::full(shape, v, {.dtype = dtype});
  };
  const auto all_are = [](const nd::Array& a, double v) {
    const auto values = a.to_vector<double>();
    return std::all_of(values.begin(), values.end(), [v](double x) { return x == v; });
  };
  const nd::Array a = filled({3, 4, 5}, 2, nd::float32), b = filled({3, 5, 6}, 3, nd::float32),
                  bias = filled({6}, -31, nd::float32);
  if (!all_are(nd::matmul(a, b), 30)) return false;
  const nd::cuda::CublasLt& lt = nd::cuda::cublaslt();
  const nd::Array out = filled({3, 4, 6}, 7, nd::float32);
  const auto operand = [](const nd::Array& x) {
    return catena::BoundOperand{x->data, x.dtype(), false, &x.shape(), &x.strides()};
  };
  const bool done = nd::cuda::blas_matmul({operand(a), operand(b), operand(out)}, nd::current_stream(kCuda),
                                          {bias->data, nd::cuda::Activation::relu});
  // Refused: float64 has no activation.
  const nd::Array wide = filled({2, 2}, 1, nd::float64);
  if (nd::cuda::blas_matmul({operand(wide), operand(wide), operand(wide)}, nd::current_stream(kCuda),
                            {nullptr, nd::cuda::Activation::relu}))
    return false;
  return done && all_are(out, 0) &&
         all_are(nd::matmul(filled({2, 3}, 1, nd::float64), filled({3, 2}, 5, nd::float64)), 15) &&
         lt.get_version() > 0;
}

// A handle that goes with its scope; a destructor cannot report an error.
template <auto& destroy, class H> struct Handle {
  H handle;
  ~Handle() {
    try {
      destroy(handle);
    } catch (const catena::Error& e) {
      std::cout << "destroying the handle: " << e.what() << "\n";
    }
  }
};

// All of cuBLAS with vectors (3, -4) and diagonal matrices. Without a GPU of its own the results are exact.
template <class T> bool cublas_work_of(cublas_handle h) {
  using namespace nd::cuda::cublas;
  constexpr bool single = std::is_same_v<T, float>;
  const nd::Dtype dtype = catena::dtype_of<T>;
  const auto vector = [&](std::vector<double> v) { return nd::array(v, {.dtype = dtype}); };
  const auto p = [](const nd::Array& a) { return a.template data<T>(); };
  const auto is = [](const nd::Array& a, const std::vector<double>& v) { return a.to_vector<double>() == v; };
  const nd::Array x = vector({3, -4}), y = vector({1, 1}), d = vector({2, 0, 0, 4}), r = vector({0, 0, 0, 0});
  const T one = 1, zero = 0;
  const auto call = [&](const auto& f, const auto& g) -> const auto& {
    if constexpr (single) return f;
    else return g;
  };
  bool good = call(isamax, idamax)(h, 2, p(x), 1) == 2 && call(isamin, idamin)(h, 2, p(x), 1) == 1 &&
              call(sasum, dasum)(h, 2, p(x), 1) == 7 && call(snrm2, dnrm2)(h, 2, p(x), 1) == 5 &&
              call(sdot, ddot)(h, 2, p(x), 1, p(y), 1) == -1;
  call(saxpy, daxpy)(h, 2, &one, p(x), 1, p(y), 1);
  good = good && is(y, {4, -3});
  const T half = T(0.5);
  call(sscal, dscal)(h, 2, &half, p(y), 1);
  good = good && is(y, {2, -1.5});
  call(sgemv, dgemv)(h, cublas_op_n, 2, 2, &one, p(d), 2, p(x), 1, &zero, p(y), 1);
  good = good && is(y, {6, -16});
  call(sger, dger)(h, 2, 2, &one, p(x), 1, p(x), 1, p(r), 2);
  good = good && is(r, {9, -12, -12, 16});
  call(sgemm, dgemm)(h, cublas_op_n, cublas_op_t, 2, 2, 2, &one, p(d), 2, p(d), 2, &zero, p(r), 2);
  good = good && is(r, {4, 0, 0, 16});
  call(sgeam, dgeam)(h, cublas_op_n, cublas_op_n, 2, 2, &one, p(d), 2, &one, p(d), 2, p(r), 2);
  good = good && is(r, {4, 0, 0, 8});
  call(sdgmm, ddgmm)(h, cublas_side_left, 2, 2, p(d), 2, p(x), 1, p(r), 2);
  good = good && is(r, {6, 0, 0, -16});
  const auto addresses = [](const nd::Array& a) {
    return nd::array(std::vector<std::int64_t>{reinterpret_cast<std::int64_t>(a->data)});
  };
  const nd::Array at_d = addresses(d), at_r = addresses(r), pivots = nd::zeros({2}, nd::int32),
                  info = nd::zeros({1}, nd::int32);
  const auto list = [](const nd::Array& a) { return reinterpret_cast<T* const*>(a->data); };
  const auto const_list = [](const nd::Array& a) { return reinterpret_cast<const T* const*>(a->data); };
  call(sgemm_batched, dgemm_batched)(h, cublas_op_n, cublas_op_n, 2, 2, 2, &one, const_list(at_d), 2, const_list(at_d),
                                     2, &zero, list(at_r), 2, 1);
  good = good && is(r, {4, 0, 0, 16});
  call(sgetrf_batched, dgetrf_batched)(h, 2, list(at_d), 2, pivots.data<int>(), info.data<int>(), 1);
  call(sgetri_batched, dgetri_batched)(h, 2, const_list(at_d), 2, pivots.data<const int>(), list(at_r), 2,
                                       info.data<int>(), 1);
  return good && is(r, {0.5, 0, 0, 0.25}) && is(info, {0});
}

// Functions of stacks of ((4, 1), (1, 3)): those that give the matrix itself after a product, for every dtype.
inline bool stacks_work(std::initializer_list<nd::Array (*)(const nd::Array& a)> restorations) {
  for (const nd::Dtype dtype : {nd::float32, nd::float64, nd::complex64, nd::complex128}) {
    const nd::Array one = nd::array({4, 1, 1, 3}, {2, 2}, {.dtype = dtype}), a = nd::broadcast_to(one, {3, 2, 2});
    for (nd::Array (*const restored)(const nd::Array&) : restorations)
      if (nd::amax(nd::absolute(restored(a) - a)).item<double>() > 1e-5) return false;
  }
  return true;
}
inline nd::Array cublas_inverses(const nd::Array& a) { return nd::matmul(nd::matmul(a, nd::linalg::inv(a)), a); }
inline nd::Array cublas_solutions(const nd::Array& a) {
  return nd::matmul(a, nd::linalg::solve(a, nd::broadcast_to(nd::eye(2, a.dtype()), a.shape()))) + a -
         nd::eye(2, a.dtype());
}
inline nd::Array by_cholesky(const nd::Array& a) {
  const nd::Array lower = nd::linalg::cholesky(a);
  return nd::matmul(lower, nd::conjugate(lower.swapaxes(-2, -1)));
}
inline nd::Array by_eigenvalues(const nd::Array& a) {
  const auto [values, vectors] = nd::linalg::eigh(a);
  return nd::matmul(vectors * nd::expand_dims(values, -2), nd::conjugate(vectors.swapaxes(-2, -1)));
}
inline nd::Array by_singular_values(const nd::Array& a) {
  const auto [u, s, vh] = nd::linalg::svd(a);
  return nd::matmul(u * nd::expand_dims(s, -2), vh);
}
inline nd::Array by_singular_values_of_one(const nd::Array& a) {
  return nd::broadcast_to(by_singular_values(a(0)), a.shape());
}

inline bool cublas_work() {
  using namespace nd::cuda;
  const Handle<cublas::destroy, cublas_handle> h{cublas::create()};
  const nd::Stream stream;
  cublas::set_stream(h.handle, static_cast<cu_stream>(stream.ptr()));
  if (cublas::get_stream(h.handle) != stream.ptr()) return false;
  cublas::set_stream(h.handle, nullptr);
  cublas::set_pointer_mode(h.handle, cublas_pointer_mode_host);
  const nd::Array a = nd::ones({2, 2}, nd::float16), c = nd::zeros({2, 2}, nd::float32);
  const float one = 1, zero = 0;
  cublas::sgemm_ex(h.handle, cublas_op_n, cublas_op_n, 2, 2, 2, &one, a->data, cuda_r_16f, 2, a->data, cuda_r_16f, 2,
                   &zero, c->data, cuda_r_32f, 2);
  return cublas::get_pointer_mode(h.handle) == cublas_pointer_mode_host && cublas::get_version(h.handle) > 0 &&
         c.to_vector<double>() == std::vector<double>(4, 2) && cublas_work_of<float>(h.handle) &&
         cublas_work_of<double>(h.handle) && stacks_work({cublas_inverses, cublas_solutions});
}

// Every distribution of a generator of the device, a quasi-random one, and one of the host.
inline bool curand_work() {
  using namespace nd::cuda;
  const auto lies = [](const nd::Array& a, double least, double most) {
    const auto values = a.to_vector<double>();
    return std::all_of(values.begin(), values.end(), [&](double x) { return x >= least && x <= most; }) &&
           values[0] != values[1];
  };
  CurandGenerator g(CurandMethod::xorwow, {.seed = 3, .offset = 2, .ordering = CurandOrdering::standard}, kCuda);
  CurandGenerator quasi(CurandMethod::sobol64, {.dimensions = 2}, kCuda),
      host(CurandMethod::xorwow, {}, nd::cpu_device);
  const auto numbers = [](nd::Dtype dtype) { return nd::zeros({16}, dtype); };
  bool good = true;
  for (const nd::Dtype dtype : {nd::float32, nd::float64}) {
    const nd::Array x = numbers(dtype);
    g.uniform(x);
    good = good && lies(x, 1e-300, 1);
    g.normal(x, 100, 1);
    good = good && lies(x, 80, 120);
    g.lognormal(x, 0, 0.1);
    good = good && lies(x, 0.1, 10);
  }
  const nd::Array bits = numbers(nd::uint32), counts = numbers(nd::uint32), long_bits = numbers(nd::uint64);
  g.generate(bits);
  g.poisson(counts, 50);
  quasi.generate(long_bits);
  const nd::DeviceScope on_cpu(nd::cpu_device);
  const nd::Array at_host = numbers(nd::float32);
  host.uniform(at_host);
  return good && lies(bits, 0, 0x1p32) && lies(counts, 5, 200) && lies(long_bits, 0, 0x1p64) &&
         lies(at_host, 1e-300, 1);
}

// Every exchange of two ranks in one process, and a communicator by its id.
inline bool nccl_work() {
  using namespace nd::cuda;
  const std::vector<NcclCommunicator> ranks = NcclCommunicator::all({0, 1});
  std::vector<nd::Array> x, sum, all, part, got;
  for (std::int16_t id = 0; id < 2; ++id) {
    const nd::DeviceScope on({nd::Device::Kind::cuda, id});
    x.push_back(nd::array({1.0 + id, 10.0 + id}));
    sum.push_back(nd::zeros(2));
    all.push_back(nd::zeros({2, 2}));
    part.push_back(nd::zeros(1));
    got.push_back(nd::zeros(2));
  }
  const auto together = [&](const auto& call) {
    NcclGroup group;
    for (std::size_t r = 0; r < 2; ++r) call(ranks[r], r);
    group.end();
  };
  const auto is = [](const nd::Array& a, const std::vector<double>& v) { return a.to_vector<double>() == v; };
  together([&](const NcclCommunicator& c, std::size_t r) { c.all_reduce(x[r], sum[r]); });
  bool good = is(sum[0], {3, 21}) && is(sum[1], {3, 21});
  together([&](const NcclCommunicator& c, std::size_t r) { c.reduce(x[r], sum[r], 1, NcclOp::max); });
  good = good && is(sum[0], {3, 21}) && is(sum[1], {2, 11});
  together([&](const NcclCommunicator& c, std::size_t r) { c.broadcast(sum[r], 1); });
  good = good && is(sum[0], {2, 11});
  together([&](const NcclCommunicator& c, std::size_t r) { c.all_gather(x[r], all[r]); });
  good = good && is(all[1], {1, 10, 2, 11});
  together([&](const NcclCommunicator& c, std::size_t r) { c.reduce_scatter(x[r], part[r]); });
  good = good && is(part[0], {3}) && is(part[1], {21});
  together([&](const NcclCommunicator& c, std::size_t r) {
    if (r == 0) c.send(x[0], 1);
    else c.receive(got[1], 0);
  });
  good = good && is(got[1], {1, 10});
  const nd::DeviceScope on(kCuda);
  NcclCommunicator alone(1, nd::cuda::nccl_unique_id(), 0);
  alone.check_async_error();
  alone.abort();
  int waits = 0;
  NcclCommunicator nonblocking(1, nd::cuda::nccl_unique_id(), 0,
                               {.nonblocking = true, .while_waiting = [&] { ++waits; }});
  nonblocking.all_reduce(x[0], sum[0]);
  nonblocking.wait();
  good = good && is(sum[0], {1, 10}) && waits > 0;
  return good && nccl().get_error_string(0) != nullptr;
}

// Every transform of four numbers in both precisions, whose plans are dropped at the end.
inline bool cufft_work() {
  bool good = nd::cuda::cufft().version > 0;
  for (const nd::Dtype dtype : {nd::float32, nd::float64}) {
    const nd::Array x = nd::array({1., 2., 3., 5.}, {.dtype = dtype});
    const nd::Array half = nd::fft::rfft(x), whole = nd::fft::fft(x);
    good = good && half.real().to_vector<double>() == std::vector<double>{11, -2, -3} &&
           nd::fft::irfft(half).to_vector<double>() == x.to_vector<double>() &&
           nd::fft::ifft(whole).real().to_vector<double>() == x.to_vector<double>();
  }
  nd::fft::config::clear_plan_cache();
  return good;
}

// A file of one grey level and one of one colour, decoded on the device.
inline bool nvjpeg_work() {
  bool good = nd::cuda::nvjpeg().version == "13.0.0";
  for (const nd::Shape& shape : {nd::Shape({8, 16}), nd::Shape({8, 8, 3})}) {
    const nd::Array image = nd::full(shape, 200, nd::uint8);
    const nd::Array decoded = nd::imdecode(nd::imencode(".jpg", image));
    good = good && decoded.shape() == shape && bool((decoded == image).all());
  }
  return good;
}

// The product of a matrix with a vector and a matrix, in every type.
inline bool cusparse_work() {
  bool good = !nd::cuda::cusparse().path.empty();
  for (const nd::Dtype dtype : {nd::float32, nd::float64, nd::complex64, nd::complex128}) {
    const nd::sparse::csr_matrix a(
        {nd::array({1., 2., 3.}, {.dtype = dtype}), nd::array({0, 2, 1}), nd::array({0, 2, 3})}, {2, 3});
    const nd::Array y = a * nd::array({1., 2., 3.}), z = a * nd::ones({3, 2}, dtype);
    good = good && y.real().to_vector<double>() == std::vector<double>{7, 6} &&
           z.real().to_vector<double>() == std::vector<double>{3, 3, 3, 3};
  }
  return good;
}

// Every decomposition of ((4, 1), (1, 3)), with a handle of its own beside, whose eigenvalues and singular values are
// (7 -+ sqrt(5)) / 2, of real and complex numbers in both precisions.
inline bool cusolver_work() {
  using namespace nd::cuda::solver;
  const Handle<nd::cuda::solver::destroy, cusolver_handle> h{create()};
  set_stream(h.handle, nullptr);
  if (get_stream(h.handle) != nullptr) return false;
  for (const nd::Dtype dtype : {nd::float32, nd::float64, nd::complex64, nd::complex128}) {
    const auto make = [&](std::vector<double> v, const nd::Shape& shape) {
      return nd::array(v, shape, {.dtype = dtype}).transpose();
    };
    const auto a = [&] { return make({4, 1, 1, 3}, {2, 2}); };
    const auto vector = [&] { return nd::zeros({2}, catena::real_dtype(dtype)); };
    const auto is = [](const nd::Array& x, std::vector<double> expected) {
      const auto values = x.real().to_vector<double>();
      return std::equal(values.begin(), values.end(), expected.begin(), expected.end(),
                        [](double v, double e) { return std::abs(v - e) < 1e-5; });
    };
    const double low = (7 - std::sqrt(5)) / 2, high = (7 + std::sqrt(5)) / 2;
    const nd::Array factor = a(), x = make({6, 7}, {1, 2}), lu = a(), y = make({6, 7}, {1, 2}), q = a();
    const nd::Array pivots = nd::zeros({2}, nd::int32), tau = nd::zeros({2}, dtype), s = vector(), w = vector();
    potrf(factor);
    potrs(factor, x);
    if (getrf(lu, pivots) != 0) return false;
    getrs(lu, pivots, y);
    geqrf(q, tau);
    const double r = q.real().to_vector<double>()[0];
    const nd::Array rotated = a();
    ormqr(q, tau, rotated, true, true);  // Q^T A = R
    if (std::abs(rotated.real().to_vector<double>()[0] - r) > 1e-5) return false;
    const nd::Array diagonal = vector(), above = nd::zeros({1}, catena::real_dtype(dtype)),
                    tau_p = nd::zeros({2}, dtype);
    gebrd(a(), diagonal, above, tau, tau_p);
    if (std::abs(std::abs(diagonal.to_vector<double>()[0] * diagonal.to_vector<double>()[1]) - 11) > 1e-4) return false;
    if (sytrf(a(), pivots) != 0) return false;
    geqrf(a(), tau);
    orgqr(q, tau);
    gesvd(a(), s);
    syevd(a(), w);
    const double c = 4 / std::sqrt(17);
    if (!is(x, {1, 2}) || !is(y, {1, 2}) || std::abs(std::abs(r) - std::sqrt(17)) > 1e-5 || !is(s, {high, low}) ||
        !is(w, {low, high}) || std::abs(std::abs(q.real().to_vector<double>()[0]) - c) > 1e-5)
      return false;
  }
  return stacks_work({by_cholesky, by_eigenvalues, by_singular_values, by_singular_values_of_one});
}

// Every descriptor with what is read back from it, activations with their gradients, and a handle of its own.
inline bool cudnn_work() {
  using namespace nd::cuda::cudnn;
  const Handle<nd::cuda::cudnn::destroy, cudnn_handle> h{create()};
  const nd::Stream stream;
  set_stream(h.handle, static_cast<cu_stream>(stream.ptr()));
  if (get_stream(h.handle) != stream.ptr()) return false;
  const nd::Array a = nd::zeros({2, 3, 4}, nd::float32);
  int n = 0, type = 0, format = 0, mode = 0, nan = 0, lists[3][8] = {};
  double coef = 0;
  const auto is = [&](int list, std::vector<int> expected) {
    return n == int(expected.size()) && std::equal(expected.begin(), expected.end(), lists[list]);
  };
  get_tensor(create_tensor_descriptor(a).value(), 8, &type, &n, lists[0], lists[1]);
  bool good = is(0, {2, 3, 4}) && is(1, {12, 4, 1});
  get_filter(create_filter_descriptor(a).value(), 8, &type, &format, &n, lists[0]);
  good = good && is(0, {2, 3, 4});
  get_convolution(create_convolution_descriptor({1, 2}, {3, 4}, nd::float32).value(), 6, &n, lists[0], lists[1],
                  lists[2], &mode, &type);
  good = good && is(0, {1, 2}) && is(1, {3, 4}) && is(2, {1, 1});
  get_pooling(create_pooling_descriptor({5, 6}, {3, 4}, {1, 2}, PoolingMode::max).value(), 6, &mode, &nan, &n, lists[0],
              lists[1], lists[2]);
  good = good && is(0, {5, 6}) && is(1, {1, 2}) && is(2, {3, 4});
  get_activation(create_activation_descriptor(ActivationMode::clipped_relu, 2).value(), &mode, &nan, &coef);
  good = good && mode == cudnn_clipped_relu && coef == 2;
  const nd::Array states = create_dropout_states(h.handle);
  const DropoutDescriptor dropout = create_dropout_descriptor(h.handle, 0.5, states, states.nbytes(), 7);
  float ratio = 0;
  void* memory = nullptr;
  unsigned long long seed = 0;
  get_dropout(dropout.value(), h.handle, &ratio, &memory, &seed);
  good = good && ratio == 0.5f && memory == states->data && seed == 7;
  const RnnDescriptor network = create_rnn_descriptor(3, 1, dropout, RnnInputMode::linear,
                                                      DirectionMode::unidirectional, RnnMode::gru, nd::float32);
  std::int32_t sizes[4] = {};
  std::uint32_t flags = 0;
  int modes[8] = {};
  cudnn_dropout_descriptor used = nullptr;
  get_rnn(network.value(), &modes[0], &modes[1], &modes[2], &modes[3], &modes[4], &modes[5], &modes[6], &modes[7],
          &sizes[0], &sizes[1], &sizes[2], &sizes[3], &used, &flags);
  good = good && modes[1] == cudnn_gru && sizes[1] == 3 && used == dropout.value();
  good = good && create_spatial_transformer_descriptor(SamplerType::bilinear, nd::float32, 4, {1, 2, 3, 4});
  const nd::Array x = nd::array(std::vector<float>{-1, 2, 3}), y = activation_forward(x, ActivationMode::relu);
  return good && y.to_vector<double>() == std::vector<double>{0, 2, 3} &&
         activation_backward(x, y, x, ActivationMode::relu).to_vector<double>() == std::vector<double>{0, 2, 3} &&
         get_version() > 0;
}

// A template for a known architecture, and a text for one that is too new, which becomes PTX.
inline bool nvrtc_work() {
  const nd::cuda::Module code = nd::cuda::compile(
      {"template <class T> __global__ void fill(T* p) { *p = 3; }\n", "fill.cu", {"fill<float>"}, 90, {}});
  const nd::cuda::Module ptx =
      nd::cuda::compile({"extern \"C\" __global__ void nothing() {}\n", "nothing.cu", {}, 91, {}});
  return !code.ptx && !code.code.empty() && code.names.size() == 1 && ptx.ptx && !ptx.code.empty();
}

}  // namespace library_work
