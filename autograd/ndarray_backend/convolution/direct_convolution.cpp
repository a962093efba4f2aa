#include <catena/autograd/ndarray_backend/convolution/direct_convolution.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <catena/autograd/ndarray_backend/convolution/operands.h>
#include <catena/kernels/base/parallel.h>

namespace autograd::internal {
namespace {

using Int = std::int64_t;
constexpr Int kLanes = kDirectLanes;

Int panels_of(Int channels) { return ceil_divide(channels, kLanes); }

// True if this number of channels fills most lanes of its panels.
bool fills_panels(Int channels) { return 5 * channels >= 4 * panels_of(channels) * kLanes; }

// ---- windows --------------------------------------------------------------------------------------
// Describes how positions along one spatial axis of the result read the source. Position j is element first + j * apart
// of the result; its window begins at element j * step - pad of the source; tap t is at t.at in the window.
struct Tap {
  Int at, index;  // positions in the window and in the filter
};
struct Positions {
  Int count, first, apart, step, pad;
  std::vector<Tap> taps;                                               // in ascending order of `at`
  Int reach() const { return taps.empty() ? 1 : taps.back().at + 1; }  // the length of the window
};

Positions forward_positions(const ConvolutionAxis& a) {
  Positions p{a.out, 0, 1, a.stride, a.pad, {}};
  for (Int k = 0; k < a.kernel; ++k) p.taps.push_back({k * a.dilate, k});
  return p;
}
// Returns the positions of the elements of the input's gradient with this residue: element x + pad = stride * q +
// residue gets output q - m from tap k = (stride * m + residue) / dilate.
Positions backward_positions(const ConvolutionAxis& a, Int residue) {
  const Int first = ((residue - a.pad) % a.stride + a.stride) % a.stride, q = (first + a.pad) / a.stride;
  Positions p{first < a.size ? ceil_divide(a.size - first, a.stride) : 0, first, a.stride, 1, 0, {}};
  for (Int k = a.kernel - 1; k >= 0; --k)
    if (k * a.dilate % a.stride == residue) p.taps.push_back({-(k * a.dilate / a.stride), k});
  if (p.taps.empty()) return p;
  const Int lowest = p.taps.front().at;
  for (Tap& t : p.taps) t.at -= lowest;
  p.pad = -lowest - q;
  return p;
}

// Returns the contiguous segments of a window in a source with rows of `width` pixels and `channels` per pixel.
std::vector<DirectSegment> segments_of(const Positions& y, const Positions& x, Int width, Int channels) {
  std::vector<DirectSegment> segments;
  for (const Tap& ty : y.taps)
    for (const Tap& tx : x.taps) {
      const Int at = (ty.at * width + tx.at) * channels;
      if (!segments.empty() && segments.back().at + segments.back().length == at) segments.back().length += channels;
      else segments.push_back({at, channels});
    }
  return segments;
}

Int segments_length(const std::vector<DirectSegment>& segments) {
  Int length = 0;
  for (const DirectSegment& s : segments) length += s.length;
  return length;
}

// Copies rows `row` to `row + rows` of an image (h, w, channels), with `width` pixels from -pad on, and zeros outside.
void gather(const float* image, Int h, Int w, Int channels, Int row, Int rows, Int pad, Int width, float* to) {
  const Int begin = std::clamp<Int>(pad, 0, width), end = std::clamp<Int>(w + pad, begin, width);
  const auto zero = [&](Int pixels) {
    std::fill_n(to, pixels * channels, 0.0f);
    to += pixels * channels;
  };
  for (Int y = row; y < row + rows; ++y) {
    if (y < 0 || y >= h) {
      zero(width);
      continue;
    }
    zero(begin);
    std::memcpy(to, image + (y * w + begin - pad) * channels, sizeof(float) * std::size_t((end - begin) * channels));
    to += (end - begin) * channels;
    zero(width - end);
  }
}

// The same for the kLanes channels from `first` on; zeros beyond the last channel.
void gather_panel(const float* image, Int h, Int w, Int channels, Int first, Int row, Int rows, Int pad, Int width,
                  float* to) {
  const Int begin = std::clamp<Int>(pad, 0, width), end = std::clamp<Int>(w + pad, begin, width);
  const Int n = std::min(kLanes, channels - first);
  for (Int y = row; y < row + rows; ++y, to += width * kLanes) {
    const bool inside = y >= 0 && y < h;
    std::fill_n(to, (inside && n == kLanes ? begin : width) * kLanes, 0.0f);
    if (!inside) continue;
    const float* from = image + (y * w + begin - pad) * channels + first;
    for (Int x = begin; x < end; ++x, from += channels) {
      if (n == kLanes) std::memcpy(to + x * kLanes, from, sizeof(float) * kLanes);
      else std::copy_n(from, n, to + x * kLanes);
    }
    std::fill_n(to + end * kLanes, (width - end) * kLanes, 0.0f);
  }
}

// ---- one convolution ------------------------------------------------------------------------------
struct Layers {
  Int source, result;            // numbers of channels
  Int source_step, result_step;  // distances in w between neighbouring channels
  Int taps;                      // number of elements of w per pair of channels
};

// Returns the filter as (panels of the result's channels, taps, source's channels, kLanes).
Array panels_of_filter(const Array& w, const Layers& l, const Positions& y, const Positions& x, Int kernel_x) {
  const Int depth = Int(y.taps.size() * x.taps.size()) * l.source;
  const Array to = floats(w, std::max<Int>(1, panels_of(l.result) * depth * kLanes));
  catena::parallel_for(panels_of(l.result), 1, [&](Int begin, Int end) {
    for (Int panel = begin; panel < end; ++panel) {
      const Int lanes = std::min(kLanes, l.result - panel * kLanes);
      const float* const from = data_of(w) + panel * kLanes * l.result_step;
      float* out = mutable_data_of(to) + panel * depth * kLanes;
      std::fill_n(out, lanes < kLanes ? depth * kLanes : 0, 0.0f);
      for (Int c = 0; c < l.source; ++c) {
        float* line = out + c * kLanes;
        for (const Tap& ty : y.taps)
          for (const Tap& tx : x.taps) {
            const float* const element = from + c * l.source_step + ty.index * kernel_x + tx.index;
            for (Int lane = 0; lane < lanes; ++lane) line[lane] = element[lane * l.result_step];
            line += l.source * kLanes;
          }
      }
    }
  });
  return to;
}

// Computes the elements of `result` (n, ., ., channels) at the positions of y and x. Does not read `result`.
void convolve(const Array& source, const Array& w, const Layers& l, const Array& bias, const Positions& y,
              const Positions& x, const Array& result) {
  constexpr Int kTogether = 128;  // positions computed while their part of the source is in the cache
  if (y.count == 0 || x.count == 0) return;
  const Int h = source.shape(1), w_source = source.shape(2), images = source.shape(0);
  const Int width = (x.count - 1) * x.step + x.reach();
  const Int band = std::clamp<Int>(kTogether / x.count, 1, y.count), bands = ceil_divide(y.count, band);
  const Int most_rows = (band - 1) * y.step + y.reach();
  const std::vector<DirectSegment> segments = segments_of(y, x, width, l.source);
  const Array panels = panels_of_filter(w, l, y, x, w.shape(3));
  const Int result_row = result.shape(2) * l.result, row_size = width * l.source;
  // If there are few bands, threads also share the panels.
  const Int count_panels = panels_of(l.result), depth = segments_length(segments);
  const Int chunks = std::clamp<Int>(2 * catena::max_threads() / (images * bands), 1, count_panels);
  catena::parallel_for(images * bands * chunks, 1, [&](Int begin, Int end) {
    const Array scratch = floats(source, most_rows * row_size);
    std::vector<const float*> from;
    std::vector<float*> to;
    for (Int k = begin; k < end; ++k) {
      const Int i = k / chunks, image = i / bands, first = i % bands * band, count = std::min(band, y.count - first);
      const Int panel = k % chunks * count_panels / chunks, last = (k % chunks + 1) * count_panels / chunks;
      const Int channel = panel * kLanes;
      gather(data_of(source) + image * h * w_source * l.source, h, w_source, l.source, first * y.step - y.pad,
             (count - 1) * y.step + y.reach(), x.pad, width, mutable_data_of(scratch));
      from.clear();
      to.clear();
      for (Int r = 0; r < count; ++r)
        for (Int c = 0; c < x.count; ++c) {
          from.push_back(data_of(scratch) + r * y.step * row_size + c * x.step * l.source);
          to.push_back(mutable_data_of(result) +
                       (image * result.shape(1) + y.first + (first + r) * y.apart) * result_row +
                       (x.first + c * x.apart) * l.result + channel);
        }
      direct_kernels()->multiply(from.data(), to.data(), Int(from.size()), segments.data(), Int(segments.size()),
                                 data_of(panels) + panel * depth * kLanes, std::min(last * kLanes, l.result) - channel,
                                 bias ? data_of(bias) + channel : nullptr);
    }
  });
}

// True if these kernels are faster than oneDNN's for AVX2: not for filters of one element, which are plain products,
// and not for few channels or positions.
bool takes(const Array& a, const Array& b, const Shape& w, const Shape& y, const ConvolutionSpec& spec) {
  constexpr Int kLeastChannels = 48, kLeastPositions = 128;
  return direct_kernels() != nullptr && a.ndim() == 4 && spec.groups == 1 && is_float32(a, b) &&
         std::min(w[0], w[1]) >= kLeastChannels && y[0] * y[2] * y[3] >= kLeastPositions && w[2] * w[3] > 1;
}

Array as_channels_first(const Array& images) {
  set_last_implementation("direct");
  return transpose(images, Dims{0, 3, 1, 2});
}

}  // namespace

Array direct_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                         const ConvolutionSpec& spec) {
  if (!takes(x, w, w.shape(), y_shape, spec) || !fills_panels(w.shape(0))) return {};
  const Int taps = w.shape(2) * w.shape(3);
  const Layers layers{w.shape(1), w.shape(0), taps, w.shape(1) * taps, taps};
  const Array y = empty_floats(x, {y_shape[0], y_shape[2], y_shape[3], y_shape[1]});
  convolve(packed(x), contiguous(w), layers, contiguous_or_none(b),
           forward_positions(axis_of(0, x.shape(), w.shape(), y_shape, spec)),
           forward_positions(axis_of(1, x.shape(), w.shape(), y_shape, spec)), y);
  return as_channels_first(y);
}

