// Device code: the mark of functions that run on a GPU and, in tests, on the host.
#pragma once

#ifdef __CUDACC__
#define PLEAT_DEVICE __device__ inline
#else
#define PLEAT_DEVICE inline
#endif
