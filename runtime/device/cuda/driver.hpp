// The CUDA driver's C interface, as far as Ondula uses it: our own prototypes, looked up at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace ondula::cuda {

// Handles and numbers of the driver's binary interface (CUDA Driver API reference, versions 11 to 13).
using Result = int;  ///< CUresult; 0 is success
using DeviceNumber = int;
using DevicePointer = std::uint64_t;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphExec = struct GraphExecHandle*;

/// CUresult, those that are told apart.
namespace result {
inline constexpr Result success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3,
                        deinitialized = 4, stub_library = 34, driver_too_old = 36, no_device = 100,
                        invalid_device = 101, invalid_image = 200, invalid_context = 201,
                        no_binary_for_gpu = 209, unsupported_ptx_version = 222, device_unavailable = 46,
                        invalid_source = 300, invalid_handle = 400, not_found = 500, not_ready = 600,
                        illegal_address = 700, launch_out_of_resources = 701, launch_timeout = 702,
                        launch_failed = 719, system_not_ready = 802, system_driver_mismatch = 803,
                        stream_capture_unsupported = 900, stream_capture_invalidated = 901, unknown = 999;
}  // namespace result

/// CUdevice_attribute.
namespace attribute {
inline constexpr int max_threads_per_block = 1, max_grid_x = 5, max_grid_y = 6, max_grid_z = 7,
                     warp_size = 10, clock_rate = 13, multiprocessors = 16, memory_clock = 36,
                     memory_bus_width = 37, l2_bytes = 38, capability_major = 75, capability_minor = 76;
}  // namespace attribute

/// CUfunction_attribute.
namespace function_attribute {
inline constexpr int max_threads_per_block = 0, shared_bytes = 1, local_bytes = 3, registers = 4;
}  // namespace function_attribute

inline constexpr unsigned stream_non_blocking = 1;   ///< CU_STREAM_NON_BLOCKING
inline constexpr unsigned event_disable_timing = 2;  ///< CU_EVENT_DISABLE_TIMING
inline constexpr int capture_thread_local = 1;       ///< CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
inline constexpr unsigned host_memory_portable = 1;  ///< CU_MEMHOSTALLOC_PORTABLE
inline constexpr int pointer_memory_type = 2;        ///< CU_POINTER_ATTRIBUTE_MEMORY_TYPE
inline constexpr int pointer_device_ordinal = 9;     ///< CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
inline constexpr int pointer_range_start = 11;       ///< CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
inline constexpr int pointer_range_size = 12;        ///< CU_POINTER_ATTRIBUTE_RANGE_SIZE

