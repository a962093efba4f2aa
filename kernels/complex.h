// Complex numbers. The type replaces std::complex, which NVRTC lacks, and has its layout: the real part, then the
// imaginary part. Arithmetic is in complex_math.h.
#pragma once

#include <catena/kernels/traits.h>

namespace catena {

#if !CATENA_DEVICE
// A complex type of another library: std::complex<float>, or any type with its members and its layout.
template <class Z>
concept foreign_complex = requires(const Z z) {
  typename Z::value_type;
  requires is_same<decltype(z.real()), typename Z::value_type>;
  requires is_same<decltype(z.imag()), typename Z::value_type>;
  Z(typename Z::value_type(), typename Z::value_type());
}
&&sizeof(Z) == 2 * sizeof(typename Z::value_type) && is_float<typename Z::value_type>;
#endif

template <class T> struct complex {
  T re, im;

  complex() = default;
  ND_FN constexpr complex(T real, T imag = T(0)) : re(real), im(imag) {}
  template <class S> ND_FN explicit constexpr complex(complex<S> z) : re(T(z.re)), im(T(z.im)) {}
#if !CATENA_DEVICE
  template <foreign_complex Z>
  requires(is_same<typename Z::value_type, T>) constexpr complex(const Z& z) : re(z.real()), im(z.imag()) {}
  template <foreign_complex Z>
  requires(is_same<typename Z::value_type, T>) constexpr operator Z() const { return Z(re, im); }
#endif
};
// The element types of nd::complex64 and nd::complex128.
using complex64 = complex<float>;
using complex128 = complex<double>;

template <class T> struct real_of<complex<T>> { using type = T; };

template <class T> ND_FN bool operator==(complex<T> a, complex<T> b) { return (a.re == b.re) & (a.im == b.im); }
template <class T> ND_FN bool operator!=(complex<T> a, complex<T> b) { return (a.re != b.re) | (a.im != b.im); }
// NumPy's order: by the real parts, equal ones by the imaginary parts. False if a part that decides, or an imaginary
// part beside it, is NaN.
template <class T> ND_FN bool operator<(complex<T> a, complex<T> b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
}
template <class T> ND_FN bool operator<=(complex<T> a, complex<T> b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im <= b.im));
}
template <class T> ND_FN bool operator>(complex<T> a, complex<T> b) { return b < a; }
template <class T> ND_FN bool operator>=(complex<T> a, complex<T> b) { return b <= a; }

}  // namespace catena
