// The variables of the tables, and the registers of the generated rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <iostream>
#include <numbers>
#include <numeric>

#include <catena/autograd/nn_extension.h>
#include <catena/catena.h>
#include <catena/ndarray/chainer_cuda/runtime.h>
#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/benchmark.h>
#include <catena/ndarray/routines/cosine_transforms.h>
#include <catena/ndarray/routines/dlpack.h>
#include <catena/ndarray/routines/fft_plans.h>
#include <catena/ndarray/sparse/linalg.h>
#include <catena/ndarray/sparse/sparse.h>
#include <catena/ndarray/testing/assertions.h>
#include <catena/ndarray/testing/backends.h>
#include <catena/ndarray/testing/conditions.h>
#include <catena/ndarray/testing/data.h>
#include <catena/ndarray/testing/parameters.h>
#include <catena/nn/function_set.h>
#include <catena/nn/onnx/export.h>
#include <catena/nn/onnx/program.h>
#include <catena/training/format.h>
#include <catena/training/multi_node.h>

#include "value.h"

struct Registered {
  Registered(const char* where, void (*run)());
};
struct Table {
  Table(const char* name, int rows, int offered, int absent);
};

// The other variables of NumPy's table stand in values.py, too.
struct numpy_scene : test::NumpyVariables {
  numpy_scene();
  ~numpy_scene();
  nd::Array row;  // the first row of a
  std::vector<double> xs;
  std::vector<int> ks;
  std::vector<nd::Array> arrays;
  nd::random::Generator g;
  nd::Stream stream;
  nd::Event event;
  nd::ElementwiseKernel kernel;
  nd::ReductionKernel norm;
  std::string code;
  nd::RawKernel raw;
};

namespace F = nn::functions;
namespace L = nn::links;
namespace serializers = nn::serializers;
namespace cuda = autograd::cuda;
using autograd::Variable;

struct MLP : nn::Chain {
  nn::Linear l1{3, 4}, l2{4, 3};
  Variable operator()(const Variable& v) { return l2(nn::relu(l1(v))); }
  NN_MEMBERS(l1, l2)
};
struct Twice : autograd::Function {
  autograd::Arrays forward(const autograd::Arrays& in) override { return {in[0] * 2}; }
  autograd::Arrays backward(const autograd::Arrays&, const autograd::Arrays& gy) override { return {gy[0] * 2}; }
};

// Variables are float32.
struct chainer_scene {
  chainer_scene();
  ~chainer_scene();
  nd::Array a;                  // (4, 3)
  Variable x, y, c;             // (4, 3)
  Variable p;                   // (4, 3), between 0 and 1
  Variable x4;                  // (4, 12)
  Variable t, tb, tone, pairs;  // labels: (4), (4, 3), (4, 1), (4), int32
  Variable perm;                // (4), int32: the numbers 3 to 0
  Variable cond;                // (4, 3), bool
  Variable W, b, W3;            // (2, 3), (2), (3, 3, 2)
  Variable gamma, beta;         // (3)
  Variable s, st;               // (3, 3), (4, 3, 3): invertible
  Variable img;                 // (2, 4, 8, 8)
  Variable Wc, bc, Wd, Wp;      // filters (6, 4, 3, 3), (6), (4, 6, 3, 3), (2, 4, 3, 3)
  Variable theta, grid, rois;   // (2, 2, 3), (2, 2, 4, 4), (1, 5)
  autograd::Variables seq;      // (3, 3), (2, 3)
  Variable hx1, hx2;            // (1, 2, 3), (2, 2, 3)
  MLP model;
  nn::Classifier<MLP> classifier;
  training::Adam optimizer;
  training::TupleDataset train;
  training::SerialIterator iterator, once;  // `once` does not repeat
  training::StandardUpdater updater;
  training::Trainer trainer;
  // Weights and biases of recurrent networks: `matrices` for each of the directions.
  static std::vector<autograd::Variables> weights(int matrices, int directions = 1);
  static std::vector<autograd::Variables> biases(int matrices, int directions = 1);
};

struct pytorch_scene : chainer_scene {
  pytorch_scene();
  nd::Array d;     // (4, 3)
  nd::Array v, i;  // (6) float64, (3) int64
  nd::Array mask;  // (4, 3), bool
  std::vector<float> xs;
};
using eigen_arrayfire_scene = numpy_scene;
