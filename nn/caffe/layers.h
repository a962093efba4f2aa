// The layer types of Caffe: conversion of the message of a layer to a function that computes it. Internal.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <catena/nn/caffe/caffe_function.h>
#include <catena/nn/caffe/caffe_model.h>

namespace nn::links::caffe::internal {

// The children of a CaffeFunction, for functions of layers. A function refers to a child by its index, so that it also
// works with copies of the CaffeFunction.
struct ChildLinks {
  template <class L> static std::size_t add(CaffeFunction& net, const std::string& name, L link) {
    CaffeFunction::set_name(link, name);
    net.children_.push_back({name, nn::internal::AnyLink(std::move(link))});
    return net.children_.size() - 1;
  }
  static Link& at(CaffeFunction& net, std::size_t i) { return net.children_[i].link.get(); }
};

// State shared by the layers of a file.
struct SetUpState {
  std::set<std::string> children;    // names
  std::int64_t grouped_weights = 0;  // elements of the dense weights of grouped convolutions
};

// The arguments of the functions that set up a layer.
struct LayerSetup {
  CaffeFunction& net;
  LayerParameter& layer;  // its weights are moved out
  const CaffeFunctionOptions& options;
  const std::string& context;  // beginning of errors: CaffeFunction: "file": the layer conv1 (Convolution)
  SetUpState& state;
};

// Returns the function of the layer, and adds its child if it has one. Null: the layer computes nothing (Data, Split).
using SetUp = CaffeFunction::Forward (*)(const LayerSetup& setup);

struct LayerType {
  std::string_view name;
  std::int32_t v1_type;  // -1: unknown to V1 files
  SetUp set_up;
};
// Returns null for a type that is not supported.
const LayerType* find_layer_type(const LayerParameter& layer, bool v1) noexcept;

}  // namespace nn::links::caffe::internal
