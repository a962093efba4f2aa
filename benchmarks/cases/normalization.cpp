// Normalization along the rows of a matrix: forward only, without a graph.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

const Parameters full{{"rows", 4096}, {"columns", 1000}, {"sets", 16}}, tiny{{"rows", 6}, {"columns", 10}, {"sets", 2}};

nd::Array matrix(const Parameters& p, std::int64_t seed) {
  return input(p, {p.at("rows"), p.at("columns")}, seed, -3, 3);
}

template <class F> Ready without_graph(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return matrix(p, seed); },
      [f](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(f(x).data());
      });
}

Ready softmax(const Parameters& p) {
  return without_graph(p, [](const nd::Array& x) { return nn::softmax(x); });
}
Ready log_softmax(const Parameters& p) {
  return without_graph(p, [](const nd::Array& x) { return nn::log_softmax(x); });
}

Ready layer_norm(const Parameters& p) {
  const nd::Dtype dtype = catena::dtype_from_char(char(get(p, "dtype", 'f')));
  const autograd::Array gamma = nd::ones({p.at("columns")}, dtype), beta = nd::zeros({p.at("columns")}, dtype);
  return without_graph(p, [gamma, beta](const nd::Array& x) { return nn::layer_normalization(x, gamma, beta); });
}

// Of images that lie in memory with their channels last, over channels and positions: the rows are not contiguous.
Ready layer_norm_images(const Parameters& p) {
  const std::int64_t n = p.at("batch"), c = p.at("channels"), size = p.at("size"), columns = c * size * size;
  const autograd::Array gamma = autograd::ones({columns}), beta = autograd::zeros({columns});
  return rotating(
      p,
      [&](std::int64_t seed) {
        return uniform({n, size, size, c}, seed, -3, 3).transpose({0, 3, 1, 2});
      },
      [=](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::layer_normalization(x.reshape({n, columns}), gamma, beta).data());
      });
}

Parameters floats(Draw& draw) { return draw.matrix("fd"); }
Parameters images(Draw& draw) {
  const std::int64_t size = draw.length(1, 64), channels = draw.length(1, 512);
  const std::int64_t n = draw.log_uniform(1, std::max<std::int64_t>(1, 10000000 / (size * size * channels)));
  return {{"batch", draw.at_most(n)}, {"channels", channels}, {"size", size}, {"sets", 1}};
}

const Cases cases{
    {"rows/softmax", full, tiny, softmax, floats},
    {"rows/log_softmax", full, tiny, log_softmax, floats},
    {"rows/layer_norm", full, tiny, layer_norm, floats},
    {"rows/layer_norm_images",
     {{"batch", 32}, {"channels", 64}, {"size", 32}, {"sets", 4}},
     {{"batch", 2}, {"channels", 3}, {"size", 4}, {"sets", 2}},
     layer_norm_images,
     images},
};

}  // namespace
}  // namespace bench
