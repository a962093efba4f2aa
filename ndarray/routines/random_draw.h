// Options of the random samplers, and the functions that draw, for the classes of random.h and random_generator.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include <catena/ndarray/routines/bit_generator.h>

namespace nd::random {

struct SampleOptions {
  Dtype dtype = Dtype::float64;
};
struct IntegerOptions {
  Dtype dtype = Dtype::int64;
};

struct ChoiceOptions {
  [[no_unique_address]] Named named = Named();
  bool replace = true;  // an element may be drawn more than once
  // The probabilities of the elements, in any real dtype; by default all are equally likely.
  Array p = {};
  int axis = 0;  // axis along which elements are drawn
};

namespace draw {
template <class Options> Dtype dtype_in(const Options& options) { return options.dtype; }
inline Dtype dtype_in(Dtype dtype) { return dtype; }
inline std::optional<Shape> size_of(std::initializer_list<catena::Integer> size) {
  return size.size() == 0 ? std::nullopt : std::optional<Shape>(size);
}
CATENA_EXPORT Array random_sample(BitGenerator& g, const Shape& size, Dtype dtype);
CATENA_EXPORT Array uniform(BitGenerator& g, double low, double high, const Shape& size, Dtype dtype);
CATENA_EXPORT Array standard_normal(BitGenerator& g, const Shape& size, Dtype dtype);
CATENA_EXPORT Array normal(BitGenerator& g, const Operand& loc, const Operand& scale, const std::optional<Shape>& size,
                           Dtype dtype);
CATENA_EXPORT Array lognormal(BitGenerator& g, const Operand& mean, const Operand& sigma,
                              const std::optional<Shape>& size, Dtype dtype);
CATENA_EXPORT Array gumbel(BitGenerator& g, double loc, double scale, const Shape& size, Dtype dtype);
CATENA_EXPORT Array randint(BitGenerator& g, std::int64_t low, std::optional<std::int64_t> high, const Shape& size,
                            Dtype dtype);
CATENA_EXPORT Array random_integers(BitGenerator& g, std::int64_t low, std::optional<std::int64_t> high,
                                    const Shape& size, Dtype dtype);
CATENA_EXPORT Array choice(BitGenerator& g, std::int64_t n, const Shape& size, const ChoiceOptions& options);
CATENA_EXPORT Array choice(BitGenerator& g, const Array& a, const Shape& size, const ChoiceOptions& options);
CATENA_EXPORT std::string bytes(BitGenerator& g, std::int64_t length);
CATENA_EXPORT Array permutation(BitGenerator& g, std::int64_t n);
CATENA_EXPORT Array permutation(BitGenerator& g, const Array& a);
CATENA_EXPORT void shuffle(BitGenerator& g, const Array& a);
}  // namespace draw

}  // namespace nd::random
