// Status codes of the driver: those that the product never names, and the names and texts of all that the software
// device knows.
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
const ErrorText* find_error(int code);  // null: none of that number

// Errors that a context does not survive: every later call in it fails with the same code.
bool is_fatal(int code);

// Thrown by the parts of an entry point; what the call returns.
struct Failure {
  int code;
};
inline void require(bool condition, int code) {
  if (!condition) throw Failure{code};
}

}  // namespace cuda_device
