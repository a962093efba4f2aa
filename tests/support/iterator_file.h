// Files of iterators, and loads of them that fail.
#pragma once

#include <catena/training/iterator.h>

namespace test {

// An object that consists of an iterator. Loading it with `has_more` is a KeyError after the iterator has been read,
// because no file has the entry "more".
struct IteratorFile {
  training::Iterator& iterator;
  bool has_more;
  void serialize(nn::Serializer& s) {
    iterator.serialize(*s["iterator"]);
    double more = 1;
    if (has_more) s("more", more);
  }
};

}  // namespace test