// f(member, "exported name", (arguments)): every one returns a Result. cuda.h maps plain names to the newest
// suffix, which older drivers lack; these are the names that drivers of CUDA 11.2 and later export.
#define ONDULA_CUDA_DRIVER(f)                                                                                                                            \
  f(init, cuInit, (unsigned flags)) f(driver_version, cuDriverGetVersion, (int* version)) f(                                                             \
      error_name, cuGetErrorName,                                                                                                                        \
      (::ondula::cuda::Result error,                                                                                                                     \
       const char** text)) f(error_string, cuGetErrorString,                                                                                             \
                             (::ondula::cuda::Result error,                                                                                              \
                              const char** text)) f(device_count, cuDeviceGetCount,                                                                      \
                                                    (int* count)) f(device_get, cuDeviceGet,                                                             \
                                                                    (::ondula::cuda::DeviceNumber * device,                                              \
                                                                     int ordinal))                                                                       \
      f(device_name, cuDeviceGetName, (char* name, int size, ::ondula::cuda::DeviceNumber device)) f(                                                    \
          device_attribute,                                                                                                                              \
          cuDeviceGetAttribute,                                                                                                                          \
          (int* value, int attribute,                                                                                                                    \
           ::ondula::cuda::DeviceNumber                                                                                                                  \
               device)) f(device_memory, cuDeviceTotalMem_v2, (std::size_t* bytes, ::ondula::cuda::DeviceNumber device))                                 \
          f(primary_retain, cuDevicePrimaryCtxRetain, (::ondula::cuda::Context * context, ::ondula::cuda::DeviceNumber device)) f(                       \
              primary_release, cuDevicePrimaryCtxRelease_v2,                                                                                             \
              (::ondula::cuda::DeviceNumber                                                                                                              \
                   device)) f(context_push, cuCtxPushCurrent_v2, (::ondula::cuda::Context context))                                                      \
              f(context_pop, cuCtxPopCurrent_v2, (::ondula::cuda::Context * context)) f(                                                                 \
                  context_current,                                                                                                                       \
                  cuCtxGetCurrent,                                                                                                                       \
                  (::ondula::cuda::Context *                                                                                                             \
                   context)) f(context_device, cuCtxGetDevice,                                                                                           \
                               (::ondula::cuda::DeviceNumber * device)) f(context_synchronize, cuCtxSynchronize, ())                                     \
                  f(memory_info, cuMemGetInfo_v2, (std::size_t* free_bytes, std::size_t* total_bytes)) f(                                                \
                      allocate,                                                                                                                          \
                      cuMemAlloc_v2,                                                                                                                     \
                      (::ondula::cuda::DevicePointer * pointer,                                                                                          \
                       std::size_t                                                                                                                       \
                           bytes)) f(free, cuMemFree_v2, (::ondula::cuda::DevicePointer pointer))                                                        \
                      f(host_allocate, cuMemHostAlloc, (void** pointer, std::size_t bytes, unsigned flags)) f(                                           \
                          host_free, cuMemFreeHost,                                                                                                      \
                          (void*                                                                                                                         \
                               pointer)) f(pointer_attribute, cuPointerGetAttribute,                                                                     \
                                           (void* value, int attribute, ::ondula::cuda::DevicePointer pointer))                                          \
                          f(copy_to_device, cuMemcpyHtoDAsync_v2,                                                                                        \
                            (::ondula::cuda::DevicePointer to, const void* from, std::size_t bytes,                                                      \
                             ::ondula::                                                                                                                  \
                                 cuda::                                                                                                                  \
                                     Stream stream)) f(copy_to_host, cuMemcpyDtoHAsync_v2,                                                               \
                                                       (void* to, ::ondula::cuda::DevicePointer from, std::size_t bytes, ::ondula::cuda::Stream stream)) \
                              f(copy_on_device, cuMemcpyDtoDAsync_v2,                                                                                    \
                                (::ondula::cuda::DevicePointer to, ::ondula::cuda::DevicePointer from,                                                   \
                                 std::size_t                                                                                                             \
                                     bytes,                                                                                                              \
                                 ::ondula::                                                                                                              \
                                     cuda::Stream stream))                                                                                               \
                                  f(fill_bytes, cuMemsetD8Async,                                                                                         \
                                    (::ondula::cuda::DevicePointer to, unsigned char value,                                                              \
                                     std::size_t                                                                                                         \
                                         count,                                                                                                          \
                                     ::ondula::                                                                                                          \
                                         cuda::Stream stream))                                                                                           \
                                      f(module_load, cuModuleLoadDataEx,                                                                                 \
                                        (::ondula::cuda::Module * module, const void* image, unsigned count,                                             \
                                         int* options,                                                                                                   \
                                         void** values)) f(module_unload, cuModuleUnload,                                                                \
                                                           (::ondula::cuda::Module module))                                                              \
                                          f(module_function, cuModuleGetFunction,                                                                        \
                                            (                                                                                                            \
                                                ::ondula::cuda::                                                                                         \
                                                        Function *                                                                                       \
                                                    function,                                                                                            \
                                                ::ondula::cuda::                                                                                         \
                                                    Module module,                                                                                       \
                                                const char*                                                                                              \
                                                    name)) f(function_attribute, cuFuncGetAttribute,                                                     \
                                                             (int* value, int attribute, ::ondula::cuda::Function function))                             \
                                              f(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                  \
                                                (int* blocks, ::ondula::cuda::Function function,                                                         \
                                                 int threads,                                                                                            \
                                                 std::size_t                                                                                             \
                                                     shared_bytes))                                                                                      \
                                                  f(launch, cuLaunchKernel,                                                                              \
                                                    (::ondula::cuda::Function function, unsigned grid_x,                                                 \
                                                     unsigned grid_y,                                                                                    \
                                                     unsigned grid_z,                                                                                    \
                                                     unsigned block_x,                                                                                   \
                                                     unsigned block_y,                                                                                   \
                                                     unsigned block_z,                                                                                   \
                                                     unsigned shared_bytes,                                                                              \
                                                     ::ondula::                                                                                          \
                                                         cuda::Stream stream,                                                                            \
                                                     void** arguments,                                                                                   \
                                                     void**                                                                                              \
                                                         extra)) f(stream_create, cuStreamCreate,                                                        \
                                                                   (::ondula::cuda::Stream * stream, unsigned                                            \
                                                                                                         flags))                                         \
                                                      f(stream_destroy, cuStreamDestroy_v2,                                                              \
                                                        (::ondula::cuda::                                                                                \
                                                             Stream stream)) f(stream_synchronize,                                                       \
                                                                               cuStreamSynchronize,                                                      \
                                                                               (::ondula::cuda::Stream stream))                                          \
                                                          f(stream_query, cuStreamQuery, (::ondula::cuda::Stream stream)) f(                             \
                                                              stream_wait, cuStreamWaitEvent,                                                            \
                                                              (::ondula::cuda::Stream stream,                                                            \
                                                               ::ondula::                                                                                \
                                                                   cuda::                                                                                \
                                                                       Event                                                                             \
                                                                           event,                                                                        \
                                                               unsigned                                                                                  \
                                                                   flags)) f(capture_begin,                                                              \
                                                                             cuStreamBeginCapture_v2,                                                    \
                                                                             (::ondula::cuda::Stream stream,                                             \
                                                                              int mode))                                                                 \
                                                              f(capture_end, cuStreamEndCapture,                                                         \
                                                                (::ondula::cuda::Stream stream,                                                          \
                                                                 ::ondula::cuda::                                                                        \
                                                                         Graph *                                                                         \
                                                                     graph))                                                                             \
                                                                  f(event_create, cuEventCreate,                                                         \
                                                                    (::ondula::cuda::Event * event,                                                      \
                                                                     unsigned                                                                            \
                                                                         flags)) f(event_destroy,                                                        \
                                                                                   cuEventDestroy_v2,                                                    \
                                                                                   (::ondula::cuda::Event event))                                        \
                                                                      f(event_record, cuEventRecord,                                                     \
                                                                        (::ondula::cuda::Event event,                                                    \
                                                                         ::ondula::                                                                      \
                                                                             cuda::Stream stream))                                                       \
                                                                          f(event_synchronize,                                                           \
                                                                            cuEventSynchronize,                                                          \
                                                                            (::ondula::cuda::Event                                                       \
                                                                                 event)) f(event_query,                                                  \
                                                                                           cuEventQuery,                                                 \
                                                                                           (::ondula::cuda::Event event))                                \
                                                                              f(event_elapsed,                                                           \
                                                                                cuEventElapsedTime,                                                      \
                                                                                (float* milliseconds,                                                    \
                                                                                 ::ondula::                                                              \
                                                                                     cuda::Event                                                         \
                                                                                         from,                                                           \
                                                                                 ::ondula::cuda::                                                        \
                                                                                     Event to))                                                          \
                                                                                  f(graph_instantiate,                                                   \
                                                                                    cuGraphInstantiateWithFlags,                                         \
                                                                                    (::ondula::cuda::                                                    \
                                                                                             GraphExec *                                                 \
                                                                                         exec,                                                           \
                                                                                     ::ondula::cuda::                                                    \
                                                                                         Graph graph,                                                    \
                                                                                     unsigned long long                                                  \
                                                                                         flags))                                                         \
                                                                                      f(graph_launch,                                                    \
                                                                                        cuGraphLaunch,                                                   \
                                                                                        (                                                                \
                                                                                            ::ondula::                                                   \
                                                                                                cuda::GraphExec                                          \
                                                                                                    exec,                                                \
                                                                                            ::ondula::cuda::                                             \
                                                                                                Stream                                                   \
                                                                                                    stream))                                             \
                                                                                          f(graph_exec_destroy,                                          \
                                                                                            cuGraphExecDestroy,                                          \
                                                                                            (                                                            \
                                                                                                ::ondula::                                               \
                                                                                                    cuda::GraphExec                                      \
                                                                                                        exec))                                           \
                                                                                              f(graph_destroy,                                           \
                                                                                                cuGraphDestroy,                                          \
                                                                                                (::ondula::cuda::Graph                                   \
                                                                                                     graph))                                             \
                                                                                                  f(stream_context,                                      \
                                                                                                    cuStreamGetCtx,                                      \
                                                                                                    (::ondula::                                          \
                                                                                                         cuda::Stream                                    \
                                                                                                             stream,                                     \
                                                                                                     ::ondula::cuda::                                    \
                                                                                                             Context *                                   \
                                                                                                         context))

}  // namespace ondula::cuda
