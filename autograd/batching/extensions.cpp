// Networks' operations and linear algebra on batched arrays: the examples are further images of a batch, further groups
// of a convolution, or further matrices of a stack.
#include <algorithm>
#include <type_traits>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/batching/backend.h>
#include <catena/autograd/nn_extension/convolution.h>

namespace autograd::internal {
namespace {

Shape with_first(std::int64_t first, const Shape& rest, int from = 0) {
  Shape shape{first};
  for (int k = from; k < rest.size(); ++k) shape.push_back(rest[k]);
  return shape;
}

// While an object of this class exists, the thread is outside of the scope of the backend. The functions convert
// between arrays of the backend and arrays of the inner backend.
class Batch {
 public:
  explicit Batch(BatchBackend& backend) : backend_(backend), outside_(backend.leave()) {}

  // The images (or rows) of all examples along the first axis.
  Array images(const Array& a) const {
    const Array all = backend_.expanded(a);
    return reshape(all, with_first(all.shape(0) * all.shape(1), a.shape(), 1));
  }
  // The opposite of images(), of a result.
  Array examples(const Array& a) const {
    const std::int64_t n = backend_.examples();
    return backend_.wrap(reshape(contiguous(a), with_first(n, with_first(a.shape(0) / n, a.shape(), 1))));
  }
  Arrays examples(const Arrays& list) const {
    Arrays result;
    for (const Array& a : list) result.push_back(examples(a));
    return result;
  }
  // (images, examples * channels, ...): the examples as groups of channels.
  Array groups(const Array& a) const {
    const Array all = swapaxes(backend_.expanded(a), 0, 1);
    Shape shape{all.shape(0), all.shape(1) * all.shape(2)};
    for (int k = 3; k < all.ndim(); ++k) shape.push_back(all.shape(k));
    return reshape(all, shape);
  }
  // The matrices of all examples. With a rank, that many axes of each example.
  Array stack(const Array& a, int rank = 0) const { return backend_.all(*a.get(), std::max(rank, a.ndim())); }
  Array wrap(const Array& a) const { return backend_.wrap(a); }
  Arrays wrap(const Arrays& list) const {
    Arrays result;
    for (const Array& a : list) result.push_back(backend_.wrap(a));
    return result;
  }
  Array one(const Array& a, std::int64_t example) const { return a ? backend_.one(*a.get(), example) : Array(); }

 private:
  BatchBackend& backend_;
  const ScopedBackend outside_;
};

bool any_batched(const BatchBackend& backend, std::initializer_list<Array> arrays) {
  return std::any_of(arrays.begin(), arrays.end(), [&](const Array& a) { return backend.is_batched(a); });
}

// ---- networks -----------------------------------------------------------------------------------
class BatchNn final : public NnExtension {
 public:
  explicit BatchNn(BatchBackend& backend) : backend_(backend) {}

 protected:
  Array do_linear(const Array& x, const Array& w, const Array& b) override {
    if (any_batched(backend_, {w, b})) return NnExtension::do_linear(x, w, b);
    const Batch batch(backend_);
    const Array rows = batch.images(x);
    return batch.examples(nn_extension(rows).linear(rows, batch.one(w, 0), batch.one(b, 0)));
  }

  Array do_convolution(const Convolution& c) override {
    const Batch batch(backend_);
    if (c.pass == Convolution::Pass::filter) return filter_gradient(batch, c);
    if (!any_batched(backend_, {c.w, c.b})) {
      const Array x = batch.images(c.images()), w = batch.one(c.w, 0);
      return batch.examples(convolved(c, x, w, batch.one(c.b, 0)));
    }
    Arrays results;  // every example has weights of its own
    for (std::int64_t i = 0; i < backend_.examples(); ++i)
      results.push_back(
          expand_dims(contiguous(convolved(c, batch.one(c.images(), i), batch.one(c.w, i), batch.one(c.b, i))), 0));
    return batch.wrap(concatenate(results, 0));
  }

  Arrays do_max_pooling(const Array& x, const PoolingSpec& spec, const Dims&) override {
    return pooled(x, [&](NnExtension& nn, const Array& images) { return nn.max_pooling(images, spec); });
  }
  Array do_max_pooling_values(const Array& x, const PoolingSpec& spec, const Dims&) override {
    return pooled(x, [&](NnExtension& nn, const Array& images) { return nn.max_pooling_values(images, spec); });
  }
  Array do_max_pooling_backward(const Array& gy, const Array& indexes, const Dims& spatial,
                                const PoolingSpec& spec) override {
    const Batch batch(backend_);
    const Array g = batch.images(gy);
    return batch.examples(nn_extension(g).max_pooling_backward(g, batch.images(indexes), spatial, spec));
  }
  Array do_max_pooling_by_index(const Array& x, const Array& indexes, const PoolingSpec& spec) override {
    const Batch batch(backend_);
    const Array images = batch.images(x);
    return batch.examples(nn_extension(images).max_pooling_by_index(images, batch.images(indexes), spec));
  }
  Array do_average_pooling(const Array& x, const PoolingSpec& spec, const Dims&) override {
    return pooled(x, [&](NnExtension& nn, const Array& images) { return nn.average_pooling(images, spec); });
  }
  Array do_average_pooling_backward(const Array& gy, const Dims& spatial, const PoolingSpec& spec) override {
    return pooled(gy, [&](NnExtension& nn, const Array& g) { return nn.average_pooling_backward(g, spatial, spec); });
  }
  Array do_im2col(const Array& x, const Dims& kernel, const ConvolutionSpec& spec, const Dims&) override {
    return pooled(x, [&](NnExtension& nn, const Array& images) { return nn.im2col(images, kernel, spec); });
  }
  Array do_col2im(const Array& col, const Dims& spatial, const ConvolutionSpec& spec) override {
    return pooled(col, [&](NnExtension& nn, const Array& columns) { return nn.col2im(columns, spatial, spec); });
  }

