#include <catena/training/parallel/collate.h>

namespace training {

Example Collate::operator()(const Examples& examples) const {
  catena::check<catena::TypeError>(bool(of_examples_), "DataLoader",
                                   "collate_fn takes a list of a class of which no object can be made of an example; "
                                   "it is not the class of the elements of the dataset");
  return of_examples_(examples);
}

LoadedBatch::LoadedBatch(Example e) : Example(std::move(e)) {
  if (values.size() == 1 && !is_map()) Variable::operator=(autograd::as_variable(values[0]));
}

namespace internal {

const Array& only_component(const Example& e) {
  catena::check<catena::TypeError>(e.values.size() == 1, "DataLoader",
                                   "collate_fn takes a list of single arrays or numbers, but an example has ",
                                   e.values.size(), " components");
  return e.values[0];
}

namespace {

// The indices of a sequence, whose size is asked for each time.
class Indices final : public DatasetMixin {
 public:
  explicit Indices(catena::Function<std::int64_t()> size) : size_(std::move(size)) {}
  std::int64_t size() const override { return size_(); }
  Example get_example(std::int64_t i) const override { return Example(i); }

 private:
  catena::Function<std::int64_t()> size_;
};

}  // namespace

DatasetPtr LoaderDataset::indices_of(catena::Function<std::int64_t()> size) {
  return DatasetPtr(make_held(Indices(std::move(size))));
}

}  // namespace internal

}  // namespace training
