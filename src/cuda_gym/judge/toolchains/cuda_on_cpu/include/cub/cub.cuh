// The part of CUB that the cpu device has.
#pragma once
#include "block/block_load.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "thread/thread_operators.cuh"
#include "util_type.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
