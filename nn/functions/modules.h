// Chainer's modules, under the names that its users give them:
//
//   namespace F = nn::functions;   // F::relu, F::concat, F::sum
//   namespace L = nn::links;       // L::Linear
//
// Functions and links are names of nn itself, so each module also has names of the other (F::EmbedID, F::Linear).
// Function classes (objects.h) are names only of F: F::LSTM is the class of the function lstm, L::LSTM is the link.
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
