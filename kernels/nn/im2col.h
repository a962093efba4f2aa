// Patches of images as columns, and back: col[n, c, j, i, oy, ox] = img[n, c, oy sy + j dy - ph, ox sx + i dx - pw], or
// 0 outside.
#pragma once

#include <catena/kernels/index.h>

namespace catena::k {

struct im2col_2d {
  template <class I, class X, class T>
  ND_FN static void run(const I& i, const X& img, int64_t sy, int64_t sx, int64_t ph, int64_t pw, int64_t dy,
                        int64_t dx, T& col) {
    const int64_t y = i[4] * sy + i[2] * dy - ph, x = i[5] * sx + i[3] * dx - pw;
    const bool inside = y >= 0 && y < img.shape(2) && x >= 0 && x < img.shape(3);
    col = inside ? T(img(i[0], i[1], y, x)) : T(0);
  }
};

// The adjoint: every image position adds up the columns to which it was copied, in a fixed order. Loop: the image's
// shape.
struct col2im_2d {
  template <class I, class X, class T>
  ND_FN static void run(const I& i, const X& col, int64_t sy, int64_t sx, int64_t ph, int64_t pw, int64_t dy,
                        int64_t dx, T& img) {
    T sum = T(0);
    for (int64_t j = 0; j < col.shape(2); ++j) {
      const int64_t y = i[2] + ph - j * dy, oy = y / sy;
      if (y < 0 || oy >= col.shape(4) || oy * sy != y) continue;
      for (int64_t k = 0; k < col.shape(3); ++k) {
        const int64_t x = i[3] + pw - k * dx, ox = x / sx;
        if (x >= 0 && ox < col.shape(5) && ox * sx == x) sum += col(i[0], i[1], j, k, oy, ox);
      }
    }
    img = sum;
  }
};

}  // namespace catena::k
