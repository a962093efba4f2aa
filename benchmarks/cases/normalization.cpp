// Normalization along the rows of a matrix, and of the channels of images: forward without a graph, and with all
// gradients.
#include <algorithm>

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
  return without_graph(p, [gamma, beta](const nd::Array& x) {
    return nn::layer_normalization(x, gamma, beta, 1e-5, nn::EpsAddedTo::variance);
  });
}

// The compared result is the concatenation of all three gradients.
Ready layer_norm_backward(const Parameters& p) {
  const nd::Dtype dtype = catena::dtype_from_char(char(get(p, "dtype", 'f')));
  const autograd::Variable gamma(autograd::Array(nd::ones({p.at("columns")}, dtype))),
      beta(autograd::Array(nd::zeros({p.at("columns")}, dtype)));
  const nd::Array gy = input(p, {p.at("rows"), p.at("columns")}, 2000, -1);
  const auto pass = [=](const autograd::Variable& x) {
    for (autograd::Variable v : {x, gamma, beta}) v.cleargrad();
    autograd::Variable y = nn::layer_normalization(x, gamma, beta, 1e-5, nn::EpsAddedTo::variance);
    y.set_grad(gy);
    y.backward();
    return nd::Array(x.grad());
  };
  const auto rows = [p](std::int64_t seed) { return autograd::Variable(autograd::Array(matrix(p, seed))); };
  Ready timed = rotating(p, rows, pass);
  timed.result = [=, x = rows(0)] {
    pass(x);
    return joined({x.grad(), gamma.grad(), beta.grad()});
  };
  return timed;
}

// For channels-last images, over channels and positions: the rows are not contiguous.
Ready layer_norm_images(const Parameters& p) {
  const std::int64_t n = p.at("batch"), c = p.at("channels"), size = p.at("size"), columns = c * size * size;
  const autograd::Array gamma = autograd::arrays::ones({columns}), beta = autograd::arrays::zeros({columns});
  return rotating(
      p,
      [&](std::int64_t seed) {
        return uniform({n, size, size, c}, seed, -3, 3).transpose({0, 3, 1, 2});
      },
      [=](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(
            nn::layer_normalization(x.reshape({n, columns}), gamma, beta, 1e-5, nn::EpsAddedTo::variance).data());
      });
}

// ---- of the channels of images, with float32 parameters beside images of 16 bits ----
nd::Array channels_of_images(const Parameters& p, std::int64_t seed) {
  return input(p, {p.at("batch"), p.at("channels"), p.at("size"), p.at("size")}, seed, -3, 3);
}

Ready batch_norm(const Parameters& p) {
  const std::int64_t c = p.at("channels");
  return rotating(
      p, [&](std::int64_t seed) { return channels_of_images(p, seed); },
      [gamma = autograd::arrays::ones({c}), beta = autograd::arrays::zeros({c})](const nd::Array& x) {
        const auto mode = autograd::no_backprop_mode();
        return nd::Array(nn::batch_normalization(x, gamma, beta).data());
      });
}

// The compared result is the concatenation of all three gradients.
Ready batch_norm_backward(const Parameters& p) {
  const std::int64_t c = p.at("channels");
  const autograd::Variable gamma(autograd::arrays::ones({c})), beta(autograd::arrays::zeros({c}));
  const auto pass = [=, gy = channels_of_images(p, 2000)](const autograd::Variable& x) {
    for (autograd::Variable v : {x, gamma, beta}) v.cleargrad();
    nn::batch_normalization(x, gamma, beta).backward(autograd::Array(gy));
    return nd::Array(x.grad());
  };
  const auto images = [p](std::int64_t seed) {
    return autograd::Variable(autograd::Array(channels_of_images(p, seed)));
  };
  Ready timed = rotating(p, images, pass);
  timed.result = [=, x = images(0)] {
    pass(x);
    return joined({x.grad(), gamma.grad(), beta.grad()});
  };
  return timed;
}

Parameters floats(Draw& draw) { return draw.matrix("fd"); }
// Excludes rows of two or three elements, whose gradient is the difference of nearly equal numbers.
Parameters long_rows(Draw& draw) {
  Parameters p = draw.matrix("fd");
  p["columns"] = std::max<std::int64_t>(p["columns"], 8);
  return p;
}
Parameters images(Draw& draw) {
  const std::int64_t size = draw.length(1, 64), channels = draw.length(1, 512);
  const std::int64_t n = draw.log_uniform(1, std::max<std::int64_t>(1, 10000000 / (size * size * channels)));
  return {{"batch", draw.at_most(n)}, {"channels", channels}, {"size", size}, {"sets", 1}};
}

// Channels of at least 16 elements, so that their gradients are not differences of nearly equal numbers.
Parameters images_of_channels(Draw& draw) {
  Parameters p = images(draw);
  p["size"] = std::max<std::int64_t>(p["size"], 4);
  return p;
}
const Parameters many_images{{"batch", 64}, {"channels", 256}, {"size", 28}, {"sets", 2}},
    few_images{{"batch", 2}, {"channels", 3}, {"size", 4}};

const Cases cases{
    {"rows/softmax", full, tiny, softmax, floats},
    {"rows/log_softmax", full, tiny, log_softmax, floats},
    {"rows/layer_norm", full, tiny, layer_norm, floats},
    {"rows/layer_norm_backward",
     {{"rows", 4096}, {"columns", 1000}, {"sets", 8}},
     tiny,
     layer_norm_backward,
     long_rows},
    {"rows/layer_norm_images",
     {{"batch", 32}, {"channels", 64}, {"size", 32}, {"sets", 4}},
     {{"batch", 2}, {"channels", 3}, {"size", 4}, {"sets", 2}},
     layer_norm_images,
     images},
    {"rows/batch_norm", many_images, few_images, batch_norm, images_of_channels},
    {"rows/batch_norm_backward", many_images, few_images, batch_norm_backward, images_of_channels},
};

}  // namespace
}  // namespace bench
