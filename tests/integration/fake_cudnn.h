// A cuDNN for tests: it checks what its functions are given as the library does, keeps a record of the calls, and
// computes the results on the host with the portable implementation. Everything is read and written through the driver,
// in the order of the handle's stream.
#pragma once

#include <catena/tests/integration/fake_cudnn_graph.h>
#include <catena/tests/integration/fake_cudnn_handle.h>
#include <catena/tests/integration/fake_cudnn_rnn.h>

namespace fake_cudnn {

// ---- batch normalization ------------------------------------------------------------------------

inline void check_scales(int type, const void* one, const void* zero) {
  const auto value = [&](const void* p) {
    return type == api::cudnn_double ? *static_cast<const double*>(p) : *static_cast<const float*>(p);
  };
  require(value(one) == 1 && value(zero) == 0, "other factors than 1 and 0");
}

// (N, C, L, 1) and (1, C, 1, 1).
inline Dims check_batch_norm(int mode, const Described& x, const Described& statistics) {
  require(x.shape.size() == 4 && x.shape[3] == 1, "images must have 4 axes");
  require(statistics.shape == Shape{1, x.shape[1], 1, 1}, "statistics must have one number for each channel");
  require(statistics.type == (x.type == api::cudnn_double ? api::cudnn_double : api::cudnn_float),
          "statistics of another type");
  require(mode == (x.shape[2] == 1 ? api::cudnn_batch_norm_per_activation : api::cudnn_batch_norm_spatial),
          "another mode");
  return {0, 2, 3};
}

inline void add_batch_norm_functions(autograd::internal::cudnn::Library& t) {
  t.create_tensor = create<cudnnTensorStruct>;
  t.destroy_tensor = destroy<cudnnTensorStruct>;
  t.set_tensor = [](cudnnTensorStruct* d, int type, int rank, const int* shape, const int* strides) {
    return answer([&] {
      require(rank >= 3 && rank <= 8, "a rank that there is not");
      d->type = type;
      d->shape = d->strides = {};
      for (int i = 0; i < rank; ++i) {
        d->shape.push_back(shape[i]);
        d->strides.push_back(strides[i]);
      }
    });
  };
  t.batch_norm_training = [](cudnnContext* h, int mode, const void* one, const void* zero, cudnnTensorStruct* xd,
                             const void* x, cudnnTensorStruct* yd, void* y, cudnnTensorStruct* s, const void* scale,
                             const void* bias, double, void* rm, void* rv, double eps, void* mean, void* inv_std) {
    return work("cudnnBatchNormalizationForwardTraining", h, [&] {
      check_scales(xd->type, one, zero);
      require(rm == nullptr && rv == nullptr, "running statistics");
      const Dims axes = check_batch_norm(mode, *xd, *s);
      const autograd::Arrays made = autograd::portable_nn_extension().batch_normalization(
          get(h, *xd, x), get(h, *s, scale), get(h, *s, bias), eps, axes);
      put(h, *yd, y, made[0]);
      put(h, *s, mean, made[1]);
      put(h, *s, inv_std, made[3]);
    });
  };
  t.batch_norm_inference = [](cudnnContext* h, int mode, const void* one, const void* zero, cudnnTensorStruct* xd,
                              const void* x, cudnnTensorStruct* yd, void* y, cudnnTensorStruct* s, const void* scale,
                              const void* bias, const void* mean, const void* variance, double eps) {
    return work("cudnnBatchNormalizationForwardInference", h, [&] {
      check_scales(xd->type, one, zero);
      check_batch_norm(mode, *xd, *s);
      put(h, *yd, y,
          autograd::portable_nn_extension().fixed_batch_normalization(
              get(h, *xd, x), get(h, *s, scale), get(h, *s, bias), get(h, *s, mean), get(h, *s, variance), eps));
    });
  };
  t.batch_norm_backward = [](cudnnContext* h, int mode, const void* one, const void* zero, const void* one_p,
                             const void* zero_p, cudnnTensorStruct* xd, const void* x, cudnnTensorStruct* dyd,
                             const void* dy, cudnnTensorStruct* dxd, void* dx, cudnnTensorStruct* s, const void* scale,
                             void* dscale, void* dbias, double eps, const void* mean, const void* inv_std) {
    return work("cudnnBatchNormalizationBackward", h, [&] {
      check_scales(xd->type, one, zero);
      check_scales(xd->type, one_p, zero_p);
      require(eps >= 0, "a negative eps");
      const Dims axes = check_batch_norm(mode, *xd, *s);
      const autograd::Arrays made = autograd::portable_nn_extension().batch_normalization_backward(
          get(h, *xd, x), get(h, *dyd, dy), get(h, *s, scale), get(h, *s, mean), get(h, *s, inv_std), axes);
      put(h, *dxd, dx, made[0]);
      put(h, *s, dscale, made[1]);
      put(h, *s, dbias, made[2]);
    });
  };
}

// ---- the table ----------------------------------------------------------------------------------
inline autograd::internal::cudnn::Library library() {
  autograd::internal::cudnn::Library t;
  t.path = "fake_cudnn.h";
  t.version = 90000;
  t.get_version = []() -> std::size_t { return 90000; };
  t.get_error_string = [](Status status) {
    return status == kBadParameter ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_OTHER";
  };
  t.get_last_error_string = [](char* to, std::size_t room) {
    last_words.copy(to, room - 1);
    to[std::min(last_words.size(), room - 1)] = '\0';
    last_words.clear();
  };
  t.create = [](api::cudnn_handle* to) {
    *to = new cudnnContext;
    return api::cudnn_success;
  };
  t.set_stream = [](api::cudnn_handle handle, CUstream_st* stream) {
    handle->stream = stream;
    return api::cudnn_success;
  };
  add_graph_functions(t);
  add_batch_norm_functions(t);
  add_rnn_descriptions(t);
  add_rnn_functions(t);
  return t;
}
// Whether the fake is in the place of cuDNN, which it takes at the first call where the library is not there.
inline bool stands_in() {
  namespace cudnn = autograd::internal::cudnn;
  static const bool fake = [] {
    if (cudnn::is_available()) return false;
    static const auto& table = *new cudnn::Library(library());
    cudnn::replace_library(table);
    return true;
  }();
  return fake;
}

}  // namespace fake_cudnn
