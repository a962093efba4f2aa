#include <catena/nn/functions/objects/pooling.h>

#include <catena/nn/functions/objects/arguments.h>

namespace nn::functions {

namespace {

Variable keeping(Arrays& kept, const MaxPoolingResult& r) {
  kept = {r.indices};
  return r.y;
}

const Variable& of_shape(const char* label, const Variable& x, const Shape& image) {
  internal::check_inputs(label, "x", {x}, [&image](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].ndim == image.size() + 1);
    for (int a = 0; a < image.size(); ++a) expect(in_types[0].shape[a + 1] == image[a]);
  });
  return x;
}
const Variable& without_cover_all(const Variable& x, bool cover_all) {
  catena::check<catena::ValueError>(!cover_all, "AveragePoolingND", "average pooling has no cover_all");
  return x;
}

}  // namespace

AveragePooling2D::AveragePooling2D(Pair ksize, const OrNone<Pair>& stride, Pair pad, [[maybe_unused]] bool cover_all,
                                   bool use_cudnn)
    : FunctionObjectOf("AveragePooling2D", {1}, node, [=](const Variables& x) {
        return average_pooling_2d(x[0], ksize, {.stride = stride, .pad = pad, .use_cudnn = if_false(use_cudnn)});
      }) {}
AveragePoolingND::AveragePoolingND(int ndim, const Lengths& ksize, const OrNone<Lengths>& stride, const Lengths& pad,
                                   bool cover_all, bool use_cudnn)
    : FunctionObjectOf("AveragePoolingND", {1}, node, [=](const Variables& x) {
        return average_pooling_nd(without_cover_all(of_rank("AveragePoolingND", x[0], ndim), cover_all), ksize,
                                  {.stride = stride, .pad = pad, .use_cudnn = if_false(use_cudnn)});
      }) {}
MaxPooling2D::MaxPooling2D(Pair ksize, const OrNone<Pair>& stride, Pair pad, bool cover_all, bool use_cudnn)
    : FunctionObjectOf("MaxPooling2D", {1}, node, [=](const Variables& x, Arrays& kept) {
        return keeping(
            kept,
            max_pooling_2d(x[0], ksize,
                           {.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = if_false(use_cudnn)},
                           return_indices));
      }) {}
MaxPoolingND::MaxPoolingND(int ndim, const Lengths& ksize, const OrNone<Lengths>& stride, const Lengths& pad,
                           bool cover_all, bool use_cudnn)
    : FunctionObjectOf("MaxPoolingND", {1}, node, [=](const Variables& x, Arrays& kept) {
        return keeping(
            kept,
            max_pooling_nd(of_rank("MaxPoolingND", x[0], ndim), ksize,
                           {.stride = stride, .pad = pad, .cover_all = cover_all, .use_cudnn = if_false(use_cudnn)},
                           return_indices));
      }) {}
ROIPooling2D::ROIPooling2D(int outh, int outw, double spatial_scale)
    : FunctionObjectOf("ROIPooling2D", {2}, composed,
                       [=](const Variables& x) { return roi_pooling_2d(x[0], x[1], outh, outw, spatial_scale); }) {}
SpatialPyramidPooling2D::SpatialPyramidPooling2D(const Shape& x_shape, int pyramid_height, PoolingClass pooling_class,
                                                 bool use_cudnn)
    : FunctionObjectOf("SpatialPyramidPooling2D", {1}, composed, [=](const Variables& x) {
        return spatial_pyramid_pooling_2d(of_shape("SpatialPyramidPooling2D", x[0], x_shape), pyramid_height,
                                          pooling_class, {if_false(use_cudnn)});
      }) {}
Unpooling2D::Unpooling2D(const Lengths& ksize, const OrNone<Lengths>& stride, const Lengths& pad,
                         const OrNone<Lengths>& outsize, bool cover_all)
    : FunctionObjectOf("Unpooling2D", {1}, node, [=](const Variables& x) {
        return unpooling_2d(x[0], ksize, {.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all});
      }) {}
UnpoolingND::UnpoolingND(int ndim, const Lengths& ksize, const OrNone<Lengths>& stride, const Lengths& pad,
                         const OrNone<Lengths>& outsize, bool cover_all)
    : FunctionObjectOf("UnpoolingND", {1}, node, [=](const Variables& x) {
        return unpooling_nd(of_rank("UnpoolingND", x[0], ndim), ksize,
                            {.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all});
      }) {}
Upsampling2D::Upsampling2D(const Array& indexes, const Lengths& ksize, const OrNone<Lengths>& stride,
                           const Lengths& pad, const OrNone<Lengths>& outsize, bool cover_all)
    : FunctionObjectOf("Upsampling2D", {1}, composed, [=](const Variables& x) {
        return upsampling_2d(x[0], indexes, ksize,
                             {.stride = stride, .pad = pad, .outsize = outsize, .cover_all = cover_all});
      }) {}

}  // namespace nn::functions
