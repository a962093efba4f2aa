// The parameter lists of user-defined kernels: "float32 x, T y, raw T table".
//
// A definition is `[raw] TYPE NAME`. TYPE is the canonical name of a dtype (float32, int64, bool...) or a single
// letter, a placeholder: equal letters stand for one common dtype, found from the arrays of each call. A raw parameter
// is not broadcast; the kernel indexes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/ndarray/core/dtype.h>

namespace nd {

struct KernelParameter {
  std::string name;
  std::string type;            // as written
  std::optional<Dtype> dtype;  // absent: the type is a placeholder
  bool raw = false;
  bool output = false;
};

// The definitions of a list; the empty text has none. ValueError, beginning with `op`, for a definition of fewer than
// two words, a leading word that is not `raw`, a TYPE that is neither a canonical dtype name nor a letter, and a NAME
// that is no identifier, is reserved (i, n and everything that begins with an underscore) or stands in the list
// already.
CATENA_EXPORT std::vector<KernelParameter> parse_parameters(std::string_view op, std::string_view text,
                                                            bool outputs = false);

// Whether the text is an identifier of C.
CATENA_EXPORT bool is_identifier(std::string_view text) noexcept;

}  // namespace nd
