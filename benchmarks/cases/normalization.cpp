// Normalization along the rows of a matrix: forward only, without a graph.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"rows", 4096}, {"columns", 1000}, {"sets", 16}}, tiny{{"rows", 6}, {"columns", 10}, {"sets", 2}};

Ready softmax(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return uniform({p.at("rows"), p.at("columns")}, seed, -3, 3);
      },
      [](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::softmax(x).data());
      });
}

Ready layer_norm(const Parameters& p) {
  const autograd::Array gamma = autograd::ones({p.at("columns")}), beta = autograd::zeros({p.at("columns")});
  return rotating(
      p,
      [&](std::int64_t seed) {
        return uniform({p.at("rows"), p.at("columns")}, seed, -3, 3);
      },
      [gamma, beta](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::layer_normalization(x, gamma, beta).data());
      });
}

const Cases cases{{"rows/softmax", full, tiny, softmax}, {"rows/layer_norm", full, tiny, layer_norm}};

}  // namespace
}  // namespace bench