 private:
  template <class F> std::invoke_result_t<F&, NnExtension&, const Array&> pooled(const Array& x, F f) {
    const Batch batch(backend_);
    const Array images = batch.images(x);
    return batch.examples(f(nn_extension(images), images));
  }

  static Array convolved(const Convolution& c, const Array& x, const Array& w, const Array& b) {
    NnExtension& nn = nn_extension(x);
    return c.pass == Convolution::Pass::forward ? nn.convolution(x, w, b, c.spec)
                                                : nn.convolution_backward_data(w, x, spatial_of(c.x_shape), c.spec);
  }

  Array filter_gradient(const Batch& batch, const Convolution& c) {
    ConvolutionSpec spec = c.spec;
    spec.groups *= backend_.examples();
    const Array x = batch.groups(c.x), y = batch.groups(c.y);
    const Array w = nn_extension(x).convolution_backward_filter(x, y, spatial_of(c.w_shape), x.dtype(), spec);
    return batch.wrap(reshape(contiguous(w), with_first(backend_.examples(), c.w_shape)));
  }

  BatchBackend& backend_;
};

// ---- linear algebra -----------------------------------------------------------------------------
class BatchLinalg final : public LinalgExtension {
 public:
  explicit BatchLinalg(BatchBackend& backend) : backend_(backend) {}

 protected:
  Array do_inv(const Array& a, bool check) override {
    return on_stack(a, [&](LinalgExtension& e, const Array& s) { return e.inv(s, check); });
  }
  Array do_det(const Array& a) override {
    return on_stack(a, [](LinalgExtension& e, const Array& s) { return e.det(s); });
  }
  Array do_cholesky(const Array& a) override {
    return on_stack(a, [](LinalgExtension& e, const Array& s) { return e.cholesky(s); });
  }
  LUFactors do_lu(const Array& a) override {
    const Batch batch(backend_);
    const Array stack = batch.stack(a);
    const LUFactors f = linalg_extension(stack).lu(stack, "lu", false);
    return {batch.wrap(f.lu), batch.wrap(f.pivots)};
  }
  Array do_lu_solve(const LUFactors& factors, const Array& b, bool transposed) override {
    const Batch batch(backend_);
    const int rank = std::max(factors.lu.ndim(), b.ndim());
    const LUFactors f{batch.stack(factors.lu, rank), batch.stack(factors.pivots, rank - 1)};
    return batch.wrap(linalg_extension(f.lu).lu_solve(f, batch.stack(b, rank), transposed));
  }
  Array do_solve_triangular(const Array& a, const Array& b, const Triangle& triangle, bool transposed) override {
    const Batch batch(backend_);
    const int rank = std::max(a.ndim(), b.ndim());
    const Array stack = batch.stack(a, rank);
    return batch.wrap(linalg_extension(stack).solve_triangular(stack, batch.stack(b, rank), triangle, transposed));
  }
  Arrays do_eigh(const Array& a) override {
    return on_stack(a, [](LinalgExtension& e, const Array& s) { return e.eigh(s); });
  }
  Arrays do_svd(const Array& a) override {
    return on_stack(a, [](LinalgExtension& e, const Array& s) { return e.svd(s); });
  }
  Arrays do_qr(const Array& a) override {
    return on_stack(a, [](LinalgExtension& e, const Array& s) { return e.qr(s); });
  }
  Array do_expm(const Array& a) override {
    return on_stack(a, [](LinalgExtension& e, const Array& s) { return e.expm(s); });
  }
  Arrays do_fourier(const Array& real, const Array& imag, bool inverse) override {
    const Batch batch(backend_);
    const Array re = contiguous(backend_.expanded(real)), im = contiguous(backend_.expanded(imag));
    return batch.wrap(linalg_extension(re).fourier(re, im, inverse));
  }

 private:
  template <class F> std::invoke_result_t<F&, LinalgExtension&, const Array&> on_stack(const Array& a, F f) {
    const Batch batch(backend_);
    const Array stack = batch.stack(a);
    return batch.wrap(f(linalg_extension(stack), stack));
  }

  BatchBackend& backend_;
};

}  // namespace

catena::Owned<NnExtension> batch_nn_extension(BatchBackend& backend) {
  return catena::Owned<NnExtension>(new BatchNn(backend));
}
catena::Owned<LinalgExtension> batch_linalg_extension(BatchBackend& backend) {
  return catena::Owned<LinalgExtension>(new BatchLinalg(backend));
}

}  // namespace autograd::internal
