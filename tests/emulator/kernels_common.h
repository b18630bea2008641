// Code that the kernels and the host reference share: the same functions compiled by nvcc and g++.
#pragma once
#include <cstdint>

#ifdef __CUDACC__
#define HD __host__ __device__ __forceinline__
#else
#define HD inline
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;
#endif

HD uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  x ^= x >> 33;
  return x;
}
HD uint64_t rotl(uint64_t x, unsigned r) {
  return x << (r & 63) | x >> ((64 - r) & 63);
}
HD uint64_t mulhi(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  return uint64_t(u128(a) * b >> 64);
#endif
}
// A filter of 64-byte blocks: word w of a block gets bit (hash rotated by 8w) mod 64.
HD uint64_t block_of(uint64_t h, uint64_t blocks) {
  return mulhi(h, blocks);
}
HD uint64_t bit_of(uint64_t h, unsigned w) {
  return 1ull << (rotl(h * 0x9E3779B97F4A7C15ull, 8 * w) >> 58);
}

// Nested conditions, loops with different trip counts, early exits, a switch, short circuits.
HD uint64_t tangle(uint64_t x, uint32_t lane) {
  uint64_t acc = x;
  for (uint32_t i = 0; i < (x & 15) + lane % 3; ++i) {
    acc = mix(acc + i);
    if (acc & 1) {
      if ((acc & 2) && (acc >> 5) % 3 != 1) {
        acc += 17;
        continue;
      }
      if ((acc & 4) || (acc % 5 == 2 && (acc & 8))) {
        for (uint32_t j = 0; j < (acc & 7); ++j) {
          acc ^= acc << 3;
          if ((acc & 0xff0) == 0x120) break;
          if ((acc & 0xf) == 3 && j > 2) return acc * 3;
        }
      } else {
        acc -= 5;
      }
    }
    switch (acc % 11) {
      case 0:
        acc += 1;
        break;
      case 1:
        acc *= 7;
        break;
      case 2:
        acc ^= 0x55;
        [[fallthrough]];
      case 3:
        acc = rotl(acc, 9);
        break;
      case 4:
        if (lane & 1) return acc;
        break;
      case 5:
        acc -= lane;
        break;
      case 6: {
        uint32_t k = 0;
        while ((acc & 1) == 0 && k < 20) {
          acc >>= 1;
          ++k;
        }
        break;
      }
      case 7:
        acc |= 0xf0;
        break;
      case 8:
        continue;
      default:
        acc += 3;
        break;
    }
    uint32_t guard = 0;
    do {
      acc += 0x1234567;
    } while ((acc & 0x30) != 0 && ++guard < 9);
  }
  return acc;
}
struct Rule {
  const uint64_t* table;
  uint32_t shift[3];
  uint64_t add;
};  // passed by value
