// The protocol between a program and a tool (a profiler) in NVTX version 3. The tool sets NVTX_INJECTION64_PATH to its
// own library. The program opens that library and calls InitializeInjectionNvtx2, which queries the program's tables
// and stores the tool's functions in the slots that they point to. No NVIDIA library is needed. A test compares these
// declarations with the toolkit's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nd::cuda::api {

// nvtxEventAttributes_t
struct nvtx_event_attributes {
  std::uint16_t version = 3;
  std::uint16_t size = sizeof(nvtx_event_attributes);
  std::uint32_t category = 0;
  std::int32_t color_type = 0;
  std::uint32_t color = 0;
  std::int32_t payload_type = 0;
  std::int32_t reserved = 0;
  std::uint64_t payload = 0;
  std::int32_t message_type = 0;
  const char* message = nullptr;
};
inline constexpr std::int32_t nvtx_color_argb = 1, nvtx_message_ascii = 1;

// The numbers of the tables of a program.
inline constexpr std::uint32_t nvtx_table_callbacks = 1, nvtx_table_version = 3;
// NvtxCallbackModule: modules are numbered 1 to nvtx_modules - 1. The slots of module 1 that are called here:
inline constexpr int nvtx_module_core = 1, nvtx_modules = 7;
inline constexpr int nvtx_slot_mark = 1, nvtx_slot_range_push = 8, nvtx_slot_range_pop = 11;

using nvtx_function = void (*)();
struct nvtx_callbacks_table {
  std::size_t bytes;
  int (*get_module_function_table)(int module, nvtx_function*** table, unsigned* size);
};
struct nvtx_version_table {
  std::size_t bytes;
  std::uint32_t version;
  std::uint32_t reserved;
  void (*set_injection_version)(std::uint32_t version);
};
using nvtx_get_export_table = const void* (*)(std::uint32_t id);
using nvtx_initialize_injection = int (*)(nvtx_get_export_table);

using nvtx_mark_function = void (*)(const nvtx_event_attributes*);
using nvtx_push_function = int (*)(const nvtx_event_attributes*);
using nvtx_pop_function = int (*)();

}  // namespace nd::cuda::api
