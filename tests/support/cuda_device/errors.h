// Status codes of the driver: codes that the product does not name, and the names and texts of all codes of the
// software device.
#pragma once

#include <catena/ndarray/cuda/api/driver.h>

namespace cuda_device {

inline constexpr int error_illegal_state = 401;
inline constexpr int error_peer_access_unsupported = 217;
inline constexpr int error_not_permitted = 800;
inline constexpr int error_capture_merge = 902;
inline constexpr int error_capture_unmatched = 903;
inline constexpr int error_capture_unjoined = 904;
inline constexpr int error_capture_isolation = 905;
inline constexpr int error_capture_implicit = 906;
inline constexpr int error_captured_event = 907;
inline constexpr int error_capture_wrong_thread = 908;

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};
const ErrorText* find_error(int code);  // null: unknown code

// Fatal errors: every later call in the context fails with the same code.
bool is_fatal(int code);

// Thrown inside an entry point; has the status that the call returns.
struct Failure {
  int code;
};
inline void require(bool condition, int code) {
  if (!condition) throw Failure{code};
}

}  // namespace cuda_device
