// Positions and raw operands of indexed kernels. Bodies take them as template parameters and use only:
//   i.linear()        C-order position in the loop shape        i[k]          position along axis k
//   x(i0, i1, ...)    element of a raw operand, widened          x.shape(k)    its length along axis k
//   x.set(v, i0, ...) write an element of a raw output, rounded
#pragma once

#include <catena/kernels/numeric.h>

namespace catena {

enum : int { kMaxIndexRank = 32 };

// Returns the element at an address. Every byte of a bool other than 0 is true, as bytes of a view of another dtype may
// be; loading a bool from a byte other than 0 and 1 would be undefined.
template <class T> ND_FN T element(const void* at) {
  if constexpr (is_same<T, bool>) return *static_cast<const uint8_t*>(at) != 0;
  else return *static_cast<const T*>(at);
}

// Rank is a compile-time upper bound: generated code uses the exact rank, the host loops use kMaxIndexRank.
template <int Rank> struct Index {
  int64_t position;
  int64_t axis[Rank > 0 ? Rank : 1];

  ND_FN int64_t linear() const { return position; }
  ND_FN int64_t operator[](int k) const { return axis[k]; }
};

template <class T> struct View {
  T* data;
  const int64_t* lengths;
  const int64_t* strides;  // bytes

  ND_FN int64_t shape(int k) const { return lengths[k]; }
  template <class... I> ND_FN compute_t<T> operator()(I... i) const { return load(element<T>(at(i...))); }
  template <class... I> ND_FN void set(compute_t<T> v, I... i) const { store(*at(i...), v); }

 private:
  template <class... I> ND_FN T* at(I... i) const {
    int64_t offset = 0;
    int k = 0;
    ((offset += int64_t(i) * strides[k++]), ...);
    return reinterpret_cast<T*>(reinterpret_cast<char*>(data) + offset);
  }
};

}  // namespace catena
