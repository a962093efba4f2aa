// Whether all ranks make the same call, determined before any of its data travel. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/function.h>
#include <catena/training/communicators/transport.h>

namespace training::communicators::internal {

// The hash of what a rank is about to do (FNV-1a, 64 bits).
class Fingerprint {
 public:
  Fingerprint& add(std::string_view bytes) noexcept {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return *this;
  }
  template <class T> Fingerprint& add_number(const T& v) noexcept {
    return add({reinterpret_cast<const char*>(&v), sizeof v});
  }
  std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

struct Intent {
  std::uint64_t fingerprint;  // must be the same on all ranks
  std::uint64_t detail = 0;   // may differ
  std::string problem = {};   // the problem of this rank's arguments; empty: none
};

// Collective. Returns true if `detail` is the same on all ranks. Throws a ValueError, with the same text on all ranks,
// if a rank has a problem, or if fingerprints differ: then with the first line that differs of describe(), which may
// have many lines. No rank goes on before all have called this function.
bool agree(Transport& t, const Intent& intent, const catena::Function<std::string()>& describe);
// As agree(), of a call with this description in one line.
void agree(Transport& t, std::string_view description, std::string problem = {});

}  // namespace training::communicators::internal
