#include <catena/autograd/ndarray_backend/onednn/modules/problem.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include <catena/kernels/base/parallel.h>

namespace autograd::internal::onednn {
namespace {

std::int64_t product(memory::dims::const_iterator begin, memory::dims::const_iterator end) {
  return std::accumulate(begin, end, std::int64_t(1), std::multiplies<>());
}
std::int64_t size(const memory::dims& d) { return product(d.begin(), d.end()); }

}  // namespace

Problem::Problem(const Convolution& c, bool last)
    : pass(c.pass),
      has_bias(bool(c.b)),
      src(c.x_shape.begin(), c.x_shape.end()),
      weights(c.w_shape.begin(), c.w_shape.end()),
      dst(c.y_shape.begin(), c.y_shape.end()),
      groups(c.spec.groups),
      lies_last(last && groups > 1) {
  if (groups > 1) {
    weights[0] /= groups;
    weights.insert(weights.begin(), groups);
  }
  const ConvolutionSpec& spec = c.spec;
  for (int i = 0; i < spec.stride.size(); ++i) {
    g.stride.push_back(spec.stride[i]);
    g.dilate.push_back(spec.dilate[i] - 1);
    g.pad.push_back(spec.pad[i]);
    // With cover_all the last window may extend beyond the padding.
    const std::int64_t reach = (c.y_shape[i + 2] - 1) * spec.stride[i] + (c.w_shape[i + 2] - 1) * spec.dilate[i] + 1;
    g.pad_end.push_back(std::max(spec.pad[i], reach - c.x_shape[i + 2] - spec.pad[i]));
  }
}

Key Problem::key() const {
  Key key;
  std::size_t n = 0;
  key.v[n++] = 2 * static_cast<std::int64_t>(pass) + has_bias;
  key.v[n++] = lies_last ? -rank() : rank();
  for (const memory::dims* d : {&src, &weights, &g.stride, &g.dilate, &g.pad, &g.pad_end})
    for (std::int64_t v : *d) key.v[n++] = v;  // at most 2 + 5 + 6 + 4 * 3 entries; they determine the output's shape
  return key;
}

std::int64_t Problem::window() const { return product(weights.end() - rank(), weights.end()); }
std::int64_t Problem::reach() const { return (*(weights.end() - rank()) - 1) * (g.dilate[0] + 1) + 1; }

// Returns 0 if the algorithm does not apply or there are too few channels.
std::int64_t Problem::winograd_tiles() const {
  constexpr std::int64_t kChannels = 64;
  const auto within = [](const memory::dims& d, std::int64_t least, std::int64_t most) {
    return std::all_of(d.begin(), d.end(), [=](std::int64_t v) { return least <= v && v <= most; });
  };
  const bool can = rank() == 2 && groups == 1 && weights[2] == 3 && weights[3] == 3 && within(g.stride, 1, 1) &&
                   within(g.dilate, 0, 0) && within(g.pad, 0, 1) && within(g.pad_end, 0, 1);
  return can && std::min(src[1], dst[1]) >= kChannels ? dst[0] * ((dst[2] + 3) / 4) * ((dst[3] + 3) / 4) : 0;
}

// ---- parts --------------------------------------------------------------------------------------
std::int64_t Problem::threads() const {
  constexpr double kLeast = 1e6;  // multiplications per thread
  const double work = double(size(dst)) * double(product(weights.end() - rank() - 1, weights.end()));
  return static_cast<std::int64_t>(std::clamp(work / kLeast, 1.0, double(catena::max_threads())));
}

// True if each thread gets a share of the filter, because the filter is larger than the activations.
bool Problem::splits_outputs() const {
  constexpr std::int64_t kLeast = 32;  // minimal number of channels of a part
  return pass == Pass::forward && groups == 1 && size(weights) > size(src) + size(dst) && !suits_winograd() &&
         dst[1] >= kLeast * threads();
}

// Returns the number of parts of the batch.
std::int64_t Problem::groups_of_images() const {
  const std::int64_t all = threads(), n = dst[0], least = std::min(n, all);
  if (!suits_winograd()) return least;
  // Reordered data should still be in the cache when the convolution reads it.
  constexpr std::int64_t kCached = 1 << 20;  // elements
  return std::max(least,
                  std::min({n, winograd_tiles() / kWinogradTiles, (size(src) + size(dst)) / kCached / all * all}));
}

Part Problem::all() const { return {0, dst[0], 0, src[2], 0, dst[2], 0, dst[1]}; }

// A band of output rows with the input rows that its windows read.
void Problem::take_output_rows(Part& part, std::int64_t first, std::int64_t last) const {
  const std::int64_t low = first * g.stride[0] - g.pad[0], high = (last - 1) * g.stride[0] - g.pad[0] + reach();
  part.dst_row = first;
  part.dst_rows = last - first;
  part.src_row = std::clamp<std::int64_t>(low, 0, src[2]);
  part.src_rows = std::clamp<std::int64_t>(high, 0, src[2]) - part.src_row;
}
// A band of input rows with the output rows whose windows read it.
void Problem::take_input_rows(Part& part, std::int64_t first, std::int64_t last) const {
  const auto next_output = [&](std::int64_t row) {  // the first output row whose window begins at `row` or later
    const std::int64_t at = row + g.pad[0];
    return std::clamp<std::int64_t>(at <= 0 ? 0 : (at + g.stride[0] - 1) / g.stride[0], 0, dst[2]);
  };
  part.src_row = first;
  part.src_rows = last - first;
  part.dst_row = next_output(first - reach() + 1);
  part.dst_rows = next_output(last) - part.dst_row;
}

std::vector<Part> Problem::parts(Split split) const {
  constexpr std::int64_t kLeastRows = 4, kLanes = 16;  // parts have whole vectors of channels
  const std::int64_t pieces = threads(), n = dst[0], rows = pass == Pass::data ? src[2] : dst[2];
  std::vector<Part> parts;
  if (split == Split::outputs) {
    for (std::int64_t k = 0; k < pieces && splits_outputs(); ++k) {
      Part& part = parts.emplace_back(all());
      part.output = dst[1] * k / pieces / kLanes * kLanes;
      part.outputs = (k + 1 == pieces ? dst[1] : dst[1] * (k + 1) / pieces / kLanes * kLanes) - part.output;
    }
    return parts;
  }
  const std::int64_t batches = groups_of_images();
  const std::int64_t bands =
      split == Split::rows && n < pieces ? std::clamp<std::int64_t>(rows / kLeastRows, 1, (pieces + n - 1) / n) : 1;
  for (std::int64_t i = 0; i < batches; ++i)
    for (std::int64_t b = 0; b < bands; ++b) {
      Part& part = parts.emplace_back(all());
      part.image = n * i / batches;
      part.images = n * (i + 1) / batches - part.image;
      if (bands == 1) continue;
      if (pass == Pass::data) take_input_rows(part, rows * b / bands, rows * (b + 1) / bands);
      else take_output_rows(part, rows * b / bands, rows * (b + 1) / bands);
    }
  return parts;
}

Problem Problem::part(const Part& part) const {
  Problem p = *this;
  p.src[0] = p.dst[0] = part.images;
  if (part.outputs < dst[1]) p.weights[0] = p.dst[1] = part.outputs;
  if (part.src_rows == src[2] && part.dst_rows == dst[2]) return p;
  p.src[2] = part.src_rows;
  p.dst[2] = part.dst_rows;
  p.g.pad[0] = part.src_row + g.pad[0] - part.dst_row * g.stride[0];
  const std::int64_t end = (part.dst_rows - 1) * g.stride[0] + reach() - p.g.pad[0] - part.src_rows;
  p.g.pad_end[0] = std::max<std::int64_t>(end, 0);
  return p;
}

}  // namespace autograd::internal::onednn
