#include <catena/autograd/ndarray_backend/convolution/strided_filter.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <catena/autograd/ndarray_backend/convolution/operands.h>
#include <catena/kernels/base/parallel.h>

namespace autograd::internal {
namespace {

using Int = std::int64_t;
constexpr Int kLanes = kStridedFilterLanes;

// Images (n, h, w, channels).
struct StridedImages {
  const Array packed;
  Int h, w, channels;
  Int panels() const { return ceil_divide(channels, kLanes); }
};

// Copies rows `row` to `row + rows` of an image, with `width` pixels from -pad on, for the kLanes channels from `first`
// on; zeros outside the image and beyond the last channel.
void gather_panel(const StridedImages& s, Int image, Int first, Int row, Int rows, Int pad, Int width, float* to) {
  const Int begin = std::clamp<Int>(pad, 0, width), end = std::clamp<Int>(s.w + pad, begin, width);
  const Int n = std::min(kLanes, s.channels - first);
  const float* const all = data_of(s.packed) + image * s.h * s.w * s.channels + first;
  for (Int y = row; y < row + rows; ++y, to += width * kLanes) {
    const bool inside = y >= 0 && y < s.h;
    std::fill_n(to, (inside && n == kLanes ? begin : width) * kLanes, 0.0f);
    if (!inside) continue;
    const float* from = all + (y * s.w + begin - pad) * s.channels;
    for (Int x = begin; x < end; ++x, from += s.channels) {
      if (n == kLanes) std::memcpy(to + x * kLanes, from, sizeof(float) * kLanes);
      else std::copy_n(from, n, to + x * kLanes);
    }
    std::fill_n(to + end * kLanes, (width - end) * kLanes, 0.0f);
  }
}

// For each row of taps and each panel of input channels, computes a product of the rows of the windows and the output's
// gradient. Bands of output rows are gathered in panels of channels and added in blocks, in order; threads share the
// products.
class StridedFilterGradient {
 public:
  explicit StridedFilterGradient(const Convolution& c)
      : ay_(axis_of(0, c)),
        ax_(axis_of(1, c)),
        x_{packed(c.x), ay_.size, ax_.size, c.w_shape[1]},
        gy_{packed(c.y), ay_.out, ax_.out, c.w_shape[0]},
        together_(std::clamp<Int>(kTogether / (band_ * ax_.out), 1, c.x_shape[0] * bands_)),
        in_(floats(c.x, x_.panels() * together_ * in_band_)),
        out_(floats(c.x, gy_.panels() * together_ * out_band_)),
        sums_(floats(c.x, ay_.kernel * x_.panels() * depth_ * line_)),
        gw_(empty_floats(c.x, c.w_shape)),
        total_(c.x_shape[0] * bands_) {}

  Array run() const {
    for (Int block = 0; block < total_; block += together_) {
      const Int count = std::min(together_, total_ - block);
      gather(block, count);
      add(block, count);
    }
    store();
    return gw_;
  }

 private:
  static constexpr Int kTogether = 256;  // positions of a block

  Int rows_of(Int band) const { return std::min(band_, ay_.out - band % bands_ * band_); }

  void gather(Int block, Int count) const {
    catena::parallel_for(count * (x_.panels() + gy_.panels()), 1, [&](Int begin, Int end) {
      for (Int k = begin; k < end; ++k) {
        const Int i = k % count, panel = k / count, image = (block + i) / bands_, row = (block + i) % bands_ * band_;
        const Int rows = rows_of(block + i), of_gy = panel - x_.panels();
        if (of_gy < 0)
          gather_panel(x_, image, panel * kLanes, row * ay_.stride - ay_.pad, (rows - 1) * ay_.stride + reach_, ax_.pad,
                       width_, mutable_data_of(in_) + (panel * together_ + i) * in_band_);
        else
          gather_panel(gy_, image, of_gy * kLanes, row, rows, 0, ax_.out,
                       mutable_data_of(out_) + (of_gy * together_ + i) * out_band_);
      }
    });
  }

  void add(Int block, Int count) const {
    catena::parallel_for(ay_.kernel * x_.panels() * gy_.panels(), 1, [&](Int begin, Int end) {
      std::vector<StridedRow> rows;
      for (Int k = begin; k < end; ++k) {
        const Int to = k % gy_.panels(), from = k / gy_.panels() % x_.panels(), ky = k / gy_.panels() / x_.panels();
        rows.clear();
        for (Int i = 0; i < count; ++i)
          for (Int r = 0; r < rows_of(block + i); ++r)
            rows.push_back({data_of(in_) + (from * together_ + i) * in_band_ +
                                (r * ay_.stride + ky * ay_.dilate) * width_ * kLanes,
                            data_of(out_) + (to * together_ + i) * out_band_ + r * ax_.out * kLanes});
        add_strided_products(rows.data(), Int(rows.size()), ax_.out, ax_.stride * kLanes, depth_,
                             mutable_data_of(sums_) + (ky * x_.panels() + from) * depth_ * line_ + to * kLanes, line_,
                             block == 0);
      }
    });
  }

  void store() const {
    const Int inputs = x_.channels, outputs = gy_.channels, taps = ay_.kernel * ax_.kernel;
    catena::parallel_for(gy_.panels() * inputs, 16, [&](Int begin, Int end) {
      for (Int k = begin; k < end; ++k) {
        const Int o = k / inputs * kLanes, c = k % inputs, n = std::min(kLanes, outputs - o);
        for (Int tap = 0; tap < taps; ++tap) {
          const Int ky = tap / ax_.kernel, kx = tap % ax_.kernel;
          const Int row = (ky * x_.panels() + c / kLanes) * depth_ + kx * kLanes + c % kLanes;
          const float* const from = data_of(sums_) + row * line_ + o;
          float* const to = mutable_data_of(gw_) + (o * inputs + c) * taps + tap;
          for (Int lane = 0; lane < n; ++lane) to[lane * inputs * taps] = from[lane];
        }
      }
    });
  }

  const ConvolutionAxis ay_, ax_;
  const StridedImages x_, gy_;
  const Int width_ = (ax_.out - 1) * ax_.stride + ax_.kernel;             // pixels of a row that windows read
  const Int reach_ = (ay_.kernel - 1) * ay_.dilate + 1;                   // rows of a window
  const Int depth_ = ax_.kernel * kLanes, line_ = gy_.panels() * kLanes;  // rows of a product; a row of all sums
  const Int band_ = std::clamp<Int>(kTogether / ax_.out, 1, ay_.out), bands_ = ceil_divide(ay_.out, band_);
  const Int in_band_ = ((band_ - 1) * ay_.stride + reach_) * width_ * kLanes, out_band_ = band_ * ax_.out * kLanes;
  const Int together_;  // bands of a block
  const Array in_, out_, sums_, gw_;
  const Int total_;
};

}  // namespace

Array strided_filter_gradient(const Convolution& c) { return StridedFilterGradient(c).run(); }

}  // namespace autograd::internal
