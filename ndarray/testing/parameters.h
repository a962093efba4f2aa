// Runs a body for every dtype, every order or every set of parameters. The message of an error begins with the
// parameters of the run.
//
//   for_all_dtypes([](nd::Dtype dtype) { ... }, {.no_bool = true});
//   for_int_dtypes_combination(2, [](const std::vector<nd::Dtype>& dtypes) { ... });
//   parameterize(product(std::vector{1, 2}, std::vector{"a", "b"}), [](int n, const char* name) { ... });
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <catena/kernels/base/testing.h>
#include <catena/ndarray/core/array.h>

namespace nd::testing {

// Dtypes of a test, and the choice of some of them.
using Dtypes = std::vector<Dtype>;

// Dtypes that are left out.
struct DtypeChoice {
  bool no_float16 = false;
  bool no_bool = false;
};
// float64, float32, float16; the signed and the unsigned integers; bool. (CuPy's lists name 64-bit integers twice.)
CATENA_EXPORT Dtypes all_dtypes(const DtypeChoice& choice = {});
CATENA_EXPORT Dtypes float_dtypes(const DtypeChoice& choice = {});
CATENA_EXPORT Dtypes signed_dtypes();
CATENA_EXPORT Dtypes unsigned_dtypes();
CATENA_EXPORT Dtypes int_dtypes(const DtypeChoice& choice = {});

namespace internal {
using catena::testing::run_named;
template <class F> void run_for_dtypes(const std::vector<Dtypes>& sets, F& body) {
  for (const Dtypes& dtypes : sets) {
    std::string where;
    for (const Dtype t : dtypes) where = catena::concat(where, where.empty() ? "dtype " : ", ", t);
    run_named(where, [&] { body(dtypes); });
  }
}
CATENA_EXPORT std::vector<Dtypes> combinations(const Dtypes& dtypes, int names, std::optional<bool> full);
}  // namespace internal

// ---- dtypes -------------------------------------------------------------------------------------
// Call body(dtype) for every dtype of a list or of a choice; an error names the dtype.
template <class F> void for_dtypes(const Dtypes& dtypes, F&& body) {
  for (const Dtype t : dtypes) internal::run_named(catena::concat("dtype ", t), [&] { body(t); });
}
template <class F> void for_all_dtypes(F&& body, const DtypeChoice& choice = {}) {
  for_dtypes(all_dtypes(choice), body);
}
template <class F> void for_float_dtypes(F&& body, const DtypeChoice& choice = {}) {
  for_dtypes(float_dtypes(choice), body);
}
template <class F> void for_signed_dtypes(F&& body) { for_dtypes(signed_dtypes(), body); }
template <class F> void for_unsigned_dtypes(F&& body) { for_dtypes(unsigned_dtypes(), body); }
template <class F> void for_int_dtypes(F&& body, const DtypeChoice& choice = {}) {
  for_dtypes(int_dtypes(choice), body);
}

// Calls body(dtypes) for `names` dtypes at once: for all combinations if `full`, else for as many combinations as there
// are dtypes, so that each dtype is in every place once. Without `full`, the environment variable
// CUPY_TEST_FULL_COMBINATION decides: a number other than 0 means full. ValueError for less than one name.
template <class F>
void for_dtypes_combination(const Dtypes& types, int names, F&& body, std::optional<bool> full = {}) {
  internal::run_for_dtypes(internal::combinations(types, names, full), body);
}
template <class F>
void for_all_dtypes_combination(int names, F&& body, const DtypeChoice& choice = {}, std::optional<bool> full = {}) {
  for_dtypes_combination(all_dtypes(choice), names, body, full);
}
template <class F> void for_signed_dtypes_combination(int names, F&& body, std::optional<bool> full = {}) {
  for_dtypes_combination(signed_dtypes(), names, body, full);
}
template <class F> void for_unsigned_dtypes_combination(int names, F&& body, std::optional<bool> full = {}) {
  for_dtypes_combination(unsigned_dtypes(), names, body, full);
}
template <class F>
void for_int_dtypes_combination(int names, F&& body, const DtypeChoice& choice = {}, std::optional<bool> full = {}) {
  for_dtypes_combination(int_dtypes(choice), names, body, full);
}

// ---- orders -------------------------------------------------------------------------------------
// Call body(order) for every order; an error names the order.
template <class F> void for_orders(const std::vector<Order>& orders, F&& body) {
  for (const Order order : orders)
    internal::run_named(catena::concat("order ", std::string_view("CFAK").substr(std::size_t(order), 1)),
                        [&] { body(order); });
}
template <class F> void for_CF_orders(F&& body) { for_orders({Order::C, Order::F}, body); }

// ---- parameters ---------------------------------------------------------------------------------
// product: every combination of one item of each list. parameterize: runs a body for every set.
using catena::testing::parameterize;
using catena::testing::product;

}  // namespace nd::testing
