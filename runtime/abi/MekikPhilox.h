// Random numbers of the numerics contract: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011) and how its outputs are dealt to tensor elements. Shared by compiler and runtime so that there
// is one definition of both; there is no state, only (seed, stream, step, element).
#ifndef MEKIK_PHILOX_H
#define MEKIK_PHILOX_H

#include <stdint.h>

/// What random numbers are for. Two uses never share a stream.
enum {
  MEKIK_STREAM_DROP = 0x00000000,   /* + index of the drop in the model */
  MEKIK_STREAM_INIT = 0x40000000,   /* + 2 * index of the parameter, + 1 for the second of a Box-Muller pair */
  MEKIK_STREAM_DATA = 0x60000000,   /* + 0: which windows or lines a training step sees */
  MEKIK_STREAM_SAMPLE = 0x60000001  /* draws of the sampler; step is the sample, element the position */
};

typedef struct MekikPhiloxBlock {
  uint32_t word[4];
} MekikPhiloxBlock;

static inline MekikPhiloxBlock mekikPhilox(MekikPhiloxBlock counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = (uint64_t)0xD2511F53u * counter.word[0];
    uint64_t product1 = (uint64_t)0xCD9E8D57u * counter.word[2];
    MekikPhiloxBlock next = {{(uint32_t)(product1 >> 32) ^ counter.word[1] ^ key0, (uint32_t)product1,
                              (uint32_t)(product0 >> 32) ^ counter.word[3] ^ key1, (uint32_t)product0}};
    counter = next;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// The 32 random bits of flat element `element` of a tensor. Elements are dealt in groups of 64: lane i of 16
/// consecutive blocks serves elements i, i+16, i+32, i+48 of its group, so that sixteen lanes fill four vectors.
static inline uint32_t mekikRandomBits(uint64_t seed, uint32_t stream, uint64_t step, uint64_t element) {
  uint64_t block = element / 64 * 16 + element % 16;
  MekikPhiloxBlock counter = {{(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)step, stream}};
  return mekikPhilox(counter, (uint32_t)seed, (uint32_t)(seed >> 32)).word[element % 64 / 16];
}

/// Uniform in [0, 1): a multiple of 2^-24, exact in f32 and f64.
static inline float mekikUniform(uint32_t bits) { return (float)(bits >> 8) * 0x1p-24f; }

#endif
