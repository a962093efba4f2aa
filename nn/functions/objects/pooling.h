// The classes of pooling (pooling.h).
#pragma once

#include <catena/nn/functions/lengths.h>
#include <catena/nn/functions/objects/function_object.h>
#include <catena/nn/functions/pooling.h>

namespace nn::functions {

struct CATENA_EXPORT AveragePooling2D : FunctionObjectOf<Variable> {
  explicit AveragePooling2D(Pair ksize, const OrNone<Pair>& stride = {}, Pair pad = 0, bool cover_all = true,
                            bool use_cudnn = true);
  AveragePooling2D(AveragePooling2D&) = default;
  template <std::same_as<AveragePooling2D> T> AveragePooling2D(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT AveragePoolingND : FunctionObjectOf<Variable> {
  explicit AveragePoolingND(int ndim, const Lengths& ksize, const OrNone<Lengths>& stride = {}, const Lengths& pad = 0,
                            bool cover_all = false, bool use_cudnn = true);
};
struct CATENA_EXPORT MaxPooling2D : FunctionObjectOf<Variable> {
  explicit MaxPooling2D(Pair ksize, const OrNone<Pair>& stride = {}, Pair pad = 0, bool cover_all = true,
                        bool use_cudnn = true);
  MaxPooling2D(MaxPooling2D&) = default;
  template <std::same_as<MaxPooling2D> T> MaxPooling2D(const T& other) : FunctionObjectOf(other) {}
  const Array& indexes() const { return kept(0); }
};
struct CATENA_EXPORT MaxPoolingND : FunctionObjectOf<Variable> {
  explicit MaxPoolingND(int ndim, const Lengths& ksize, const OrNone<Lengths>& stride = {}, const Lengths& pad = 0,
                        bool cover_all = true, bool use_cudnn = true);
  const Array& indexes() const { return kept(0); }
};
struct CATENA_EXPORT ROIPooling2D : FunctionObjectOf<Variable> {
  explicit ROIPooling2D(int outh, int outw, double spatial_scale);
};
struct CATENA_EXPORT SpatialPyramidPooling2D : FunctionObjectOf<Variable> {
  explicit SpatialPyramidPooling2D(const Shape& x_shape, int pyramid_height, PoolingClass pooling_class,
                                   bool use_cudnn = true);
};
struct CATENA_EXPORT Unpooling2D : FunctionObjectOf<Variable> {
  explicit Unpooling2D(const Lengths& ksize, const OrNone<Lengths>& stride = {}, const Lengths& pad = 0,
                       const OrNone<Lengths>& outsize = {}, bool cover_all = true);
  Unpooling2D(Unpooling2D&) = default;
  template <std::same_as<Unpooling2D> T> Unpooling2D(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT UnpoolingND : FunctionObjectOf<Variable> {
  explicit UnpoolingND(int ndim, const Lengths& ksize, const OrNone<Lengths>& stride = {}, const Lengths& pad = 0,
                       const OrNone<Lengths>& outsize = {}, bool cover_all = true);
};
struct CATENA_EXPORT Upsampling2D : FunctionObjectOf<Variable> {
  explicit Upsampling2D(const Array& indexes, const Lengths& ksize, const OrNone<Lengths>& stride = {},
                        const Lengths& pad = 0, const OrNone<Lengths>& outsize = {}, bool cover_all = true);
};

}  // namespace nn::functions
