// The classes of functions that move elements (autograd/functions/array.h, array.h).
#pragma once

#include <catena/nn/functions/array.h>
#include <catena/nn/functions/objects/function_object.h>

namespace nn::functions {

struct CATENA_EXPORT Broadcast : FunctionObjectOf<Variables> {
  explicit Broadcast();
};
struct CATENA_EXPORT BroadcastTo : FunctionObjectOf<Variable> {
  explicit BroadcastTo(const Shape& shape);
  BroadcastTo(BroadcastTo&) = default;
  template <std::same_as<BroadcastTo> T> BroadcastTo(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT Cast : FunctionObjectOf<Variable> {
  explicit Cast(Dtype typ);
};
struct CATENA_EXPORT Concat : FunctionObjectOf<Variable> {
  explicit Concat(int axis = 1);
};
struct CATENA_EXPORT Copy : FunctionObjectOf<Variable> {
  explicit Copy(int out_device);
};
struct CATENA_EXPORT Depth2Space : FunctionObjectOf<Variable> {
  explicit Depth2Space(int r);
};
struct CATENA_EXPORT Dstack : FunctionObjectOf<Variable> {
  explicit Dstack();
};
struct CATENA_EXPORT ExpandDims : FunctionObjectOf<Variable> {
  explicit ExpandDims(int axis);
};
struct Flatten : UnaryObject<"Flatten", flatten> {};
struct FlipLR : UnaryObject<"FlipLR", fliplr> {};
struct FlipUD : UnaryObject<"FlipUD", flipud> {};
struct CATENA_EXPORT GetItem : FunctionObjectOf<Variable> {
  explicit GetItem(const std::vector<IndexItem>& slices);
  GetItem(GetItem&) = default;
  template <std::same_as<GetItem> T> GetItem(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT Hstack : FunctionObjectOf<Variable> {
  explicit Hstack();
};
struct CATENA_EXPORT Im2Col : FunctionObjectOf<Variable> {
  explicit Im2Col(Pair ksize, Pair stride, Pair pad, bool cover_all, Pair dilate);
};
struct CATENA_EXPORT Pad : FunctionObjectOf<Variable> {
  explicit Pad(const PadSides<std::int64_t>& pad_width, const std::string& mode,
               const PadOptions& keywords = PadOptions());
};
struct CATENA_EXPORT PadSequence : FunctionObjectOf<Variable> {
  explicit PadSequence(std::optional<std::int64_t> length, const Scalar& padding);
};
struct CATENA_EXPORT Permutate : FunctionObjectOf<Variable> {
  explicit Permutate(int axis = 0, bool inv = false);
};
struct CATENA_EXPORT Reshape : FunctionObjectOf<Variable> {
  explicit Reshape(const Shape& shape);
  Reshape(Reshape&) = default;
  template <std::same_as<Reshape> T> Reshape(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT ResizeImages : FunctionObjectOf<Variable> {
  explicit ResizeImages(Pair output_shape);
  ResizeImages(ResizeImages&) = default;
  template <std::same_as<ResizeImages> T> ResizeImages(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT Rollaxis : FunctionObjectOf<Variable> {
  explicit Rollaxis(int axis, int start);
};
struct SelectItem : BinaryObject<"SelectItem", select_item, FunctionObject::composed> {};
struct CATENA_EXPORT Space2Depth : FunctionObjectOf<Variable> {
  explicit Space2Depth(int r);
};
struct CATENA_EXPORT SpatialTransformerGrid : FunctionObjectOf<Variable> {
  explicit SpatialTransformerGrid(Pair output_shape, bool use_cudnn = true);
  SpatialTransformerGrid(SpatialTransformerGrid&) = default;
  template <std::same_as<SpatialTransformerGrid> T> SpatialTransformerGrid(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT SpatialTransformerSampler : FunctionObjectOf<Variable> {
  explicit SpatialTransformerSampler(bool use_cudnn = true);
};
struct CATENA_EXPORT SplitAxis : FunctionObjectOf<Variables> {
  explicit SplitAxis(const Sections& indices_or_sections, int axis);
};
struct CATENA_EXPORT Squeeze : FunctionObjectOf<Variable> {
  explicit Squeeze(const Axes& axis = Axes());
  Squeeze(Squeeze&) = default;
  template <std::same_as<Squeeze> T> Squeeze(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT Swapaxes : FunctionObjectOf<Variable> {
  explicit Swapaxes(int axis1, int axis2);
};
struct CATENA_EXPORT Tile : FunctionObjectOf<Variable> {
  explicit Tile(const Dims& reps);
  Tile(Tile&) = default;
  template <std::same_as<Tile> T> Tile(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT Transpose : FunctionObjectOf<Variable> {
  explicit Transpose(const Dims& axes = Dims());
  Transpose(Transpose&) = default;
  template <std::same_as<Transpose> T> Transpose(const T& other) : FunctionObjectOf(other) {}
};
struct CATENA_EXPORT TransposeSequence : FunctionObjectOf<Variables> {
  explicit TransposeSequence();
};
struct CATENA_EXPORT Vstack : FunctionObjectOf<Variable> {
  explicit Vstack();
};
struct CATENA_EXPORT Where : FunctionObjectOf<Variable> {
  explicit Where();
};

}  // namespace nn::functions
