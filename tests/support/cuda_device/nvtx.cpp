// An NVTX tool that stores the calls of a program as text. A test sets NVTX_INJECTION64_PATH to this library.
#include <cstddef>
#include <mutex>
#include <sstream>
#include <string>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/nvtx.h>

using namespace nd::cuda::api;

namespace {

struct Log {
  std::mutex mutex;
  std::ostringstream text;
};
Log& log() {
  static Log& l = *new Log;
  return l;
}

// Notes "push forward ff00ff00;".
void note(const char* what, const nvtx_event_attributes* e) {
  const std::lock_guard lock(log().mutex);
  log().text << what;
  if (e != nullptr && e->message_type == nvtx_message_ascii) log().text << " " << e->message;
  if (e != nullptr && e->color_type == nvtx_color_argb) log().text << " " << std::hex << e->color;
  log().text << ";";
}
void on_mark(const nvtx_event_attributes* e) { note("mark", e); }
int on_push(const nvtx_event_attributes* e) {
  note("push", e);
  return 0;
}
int on_pop() {
  note("pop", nullptr);
  return 0;
}

template <class F> void put(nvtx_function** table, int slot, F* function) {
  *table[slot] = reinterpret_cast<nvtx_function>(function);
}

}  // namespace

extern "C" {

CATENA_EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table get_export_table) {
  const auto* callbacks = static_cast<const nvtx_callbacks_table*>(get_export_table(nvtx_table_callbacks));
  const auto* version = static_cast<const nvtx_version_table*>(get_export_table(nvtx_table_version));
  if (callbacks == nullptr || version == nullptr || version->version != 3 || callbacks->bytes < sizeof *callbacks)
    return 0;
  for (int module = 1; module < nvtx_modules; ++module) {
    nvtx_function** table = nullptr;
    unsigned size = 0;
    if (callbacks->get_module_function_table(module, &table, &size) != 1 || table == nullptr) return 0;
    if (size <= unsigned(nvtx_slot_range_pop)) return 0;
    if (module != nvtx_module_core) continue;
    put(table, nvtx_slot_mark, on_mark);
    put(table, nvtx_slot_range_push, on_push);
    put(table, nvtx_slot_range_pop, on_pop);
  }
  return 1;
}

// Copies the text so far, at most `bytes` - 1 characters and a terminating null.
CATENA_EXPORT void software_cuda_nvtx_log(char* text, std::size_t bytes) {
  const std::lock_guard lock(log().mutex);
  const std::string all = log().text.str();
  const std::size_t n = all.copy(text, bytes - 1);
  text[n] = '\0';
}
}
