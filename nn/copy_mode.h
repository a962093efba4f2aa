// The modes in which a link is copied.
#pragma once

#include <catena/kernels/base/error.h>

namespace nn {

// Modes of nn::copy. share: new variables with the same arrays and persistents, without gradients. copy: independent
// arrays, like a C++ copy. init: independent arrays, parameters newly initialised.
enum class CopyMode { share, copy, init };
// A mode, or its name as Chainer writes it: "share", "copy" or "init" (ValueError for others).
class CATENA_EXPORT CopyModeName {
 public:
  CopyModeName(CopyMode mode) noexcept : mode_(mode) {}
  CopyModeName(const char* name);
  operator CopyMode() const noexcept { return mode_; }

 private:
  CopyMode mode_;
};
struct CopyOptions {
  CopyModeName mode = CopyMode::share;
};

}  // namespace nn
