// Training on images that are read from PNG files during the preceding step, and the same steps on images in memory.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <catena/benchmarks/cases.h>
#include <catena/benchmarks/files.h>
#include <catena/benchmarks/networks.h>

namespace bench {
namespace {

using training::Example;

Example scaled(Example e) {
  e.values[0] = e.values[0] * (1 / 255.0);
  return e;
}

// Image files with their labels, read and scaled example by example.
struct ImageFiles {
  TemporaryFolder folder;
  training::TransformDataset dataset;
  explicit ImageFiles(const Parameters& p)
      : dataset(training::LabeledImageDataset(write_images(folder, p.at("images"), p.at("size"), 7010), folder.path()),
                scaled) {}
};

// Repeats some batches, in an order drawn for every sweep, or in the order of the files.
struct FromFiles {
  ImageFiles files;
  int threads;
  explicit FromFiles(const Parameters& p) : files(p), threads(int(p.at("workers"))) {}
  training::MultithreadIterator batches(std::int64_t n, bool shuffle) {
    return {files.dataset, n, {.shuffle = shuffle, .n_threads = threads, .n_prefetch = 2}};
  }
};
struct FromMemory {
  training::TupleDataset dataset;
  explicit FromMemory(const Parameters& p) : dataset(loaded(p)) {}
  training::SerialIterator batches(std::int64_t n, bool shuffle) { return {dataset, n, {.shuffle = shuffle}}; }

 private:
  static training::TupleDataset loaded(const Parameters& p) {
    const ImageFiles files(p);
    training::Examples all;
    for (std::int64_t i = 0; i < files.dataset.size(); ++i) all.push_back(files.dataset[i]);
    return training::TupleDataset(training::concat_examples(all).values);
  }
};

template <class Source> struct Fed {
  using Iterator = decltype(std::declval<Source>().batches(1, true));
  Source source;
  nn::Classifier<CNN> model;
  training::Adam adam;
  std::int64_t batch;
  autograd::Device device = nd::current_device();
  Iterator shuffled;

  explicit Fed(const Parameters& p)
      : source(p),
        model(CNN(p), {.compute_accuracy = false}),
        batch(p.at("batch")),
        shuffled(source.batches(batch, true)) {
    adam.setup(model);
  }
  void step(training::Iterator& iterator) {
    const training::Variables xt = training::to_variables(training::default_converter(*iterator.next(), device));
    adam.update([&] { return model(xt); });
  }
};

// A call is several steps, so that few of its batches were loaded while other contenders ran. The compared result is
// the loss of the second step, in the order of the files.
template <class Source> Ready fed(const Parameters& p) {
  auto f = std::make_shared<Fed<Source>>(p);
  const std::int64_t steps = p.at("steps");
  return {repeated([f, steps] {
            for (std::int64_t k = 0; k < steps; ++k) f->step(f->shuffled);
          }),
          [f] {
            auto in_order = f->source.batches(f->batch, false);
            f->step(in_order);
            f->step(in_order);
            return nd::Array(f->model.loss.data());
          }};
}

Parameters sizes(Draw& draw) {
  const std::int64_t batch = draw.at_most(draw.one_of({1, 8, 32, 100, 256}));
  return {{"batch", batch}, {"size", draw.one_of({28, 32, 48, 64})},
          {"channels", 3},  {"images", std::clamp<std::int64_t>(8 * batch, 64, 512)},
          {"workers", 1},   {"steps", 20}};
}

const Parameters full{{"batch", 64}, {"size", 32}, {"channels", 3}, {"images", 512}, {"workers", 1}, {"steps", 20}},
    tiny{{"batch", 2}, {"size", 16}, {"images", 5}, {"steps", 2}};

// Returns no cases in a build that cannot read the files.
Cases cases_of_png() {
  if (!training::datasets::image_codecs().png) return {};
  return {{"training/png_feed", full, tiny, fed<FromFiles>, sizes},
          {"training/memory_feed", full, tiny, fed<FromMemory>, sizes}};
}
const Cases cases = cases_of_png();

}  // namespace
}  // namespace bench
