// The first member of structs of options that stand where a list in braces may stand.
#pragma once

namespace catena {

// Makes initializers without names fail: {0, 1} is then a list of axes or lengths, and options are written with names.
struct Named {
  explicit Named() = default;
};

}  // namespace catena