Array direct_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                       const ConvolutionSpec& spec) {
  if (!takes(gy, w, w.shape(), gy.shape(), spec) || !fills_panels(w.shape(1))) return {};
  const Int taps = w.shape(2) * w.shape(3);
  const Layers layers{w.shape(0), w.shape(1), w.shape(1) * taps, taps, taps};
  const Array gx = empty_floats(gy, {x_shape[0], x_shape[2], x_shape[3], x_shape[1]});
  const Array source = packed(gy), filter = contiguous(w);
  const ConvolutionAxis y = axis_of(0, x_shape, w.shape(), gy.shape(), spec),
                        x = axis_of(1, x_shape, w.shape(), gy.shape(), spec);
  for (Int fy = 0; fy < y.stride; ++fy)
    for (Int fx = 0; fx < x.stride; ++fx)
      convolve(source, filter, layers, {}, backward_positions(y, fy), backward_positions(x, fx), gx);
  return as_channels_first(gx);
}

// For each row of taps and each panel of input channels, computes a product of the rows of the windows and the output's
// gradient. Blocks of positions are added in order; threads share the products.
Array direct_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                         const ConvolutionSpec& spec) {
  if (!takes(x, gy, w_shape, gy.shape(), spec) || !fills_panels(w_shape[0])) return {};
  const Int inputs = w_shape[1], outputs = w_shape[0];
  const ConvolutionAxis ay = axis_of(0, x.shape(), w_shape, gy.shape(), spec),
                        ax = axis_of(1, x.shape(), w_shape, gy.shape(), spec);
  if (!fills_panels(inputs) || ax.dilate != 1) return {};
  constexpr Int kTogether = 256;
  const Int in_panels = panels_of(inputs), out_panels = panels_of(outputs);
  const Array source = packed(x), gradient = packed(gy);
  const Int width = (ax.out - 1) * ax.stride + ax.kernel, reach = (ay.kernel - 1) * ay.dilate + 1;
  const Int depth = ax.kernel * kLanes, line = out_panels * kLanes;  // row of one product; floats in a row of all sums
  const Int band = std::clamp<Int>(kTogether / ax.out, 1, ay.out), bands = ceil_divide(ay.out, band);
  const Int held = (band - 1) * ay.stride + reach;
  const Int together = std::clamp<Int>(kTogether / (band * ax.out), 1, x.shape(0) * bands);  // bands per block
  const Int in_band = held * width * kLanes, out_band = band * ax.out * kLanes;
  const Array in = floats(x, in_panels * together * in_band), out = floats(x, out_panels * together * out_band);
  const Array sums = floats(x, ay.kernel * in_panels * depth * line);
  const Int total = x.shape(0) * bands;
  for (Int block = 0; block < total; block += together) {
    const Int count = std::min(together, total - block);
    const auto rows_of = [&](Int i) { return std::min(band, ay.out - (block + i) % bands * band); };
    catena::parallel_for(count * (in_panels + out_panels), 1, [&](Int begin, Int end) {
      for (Int k = begin; k < end; ++k) {
        const Int i = k % count, panel = k / count, image = (block + i) / bands, row = (block + i) % bands * band;
        if (panel < in_panels)
          gather_panel(data_of(source) + image * ay.size * ax.size * inputs, ay.size, ax.size, inputs, panel * kLanes,
                       row * ay.stride - ay.pad, (rows_of(i) - 1) * ay.stride + reach, ax.pad, width,
                       mutable_data_of(in) + (panel * together + i) * in_band);
        else
          gather_panel(data_of(gradient) + image * ay.out * ax.out * outputs, ay.out, ax.out, outputs,
                       (panel - in_panels) * kLanes, row, rows_of(i), 0, ax.out,
                       mutable_data_of(out) + ((panel - in_panels) * together + i) * out_band);
      }
    });
    catena::parallel_for(ay.kernel * in_panels * out_panels, 1, [&](Int begin, Int end) {
      std::vector<DirectRow> rows;
      for (Int k = begin; k < end; ++k) {
        const Int to = k % out_panels, from = k / out_panels % in_panels, ky = k / out_panels / in_panels;
        rows.clear();
        for (Int i = 0; i < count; ++i)
          for (Int r = 0; r < rows_of(i); ++r)
            rows.push_back(
                {data_of(in) + (from * together + i) * in_band + (r * ay.stride + ky * ay.dilate) * width * kLanes,
                 data_of(out) + (to * together + i) * out_band + r * ax.out * kLanes});
        direct_kernels()->add_products(rows.data(), Int(rows.size()), ax.out, ax.stride * kLanes, depth,
                                       mutable_data_of(sums) + (ky * in_panels + from) * depth * line + to * kLanes,
                                       line, block == 0);
      }
    });
  }
  const Array gw = empty_floats(x, w_shape);
  catena::parallel_for(out_panels * inputs, 16, [&](Int begin, Int end) {
    for (Int k = begin; k < end; ++k) {
      const Int o = k / inputs * kLanes, c = k % inputs, n = std::min(kLanes, outputs - o);
      for (Int ky = 0; ky < ay.kernel; ++ky)
        for (Int kx = 0; kx < ax.kernel; ++kx) {
          const float* const from =
              data_of(sums) + ((ky * in_panels + c / kLanes) * depth + kx * kLanes + c % kLanes) * line;
          float* const to = mutable_data_of(gw) + (o * inputs + c) * ay.kernel * ax.kernel + ky * ax.kernel + kx;
          for (Int lane = 0; lane < n; ++lane) to[lane * inputs * ay.kernel * ax.kernel] = from[o + lane];
        }
    }
  });
  set_last_implementation("direct");
  return gw;
}

}  // namespace autograd::internal
