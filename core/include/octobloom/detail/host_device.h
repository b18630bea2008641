#pragma once

// Marks the functions that decide a bit: one definition, compiled for the host and for a device.
#if defined(__CUDACC__)
#define OCTOBLOOM_HOST_DEVICE __host__ __device__
#else
#define OCTOBLOOM_HOST_DEVICE
#endif
