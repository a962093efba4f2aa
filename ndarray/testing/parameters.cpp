#include <catena/ndarray/testing/parameters.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include <catena/kernels/base/text.h>

namespace nd::testing {
namespace {

// Returns the dtypes of some kinds.
Dtypes dtypes_of(std::initializer_list<DtypeKind> kinds, const DtypeChoice& choice = {}) {
  constexpr Dtype kAll[] = {float64, float32, float16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_};
  Dtypes list;
  for (const Dtype t : kAll) {
    const bool excluded = (choice.no_float16 && t == float16) || (choice.no_bool && t == bool_);
    if (!excluded && std::find(kinds.begin(), kinds.end(), kind_of(t)) != kinds.end()) list.push_back(t);
  }
  return list;
}

}  // namespace

Dtypes all_dtypes(const DtypeChoice& choice) {
  return dtypes_of({DtypeKind::floating, DtypeKind::signed_, DtypeKind::unsigned_, DtypeKind::bool_}, choice);
}
Dtypes float_dtypes(const DtypeChoice& choice) { return dtypes_of({DtypeKind::floating}, choice); }
Dtypes signed_dtypes() { return dtypes_of({DtypeKind::signed_}); }
Dtypes unsigned_dtypes() { return dtypes_of({DtypeKind::unsigned_}); }
Dtypes int_dtypes(const DtypeChoice& choice) {
  return dtypes_of({DtypeKind::signed_, DtypeKind::unsigned_, DtypeKind::bool_}, choice);
}

std::vector<Dtypes> internal::combinations(const Dtypes& dtypes, int names, std::optional<bool> full) {
  catena::check<ValueError>(names > 0, "for_dtypes_combination", names, " names were given, at least one is needed");
  if (!full) {
    const char* const wanted = std::getenv("CUPY_TEST_FULL_COMBINATION");
    full = wanted != nullptr && catena::leading_integer(wanted) != 0;
  }
  std::vector<Dtypes> sets = {{}};
  if (*full) {
    for (int k = 0; k < names; ++k) {
      std::vector<Dtypes> longer;
      for (const Dtypes& set : sets)
        for (const Dtype t : dtypes) {
          longer.push_back(set);
          longer.back().push_back(t);
        }
      sets = std::move(longer);
    }
    return sets;
  }
  std::mt19937 random(0);  // the same sets in every run
  sets.assign(dtypes.size(), {});
  for (int k = 0; k < names; ++k) {
    Dtypes shuffled = dtypes;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (std::size_t i = 0; i < sets.size(); ++i) sets[i].push_back(shuffled[i]);
  }
  return sets;
}

}  // namespace nd::testing
