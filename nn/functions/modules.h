// The modules of the reference by the names that its users give them:
//
//   namespace F = nn::functions;   // F::relu, F::concat, F::sum
//   namespace L = nn::links;       // L::Linear
//
// Functions and links are names of nn itself, so that either module has the links whose names the other one repeats
// (F::EmbedID, F::Linear), too. Function classes (objects.h) are names of F alone: F::LSTM is that of the function
// lstm, L::LSTM the link.
#pragma once

namespace autograd {}
namespace nn {
namespace links {
using namespace nn;
}
namespace functions {
using namespace nn;
using namespace autograd;
}  // namespace functions
}  // namespace nn
