#include <catena/nn/serializers/npz.h>
#include <catena/tests/headers/uses/uses.h>

namespace {
struct Point {
  std::int64_t x = 1;
  double y = 2;
  void serialize(nn::Serializer& s) {
    s("x", x);
    (*s["inner"])("y", y);
  }
};
}  // namespace

void use_serializers() {
  Point point;
  nn::serializers::DictionarySerializer s;
  s.save(point);
  REQUIRE(s.entries().size() == 2 && s.entries()[1].key == "inner/y");
}
