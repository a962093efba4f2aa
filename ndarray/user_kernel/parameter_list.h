// The parameter lists of user-defined kernels: "float32 x, T y, raw T table".
//
// A definition is `[raw] TYPE NAME`. TYPE is the canonical name of a dtype (float32, int64, bool...) or a placeholder,
// a single letter: equal letters stand for one dtype, which the arrays of each call determine. A raw parameter is not
// broadcast; the kernel indexes it. TYPE of a raw parameter may also be a class of the kernel's preamble
// (struct_array.h).
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
  std::optional<Dtype> dtype;  // without a value: the type is a placeholder
  bool raw = false;
  bool output = false;
  // The dtype to which elements of an array of any dtype are converted for the text; without a value: the dtype of the
  // array. A host scalar takes this dtype. Parameter lists do not set it: it belongs to the loops of create_ufunc.
  std::optional<Dtype> seen_as = {};
  bool structure = false;  // the type is a class of the preamble; the array has its bytes along the last axis
};

// Returns the definitions of a list; empty for an empty text. ValueError starting with `op` for a definition of fewer
// than two words, a leading word other than `raw`, a TYPE that is neither a canonical dtype name nor a letter nor, of a
// raw parameter, an identifier, and a NAME that is not an identifier, is reserved (i, names with a leading underscore,
// and names that C++ or the generated text uses: keywords, `and` and similar words, catena, float16, bfloat16,
// complex64, complex128, ND_FN) or occurs twice.
CATENA_EXPORT std::vector<KernelParameter> parse_parameters(std::string_view op, std::string_view text,
                                                            bool outputs = false);

// True if the text is a C identifier.
CATENA_EXPORT bool is_identifier(std::string_view text) noexcept;

}  // namespace nd
