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
  const bool last = x.strides[1] == 1 && x.shape[1] > 1;
  require(mode == (x.shape[2] == 1 ? api::cudnn_batch_norm_per_activation : api::cudnn_batch_norm_spatial) ||
              (mode == api::cudnn_batch_norm_spatial_persistent && x.shape[2] > 1 && last && x.shape[1] % 4 == 0 &&
               (x.type == api::cudnn_half || x.type == api::cudnn_bfloat16)),
          "another mode");
  return {0, 2, 3};
}

// Writes y, the statistics and the moving averages.
inline void normalize(cudnnContext* h, const Described& x_desc, const void* x, const Described& y_desc, void* y,
                      const Described& s, const void* scale, const void* bias, double factor, void* rm, void* rv,
                      double eps, void* mean, void* inv_std, const Dims& axes) {
  const Array images = get(h, x_desc, x);
  const autograd::Arrays made =
      autograd::portable_nn_extension().batch_normalization(images, get(h, s, scale), get(h, s, bias), eps, axes);
  put(h, y_desc, y, made[0]);
  put(h, s, mean, made[1]);
  put(h, s, inv_std, made[3]);
  require((rm == nullptr) == (rv == nullptr), "one of two averages");
  if (rm == nullptr) return;
  const double count = double(images.size()) / double(made[1].size());
  require(count > 1, "the unbiased variance of one element");
  put(h, s, rm, get(h, s, rm) * (1 - factor) + made[1] * factor);
  put(h, s, rv, get(h, s, rv) * (1 - factor) + made[2] * (factor * count / (count - 1)));
}

// The sizes that the functions with workspaces ask for.
constexpr std::size_t kBatchNormWorkspace = 512, kBatchNormReserve = 160;
inline Status size_of_space(const char* name, int mode, int operations, const Described& x, std::size_t* bytes,
                            std::size_t size) {
  return answer([&] {
    if (record().refuse == name) throw Refusal{record().refusal, "as the test asked"};
    require(mode == api::cudnn_batch_norm_spatial_persistent && operations == api::cudnn_batch_norm_only,
            "another mode or operation");
    require(x.strides[1] == 1, "channels that are not innermost");
    *bytes = size;
  });
}
inline void check_spaces(cudnnContext* h, void* workspace, std::size_t workspace_bytes, void* reserve,
                         std::size_t reserve_bytes) {
  require(workspace_bytes == kBatchNormWorkspace && reserve_bytes == kBatchNormReserve, "spaces of another size");
  require(reserve != nullptr, "no reserve");
  use(h, workspace, workspace_bytes);
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
                             const void* bias, double factor, void* rm, void* rv, double eps, void* mean,
                             void* inv_std) {
    return work("cudnnBatchNormalizationForwardTraining", h, [&] {
      check_scales(xd->type, one, zero);
      normalize(h, *xd, x, *yd, y, *s, scale, bias, factor, rm, rv, eps, mean, inv_std,
                check_batch_norm(mode, *xd, *s));
    });
  };
  t.get_batch_norm_training_workspace = [](cudnnContext*, int mode, int operations, cudnnTensorStruct* x,
                                           cudnnTensorStruct*, cudnnTensorStruct*, cudnnTensorStruct*,
                                           cudnnActivationStruct*, std::size_t* bytes) {
    return size_of_space("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize", mode, operations, *x, bytes,
                         kBatchNormWorkspace);
  };
  t.get_batch_norm_backward_workspace =
      [](cudnnContext*, int mode, int operations, cudnnTensorStruct* x, cudnnTensorStruct*, cudnnTensorStruct*,
         cudnnTensorStruct*, cudnnTensorStruct*, cudnnTensorStruct*, cudnnActivationStruct*, std::size_t* bytes) {
        return size_of_space("cudnnGetBatchNormalizationBackwardExWorkspaceSize", mode, operations, *x, bytes,
                             kBatchNormWorkspace);
      };
  t.get_batch_norm_reserve = [](cudnnContext*, int mode, int operations, cudnnActivationStruct*, cudnnTensorStruct* x,
                                std::size_t* bytes) {
    return size_of_space("cudnnGetBatchNormalizationTrainingExReserveSpaceSize", mode, operations, *x, bytes,
                         kBatchNormReserve);
  };
  t.batch_norm_training_ex = [](cudnnContext* h, int mode, int, const void* one, const void* zero,
                                cudnnTensorStruct* xd, const void* x, cudnnTensorStruct* zd, const void* z,
                                cudnnTensorStruct* yd, void* y, cudnnTensorStruct* s, const void* scale,
                                const void* bias, double factor, void* rm, void* rv, double eps, void* mean,
                                void* inv_std, cudnnActivationStruct* a, void* workspace, std::size_t workspace_bytes,
                                void* reserve, std::size_t reserve_bytes) {
    return work("cudnnBatchNormalizationForwardTrainingEx", h, [&] {
      check_scales(xd->type, one, zero);
      require(zd == nullptr && z == nullptr && a == nullptr, "operands of other operations");
      check_spaces(h, workspace, workspace_bytes, reserve, reserve_bytes);
      normalize(h, *xd, x, *yd, y, *s, scale, bias, factor, rm, rv, eps, mean, inv_std,
                check_batch_norm(mode, *xd, *s));
      const std::vector<std::byte> mark(reserve_bytes, std::byte{0x37});
      send(h, reserve, mark.data(), mark.size());
    });
  };
  t.batch_norm_backward_ex = [](cudnnContext* h, int mode, int, const void* one, const void* zero, const void* one_p,
                                const void* zero_p, cudnnTensorStruct* xd, const void* x, cudnnTensorStruct*,
                                const void*, cudnnTensorStruct* dyd, const void* dy, cudnnTensorStruct*, void* dz,
                                cudnnTensorStruct* dxd, void* dx, cudnnTensorStruct* s, const void* scale, const void*,
                                void* dscale, void* dbias, double eps, const void* mean, const void* inv_std,
                                cudnnActivationStruct*, void* workspace, std::size_t workspace_bytes, void* reserve,
                                std::size_t reserve_bytes) {
    return work("cudnnBatchNormalizationBackwardEx", h, [&] {
      check_scales(xd->type, one, zero);
      check_scales(xd->type, one_p, zero_p);
      require(dz == nullptr && eps >= 0, "another operation");
      check_spaces(h, workspace, workspace_bytes, reserve, reserve_bytes);
      require(fetch(h, reserve, reserve_bytes) == std::vector<std::byte>(reserve_bytes, std::byte{0x37}),
              "a reserve that the forward pass has not written");
      const Dims axes = check_batch_norm(mode, *xd, *s);
      const autograd::Arrays made = autograd::portable_nn_extension().batch_normalization_backward(
          get(h, *xd, x), get(h, *dyd, dy), get(h, *s, scale), get(h, *s, mean), get(h, *s, inv_std), axes);
      put(h, *dxd, dx, made[0]);
      put(h, *s, dscale, made[1]);
      put(h, *s, dbias, made[2]);
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
