// Datasets: a size and examples by index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/pointers.h>

namespace training {

using autograd::Array;
using autograd::Device;

// An example or a batch: a list of components (a tuple), or named components (a map). A plain array is a list of one.
struct CATENA_EXPORT Example {
  std::vector<Array> values;
  std::vector<std::string> names;  // names of the values if the example is a map, else empty

  Example() = default;
  Example(Array a) : values{std::move(a)} {}
  Example(std::vector<Array> tuple) : values(std::move(tuple)) {}
  // A map: Example({{"image", x}, {"label", t}}).
  Example(std::vector<std::pair<std::string, Array>> map);
  bool is_map() const noexcept { return !names.empty(); }
};
using Examples = std::vector<Example>;

// Thread safety: if a loading iterator uses the dataset, get_example must be callable from several threads.
class CATENA_EXPORT Dataset {
 public:
  virtual ~Dataset();
  virtual std::int64_t size() const = 0;
  virtual Example get_example(std::int64_t i) const = 0;  // 0 <= i < size()
  // The stacked examples of a batch, for datasets with a faster way than example by example; empty if not supported.
  virtual std::optional<Example> get_batch(std::span<const std::int64_t> indices) const;

  // Range-checked: IndexError naming the index and the size. Negative indices count from the end.
  Example operator[](std::int64_t i) const;
  Examples slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::int64_t step = 1) const;
};
// Datasets are shared: iterators, subsets and splits refer to the same object.
using DatasetPtr = catena::Shared<const Dataset>;

// Several arrays of equal length (ValueError otherwise); example i is the tuple of their i-th entries, as views.
class CATENA_EXPORT TupleDataset : public Dataset {
 public:
  explicit TupleDataset(std::vector<Array> arrays);
  explicit TupleDataset(std::initializer_list<Array> arrays) : TupleDataset(std::vector<Array>(arrays)) {}
  template <class... A>
  requires(sizeof...(A) > 1 && (... && std::convertible_to<const A&, Array>)) explicit TupleDataset(const A&... arrays)
      : TupleDataset(std::vector<Array>{Array(arrays)...}) {}
  std::int64_t size() const override;
  Example get_example(std::int64_t i) const override;
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override;
  const std::vector<Array>& arrays() const noexcept { return arrays_; }

 private:
  std::vector<Array> arrays_;
};

// order[start..finish) of a dataset, or start..finish without an order. ValueError when out of range.
class CATENA_EXPORT SubDataset : public Dataset {
 public:
  SubDataset(DatasetPtr dataset, std::int64_t start, std::int64_t finish, std::vector<std::int64_t> order = {});
  std::int64_t size() const override { return finish_ - start_; }
  Example get_example(std::int64_t i) const override;
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override;

 private:
  std::int64_t source(std::int64_t i) const;
  DatasetPtr dataset_;
  std::int64_t start_, finish_;
  std::vector<std::int64_t> order_;
};

using DatasetPair = std::pair<DatasetPtr, DatasetPtr>;
CATENA_EXPORT DatasetPair split_dataset(DatasetPtr dataset, std::int64_t split_at,
                                        std::vector<std::int64_t> order = {});
// A random split. Without a seed it draws from the thread's default generator.
CATENA_EXPORT DatasetPair split_dataset_random(DatasetPtr dataset, std::int64_t first_size,
                                               std::optional<std::uint64_t> seed = {});
// n parts of size / n examples each; the remainder is not used.
CATENA_EXPORT std::vector<DatasetPtr> split_dataset_n(DatasetPtr dataset, int n, std::vector<std::int64_t> order = {});
CATENA_EXPORT std::vector<DatasetPtr> split_dataset_n_random(DatasetPtr dataset, int n,
                                                             std::optional<std::uint64_t> seed = {});
// n_fold (train, test) pairs. Fold i has the positions size * i / n_fold to size * (i + 1) / n_fold of the order as
// test set; the last fold comes first in the result.
CATENA_EXPORT std::vector<DatasetPair> get_cross_validation_datasets(DatasetPtr dataset, int n_fold,
                                                                     std::vector<std::int64_t> order = {});
CATENA_EXPORT std::vector<DatasetPair> get_cross_validation_datasets_random(DatasetPtr dataset, int n_fold,
                                                                            std::optional<std::uint64_t> seed = {});
// A random permutation of 0..n-1 (Fisher-Yates), from a seed or from the thread's default generator.
CATENA_EXPORT std::vector<std::int64_t> permutation(std::int64_t n, autograd::Generator& g);

// Padding of unequal shapes: one value for all components, or one per component (empty: shapes must be equal).
struct Padding {
  std::vector<std::optional<double>> values;
  Padding() = default;
  Padding(double v) : values{v} {}
  Padding(std::vector<std::optional<double>> per_component) : values(std::move(per_component)) {}
};
// Stacks examples along a new first axis, component by component, and moves the result to `device`. The components of
// maps are found by name, in any order; the result has the names and the order of the first example. Arrays of one kind
// (float16 and float32) become the wider dtype. ValueError for an empty batch; ValueError naming the example, by its
// number in the batch and, if `indices` has it, in the dataset, that differs from the first one in its components, its
// shapes (without padding) or the kind of its dtypes.
CATENA_EXPORT Example concat_examples(const Examples& batch, std::optional<Device> device = {},
                                      const Padding& padding = {}, std::span<const std::int64_t> indices = {});
CATENA_EXPORT Example to_device(std::optional<Device> device, const Example& x);

// Root folder of cached data sets: set_dataset_root, else $CATENA_DATASET_ROOT, else $CHAINER_DATASET_ROOT, else
// ~/.chainer/dataset.
CATENA_EXPORT std::string get_dataset_root();
CATENA_EXPORT void set_dataset_root(const std::string& path);
CATENA_EXPORT std::string get_dataset_directory(const std::string& name, bool create_directory = true);

}  // namespace training
