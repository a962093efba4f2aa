// The functions as objects, with the names and the constructors of Chainer's function classes. The headers below
// declare them by family.
//
//   namespace F = nn::functions;
//   auto y = F::ReLU()(x);                      y = relu(x)
//   auto parts = F::SplitAxis({1, 4}, 0)(x);    a list
//   auto [c, h] = F::LSTM()(c_prev, x);
//   F::MaxPooling2D pool(2, 2);
//   y = pool(x);  z = F::Upsampling2D(pool.indexes(), 2, 2)(y);
//
// A call takes the inputs one by one or as a list (arrays as well). It calls the function whose place the class takes,
// with the arguments of the constructor: values, gradients of any order and errors are those of the function. Arguments
// are checked in the call. InvalidType for another number of inputs; null inputs at the end are absent. In a graph, a
// call is one node, even if the function calls others; its label is the name of the class, or Chainer's label ("exp",
// "_ + _"). An object may be called any number of times; every call makes a node.
//
// use_cudnn = false is that of the functions (autograd/cudnn_options.h); true leaves the choice to the thread's
// configuration. Average pooling in two dimensions ignores cover_all.
//
// Classes that draw random numbers (Dropout, Gaussian, SimplifiedDropconnect, Zoneout, NegativeSamplingFunction) draw
// in the first call of an object. Later calls repeat these numbers, so that a gradient can be checked by many calls.
// Inputs of another shape are then a ValueError; use a new object to draw again.
//
// Accessors, such as indexes() or mask(), return arrays of the last call (null before the first). An object with
// accessors belongs to one thread at a time; others may be called by several threads.
#pragma once

#include <catena/nn/functions/objects/activation.h>
#include <catena/nn/functions/objects/array.h>
#include <catena/nn/functions/objects/connection.h>
#include <catena/nn/functions/objects/function_object.h>
#include <catena/nn/functions/objects/loss.h>
#include <catena/nn/functions/objects/math.h>
#include <catena/nn/functions/objects/pooling.h>
#include <catena/nn/functions/objects/regularization.h>
