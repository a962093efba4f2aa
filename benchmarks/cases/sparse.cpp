// Products of sparse matrices in compressed rows. Each row has per_row entries in hashed columns; entries at the same
// place are added.
#include <algorithm>

#include <catena/benchmarks/cases.h>
#include <catena/ndarray/sparse/sparse.h>

namespace bench {
namespace {

using nd::sparse::csr_matrix;

csr_matrix matrix(const Parameters& p, std::int64_t seed) {
  const std::int64_t n = p.at("rows"), entries = n * p.at("per_row");
  const nd::Array row = nd::arange(entries) / p.at("per_row"), column = labels(entries, 2 * seed, n);
  return csr_matrix(nd::sparse::Entries(input(p, {entries}, 2 * seed + 1, -1), {row.astype(nd::int32), column}),
                    nd::Shape{n, n});
}

struct Operands {
  csr_matrix sparse;
  nd::Array dense;
};
Ready with_dense(const Parameters& p, const nd::Shape& shape) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Operands{matrix(p, seed), input(p, shape, 1000 + seed, -1)};
      },
      [](const Operands& o) { return o.sparse.dot(o.dense); });
}
Ready with_vector(const Parameters& p) { return with_dense(p, {p.at("rows")}); }
Ready with_matrix(const Parameters& p) { return with_dense(p, {p.at("rows"), p.at("columns")}); }
Ready with_sparse(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return matrix(p, seed); }, [](const csr_matrix& m) { return m.dot(m).data(); });
}

Parameters squares(Draw& draw, std::int64_t most) {
  const std::int64_t n = draw.length(10, draw.at_most(most));
  const std::int64_t per_row = std::min(draw.log_uniform(1, 50), n);
  return {{"rows", n}, {"per_row", per_row}, {"sets", 1}, {"dtype", draw.dtype("fd")}};
}
Parameters any_square(Draw& draw) { return squares(draw, 1000000); }
Parameters small_square(Draw& draw) { return squares(draw, 30000); }
Parameters square_and_columns(Draw& draw) {
  Parameters p = squares(draw, 100000);
  p["columns"] = draw.length(2, 128);
  return p;
}

const Parameters large{{"rows", 100000}, {"per_row", 10}, {"sets", 1}, {"dtype", 'd'}};
const Parameters wide{{"rows", 100000}, {"per_row", 10}, {"columns", 16}, {"sets", 1}, {"dtype", 'd'}};
const Parameters few{{"rows", 12}, {"per_row", 2}};

const Cases cases{
    {"sparse/csr_vector", large, few, with_vector, any_square},
    {"sparse/csr_dense", wide, few, with_matrix, square_and_columns},
    {"sparse/csr_csr", {{"rows", 20000}, {"per_row", 10}, {"sets", 1}, {"dtype", 'd'}}, few, with_sparse, small_square},
};

}  // namespace
}  // namespace bench
