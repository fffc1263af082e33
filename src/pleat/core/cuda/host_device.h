// Host and device: the mark of functions that both run.
#pragma once

#ifdef __CUDACC__
#define PLEAT_HOST_DEVICE __host__ __device__
#else
#define PLEAT_HOST_DEVICE
#endif
