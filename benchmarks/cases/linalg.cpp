// Linear algebra. Matrices are well conditioned, so that results in float32 can be compared: numbers on [-1, 1), with
// larger ones on the diagonal. The result of a decomposition is its values, which do not depend on signs.
#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

nd::Array dominant(const Parameters& p, const nd::Shape& shape, std::int64_t seed) {
  const nd::Array a = input(p, shape, seed, -1);
  return a + nd::eye(shape.back(), a.dtype()) * double(shape.back());
}

Ready solve(const Parameters& p) {
  using Pair = std::pair<nd::Array, nd::Array>;
  return rotating(
      p,
      [&](std::int64_t seed) {
        const std::int64_t n = p.at("n");
        return Pair(dominant(p, {n, n}, 2 * seed), input(p, {n, p.at("columns")}, 2 * seed + 1, -1));
      },
      [](const Pair& s) { return nd::linalg::solve(s.first, s.second); });
}

Ready inverses(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return dominant(p, {p.at("count"), p.at("n"), p.at("n")}, seed);
      },
      [](const nd::Array& a) { return nd::linalg::inv(a); });
}

Ready svd(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return input(p, {p.at("rows"), p.at("columns")}, seed, -1);
      },
      [](const nd::Array& a) { return nd::linalg::svd(a, false).S; });
}

Ready eigh(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        const nd::Array a = input(p, {p.at("n"), p.at("n")}, seed, -1);
        return a + a.T();
      },
      [](const nd::Array& a) { return nd::linalg::eigh(a).eigenvalues; });
}

template <class F> Ready of_matrix(const Parameters& p, F f) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return input(p, {p.at("rows"), p.at("columns")}, seed, -1);
      },
      f);
}

// At most 700 rows, so that no case takes long where LAPACK is slow.
Parameters square(Draw& draw) {
  return {
      {"n", draw.length(2, draw.at_most(700))}, {"sets", 1}, {"dtype", draw.dtype("fd")}, {"offset", draw.offset()}};
}
Parameters equations(Draw& draw) {
  Parameters p = square(draw);
  p["columns"] = draw.log_uniform(1, p["n"]);
  return p;
}
Parameters stacks(Draw& draw) {
  Parameters p = square(draw);
  p["n"] = std::min<std::int64_t>(p["n"], 64);
  p["count"] = draw.log_uniform(1, std::max<std::int64_t>(1, draw.at_most(300000) / p["n"] / p["n"]));
  return p;
}
Parameters values(Draw& draw) {
  Parameters p = square(draw);
  p["rows"] = p["n"];
  p["columns"] = draw.length(2, draw.at_most(400));
  p.erase("n");
  return p;
}
Parameters any_matrix(Draw& draw) { return draw.matrix("fd"); }

const Parameters matrix{{"rows", 2048}, {"columns", 2048}, {"sets", 4}}, few{{"rows", 7}, {"columns", 5}, {"sets", 2}};

const Cases cases{
    {"linalg/solve_512", {{"n", 512}, {"columns", 1}, {"sets", 2}}, {{"n", 7}}, solve, equations},
    {"linalg/inverses_1000x16x16",
     {{"count", 1000}, {"n", 16}, {"sets", 2}},
     {{"count", 3}, {"n", 5}},
     inverses,
     stacks},
    {"linalg/svd_256", {{"rows", 256}, {"columns", 256}, {"sets", 2}}, few, svd, values},
    {"linalg/eigh_512", {{"n", 512}, {"sets", 2}}, {{"n", 7}}, eigh, square},
    {"linalg/norm", matrix, few,
     [](const Parameters& p) { return of_matrix(p, [](const nd::Array& a) { return nd::linalg::norm(a); }); },
     any_matrix},
    {"linalg/norm_axis1", matrix, few,
     [](const Parameters& p) {
       return of_matrix(p, [](const nd::Array& a) { return nd::linalg::norm(a, {.axis = 1}); });
     },
     any_matrix},
};

}  // namespace
}  // namespace bench
