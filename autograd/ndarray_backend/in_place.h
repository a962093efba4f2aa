// The members of catena::InPlaceMembers for variables: p.mul_(0.9).add_(q, {.alpha = 0.1}).
//
// They write the elements of the array, under autograd::no_grad, or if the variable is a leaf that needs no gradient
// and no operand needs one. Otherwise a RuntimeError, before anything is changed, because graphs keep arrays.
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/variable.h>
#include <catena/ndarray/routines/in_place.h>
#include <catena/ndarray/routines/indexing.h>

template <> struct catena::in_place_of<autograd::Variable> : nd::internal::InPlace {
  static nd::Array target(const autograd::Variable& x, std::string_view op) { return x.writable(op); }
  template <class T> static nd::internal::Given operand(const T& x, std::string_view op) {
    if constexpr (std::derived_from<T, autograd::Variable>)
      return nd::Array(static_cast<const autograd::Variable&>(x).read_by(op));
    else return nd::internal::InPlace::operand(x, op);
  }
  // x[items] = values, or += with `accumulate`.
  static void index_put(const nd::Array& to, const std::vector<autograd::IndexItem>& items,
                        const nd::internal::Given& values, bool accumulate) {
    std::vector<nd::IndexKey> keys;
    for (const autograd::IndexItem& i : items) {
      if (i.is_array()) keys.emplace_back(nd::Array(i.array()));
      else keys.emplace_back(i.key());
    }
    if (accumulate) nd::scatter_add(to, keys, values);
    else nd::setitem(to, keys, values);
  }
};
