#include <catena/training/multi_node/messages.h>

#include <catena/training/parallel/packed_example.h>

namespace training::internal {

void put_examples(MessageWriter& w, const Examples& examples) {
  w.put(std::uint64_t(examples.size()));
  ExampleWriter writer;
  for (Example e : examples) {
    for (Array& a : e.values)
      if (a) a = autograd::to_device(a, Device{});
    writer.put(w, e);
  }
}

Examples get_examples(MessageReader& r) {
  Examples examples(r.get<std::uint64_t>());
  ExampleReader reader;
  for (Example& e : examples) e = reader.get(r);
  return examples;
}

}  // namespace training::internal
