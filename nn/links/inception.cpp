#include <catena/nn/links/inception.h>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/link_hook.h>

namespace nn {

// ---- Inception ----------------------------------------------------------------------------------
namespace {

Convolution2DOptions filters(const InceptionOptions& o, int pad = 0) {
  return {.pad = pad, .initialW = o.conv_init, .initial_bias = o.bias_init};
}

}  // namespace

Inception::Inception(std::optional<int> in, int out1, int n3, int out3, int n5, int out5, int proj_pool,
                     const Options& o)
    : conv1(in, out1, 1, filters(o)),
      proj3(in, n3, 1, filters(o)),
      conv3(n3, out3, 3, filters(o, 1)),
      proj5(in, n5, 1, filters(o)),
      conv5(n5, out5, 5, filters(o, 2)),
      projp(in, proj_pool, 1, filters(o)) {}

Variable Inception::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  const Variable pooled = max_pooling_2d(x, 3, 1, 1);
  return called(relu(autograd::concat({conv1(x), conv3(relu(proj3(x))), conv5(relu(proj5(x))), projp(pooled)}, 1)));
}

// ---- with batch normalization -------------------------------------------------------------------
namespace {

Convolution2DOptions bare(const InceptionBNOptions& o, int pad = 0, Pair stride = 1) {
  return {.stride = stride, .pad = pad, .nobias = true, .initialW = o.conv_init};
}

}  // namespace

InceptionBN::InceptionBN(std::optional<int> in, int out1, int n3, int out3, int n33, int out33, std::string_view pool,
                         const Options& o)
    : proj3(in, n3, 1, bare(o)),
      conv3(n3, out3, 3, bare(o, 1, o.stride)),
      proj33(in, n33, 1, bare(o)),
      conv33a(n33, out33, 3, bare(o, 1)),
      conv33b(out33, out33, 3, bare(o, 1, o.stride)),
      proj3n(n3, {.dtype = o.dtype}),
      conv3n(out3, {.dtype = o.dtype}),
      proj33n(n33, {.dtype = o.dtype}),
      conv33an(out33, {.dtype = o.dtype}),
      conv33bn(out33, {.dtype = o.dtype}),
      pooltype(pool),
      stride(o.stride) {
  constexpr const char* op = "InceptionBN";
  catena::check<catena::NotImplementedError>(pool == "max" || pool == "avg", op, "pooltype is \"", pool,
                                             "\"; it must be \"max\" or \"avg\"");
  if (out1 > 0) {
    catena::check<catena::AssertionError>(o.stride == Pair(1) && o.proj_pool.has_value(), op, "out1 is ", out1,
                                          ", which needs a stride of 1 and a proj_pool");
    conv1.emplace(in, out1, 1, bare(o));
    conv1n.emplace(out1, BatchNormalization::Options{.dtype = o.dtype});
  }
  if (o.proj_pool) {
    poolp.emplace(in, *o.proj_pool, 1, bare(o));
    poolpn.emplace(*o.proj_pool, BatchNormalization::Options{.dtype = o.dtype});
  }
}

Variable InceptionBN::operator()(const Variable& x, const InceptionBNCallOptions& o) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  std::optional<bool> test = o.test;
  if (!test && train) test = !*train;
  const auto layer = [&](Convolution2D& convolution, BatchNormalization& normalization, const Variable& input) {
    return relu(normalization(convolution(input), {.test = test}));
  };
  Variables towers;
  if (conv1) towers.push_back(layer(*conv1, *conv1n, x));
  towers.push_back(layer(conv3, conv3n, layer(proj3, proj3n, x)));
  towers.push_back(layer(conv33b, conv33bn, layer(conv33a, conv33an, layer(proj33, proj33n, x))));
  const Variable pooled = pooltype == "max" ? max_pooling_2d(x, 3, {.stride = stride, .pad = 1, .cover_all = false})
                                            : average_pooling_2d(x, 3, {.stride = stride, .pad = 1});
  towers.push_back(poolp ? layer(*poolp, *poolpn, pooled) : pooled);
  return called(autograd::concat(towers, 1));
}

}  // namespace nn
