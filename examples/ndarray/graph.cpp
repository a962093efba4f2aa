// A graph as a list of edges: names to numbers, degrees, connected parts, distances, and PageRank.
// writes: graph.png
// prints: 9 towns, 2 parts
// prints: first of the ranking: Bern
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/sparse/sparse.h>

#include "picture.h"

namespace {

void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

}  // namespace

int main() {
  const std::vector<std::string> names{"Basel", "Bern", "Chur", "Genf", "Olten", "Thun", "Zug", "Malta", "Gozo"};
  const nd::Array edges =
      nd::array({{0, 1}, {0, 4}, {1, 3}, {1, 4}, {1, 5}, {4, 6}, {2, 6}, {7, 8}});  // numbers of towns
  const auto towns = nd::unique(edges);
  const std::int64_t n = towns.size();
  const nd::Array from = nd::concatenate({edges(nd::_, 0), edges(nd::_, 1)}),
                  to = nd::concatenate({edges(nd::_, 1), edges(nd::_, 0)});  // both directions
  const nd::Array degree = nd::bincount(from, {.minlength = n});
  check(bool(nd::array_equal(degree, {2, 4, 1, 1, 3, 1, 2, 1, 1})), "degrees");

  // Every town takes the least number of its neighbours until nothing changes.
  nd::Array part = nd::arange(n);
  for (nd::Array before; before.is_null() || !bool(nd::array_equal(part, before));) {
    before = part.copy();
    nd::ufuncs::minimum.at(part, {to}, before(from));
  }
  const auto [first, index, inverse, size] = nd::unique(part, {.return_counts = true});
  std::cout << n << " towns, " << first.size() << " parts of " << size << "\n";
  check(bool(nd::array_equal(size, {7, 2})), "the islands are a part of their own");

  // Distances by a wave that spreads from Basel.
  nd::Array steps = nd::where(nd::arange(n) == 0, 0., nd::inf);
  for (std::int64_t k = 1; k < n; ++k) nd::ufuncs::minimum.at(steps, {to}, steps(from) + 1);
  std::cout << "steps from Basel: " << steps << "\n";
  check(double(steps(2)) == 3 && std::isinf(double(steps(7))), "Chur is three steps away, Malta cannot be reached");

  // PageRank: a walker goes along an edge, or, with a probability of 0.15, to any town.
  const nd::sparse::csr_matrix links({0.85 / degree(from), {to, from}}, {n, n});
  nd::Array rank = nd::full(n, 1. / double(n));
  for (int k = 0; k < 100; ++k) rank = links * rank + 0.15 / double(n);
  const auto best = int(nd::argmax(rank));
  std::cout << "first of the ranking: " << names[std::size_t(best)] << ", " << double(rank(best)) << "\n";
  check(bool(nd::isclose(rank.sum(), 1)), "the ranks add up to 1");

  // The same as the eigenvector of the largest eigenvalue of the walker's matrix.
  const nd::Array walk = links.toarray() + 0.15 / double(n);
  const auto [values, vectors] = nd::linalg::eig(walk);
  const nd::Array vector = nd::real(vectors(nd::_, nd::argmax(nd::real(values))));
  check(bool(nd::allclose(vector / vector.sum(), rank)), "both methods agree");

  // The towns at their places, as discs whose areas are proportional to the ranks; each part has a colour.
  const nd::Array east{7.6, 7.4, 9.5, 6.1, 7.9, 7.6, 8.5, 9.9, 10.4},
      north{47.6, 46.9, 46.9, 46.2, 47.3, 46.7, 47.2, 45.9, 46.1};
  Picture map{480, 320, 5.7, 10.8, 45.5, 48};
  for (std::int64_t k = 0; k < edges.shape(0); ++k)
    map.line(east(edges(k)), north(edges(k)), nd::array({150., 150., 150.}));
  for (std::int64_t k = 0; k < n; ++k)
    map.points(east(k), north(k), int(part(k)) == 0 ? nd::array({30., 90., 200.}) : nd::array({230., 150., 20.}),
               int(70 * std::sqrt(double(rank(k)))));
  map.write("graph.png");
}
