// The contract between compiled model code and the runtime that drives it: plain C data, no functions to link.
//
// A compiled model is one object file. It exports a single symbol, `mekik_model`, a MekikModel in read-only memory.
// Everything the code needs comes through the arguments of a kernel; the object refers to no outside symbol except
// memcpy, memset and memmove. A function of the model (`train_step`, `loss`, ...) is not code but a table: an ordered
// list of dispatches. The runtime runs the tiles of one dispatch in any order on any number of threads, and starts the
// next dispatch when all of them are done, or earlier where no tile of the one touches what the other writes (every
// buffer says which part of it a tile touches). Results do not depend on how tiles are distributed.
//
// Memory: the runtime allocates the arenas, 64-byte aligned, of the sizes given here, and nothing else per step.
//   parameters  persistent; written by `init` and `train_step`
//   state       persistent optimizer state; all zero bytes before the first step
//   work        contents undefined between calls, except that a caller writes the inputs of a function before the
//               call and reads its outputs after the call
// Byte order is that of the target; layouts are row-major and dense.
#ifndef MEKIK_ABI_H
#define MEKIK_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEKIK_ABI_MAGIC 0x4b494b454dULL /* "MEKIK" */
#define MEKIK_ABI_VERSION 4u
#define MEKIK_ALIGNMENT 64u
#define MEKIK_MAX_RANK 8u

typedef enum MekikElementType {
  MEKIK_F32 = 1,
  MEKIK_F64 = 2,
  MEKIK_I32 = 3,
  MEKIK_I64 = 4,
  MEKIK_BOOL = 5 /* one byte, 0 or 1 */
} MekikElementType;

typedef enum MekikArena {
  MEKIK_PARAMETERS = 0,
  MEKIK_STATE = 1,
  MEKIK_WORK = 2,
  MEKIK_IMMEDIATE = 3 /* no memory of the caller: the buffer is the eight bytes of MekikBuffer.offset itself */
} MekikArena;

typedef enum MekikRole {
  MEKIK_PARAMETER = 1,
  MEKIK_OPTIMIZER_STATE = 2,
  MEKIK_INPUT = 3,  /* `input` of the model; the caller writes it */
  MEKIK_TARGET = 4, /* `target` of the model; the caller writes it */
  MEKIK_STEP = 5,   /* i64 scalar: number of steps taken before this one, from 0; the caller writes it */
  MEKIK_SEED = 6,   /* i64 scalar holding the bits of the unsigned 64-bit seed; the caller writes it */
  MEKIK_OUTPUT = 7, /* `output` of the model */
  MEKIK_PROBE = 8,  /* `probe` of the model */
  MEKIK_LOSS = 9,   /* scalar of the model's precision */
  MEKIK_GRADIENT = 10, /* gradient of the parameter of the same name */
  MEKIK_RATE = 11   /* f64 scalar: the learning rate that the step used */
} MekikRole;

/// A named tensor at a fixed place in an arena.
typedef struct MekikTensor {
  const char *name; /* UTF-8, as in the model: "layer.0.attention.query" */
  int32_t role;     /* MekikRole */
  int32_t type;     /* MekikElementType */
  int32_t arena;    /* MekikArena */
  int32_t rank;     /* 0..MEKIK_MAX_RANK */
  int64_t shape[MEKIK_MAX_RANK];
  uint64_t offset; /* bytes from the start of the arena, a multiple of MEKIK_ALIGNMENT */
  uint64_t bytes;
  int64_t classes; /* inputs and targets that are class ids: every value must lie in [0, classes); otherwise 0 */
} MekikTensor;

/// Runs tiles [firstTile, lastTile). `buffers` holds the addresses the dispatch names, in its order. `scratch` is
/// private to the calling thread, MekikFunction.scratchBytes long and 64-byte aligned.
typedef void (*MekikKernel)(void *const *buffers, void *scratch, int64_t firstTile, int64_t lastTile);

typedef struct MekikBuffer {
  uint64_t offset; /* bytes from the start of the arena; of MEKIK_IMMEDIATE the i64 scalar that the kernel reads */
  uint64_t bytes;  /* that the kernel may touch, from the offset on */
  int32_t arena;   /* MekikArena */
  int32_t written; /* 1 if the kernel writes the buffer, 0 if it only reads it */
  int64_t parts;   /* n >= 1: of n equal parts of the bytes, tiles [p * tiles / n, (p + 1) * tiles / n) touch part p and
                      no other; n divides the number of tiles; 1 if any tile may touch anything */
} MekikBuffer;

/// Where a kernel finds a buffer; `arenas` holds the addresses of parameters, state and work. Immediates are read only.
static inline void *mekikAddress(const MekikBuffer *buffer, unsigned char *const arenas[3]) {
  return buffer->arena == MEKIK_IMMEDIATE ? (void *)&buffer->offset : (void *)(arenas[buffer->arena] + buffer->offset);
}

/// What the compiler counted of a dispatch, for estimates of its time: nothing that is computed depends on it.
typedef struct MekikCost {
  double cycles;       /* of one core, as the instructions alone would take */
  double traffic;      /* bytes that it moves beyond the nearest caches */
  int64_t contraction; /* 1 if the kernel multiplies matrices: it packs first and computes then; otherwise 0 */
} MekikCost;

typedef struct MekikDispatch {
  MekikKernel kernel;
  const char *kernelName;
  const MekikBuffer *buffers;
  int64_t tiles;
  int32_t bufferCount;
  int32_t line; /* line of the model source this work comes from; 0 if unknown */
  double operations; /* floating-point operations of the whole dispatch */
  MekikCost cost;    /* of the whole dispatch */
} MekikDispatch;

typedef struct MekikFunction {
  const char *name; /* "init", "forward", "loss", "train_step", "gradient" */
  const MekikTensor *tensors; /* inputs and outputs in the work arena */
  const MekikDispatch *dispatches;
  uint64_t tensorCount;
  uint64_t dispatchCount;
  uint64_t workBytes;
  uint64_t scratchBytes;
} MekikFunction;

typedef struct MekikModel {
  uint64_t magic;
  uint32_t version;
  uint32_t size; /* sizeof(MekikModel) */
  const char *name;
  const char *sourceHash;      /* hexadecimal SHA-256 of source text, configuration and compiler version */
  const char *compilerVersion; /* "0.1.0" */
  const char *target;          /* "x86-64-v3", ... */
  const char *configuration;   /* JSON object: every `config` of the model with its value */
  const MekikTensor *tensors;  /* parameters, then optimizer state, in arena order */
  const MekikFunction *functions;
  uint64_t tensorCount;
  uint64_t functionCount;
  uint64_t parameterBytes;
  uint64_t stateBytes;
  uint64_t workBytes;    /* the largest of the functions */
  uint64_t scratchBytes; /* the largest of the functions; one per thread */
} MekikModel;

/// Stands in every executable made of a model, so that a tool can tell it from others before running it.
#define MEKIK_PROGRAM_MARK_NAME "mekik-program"
#define MEKIK_PROGRAM_MARK MEKIK_PROGRAM_MARK_NAME ":abi-4"

#ifdef __cplusplus
}
static_assert(sizeof(void *) != 8 || sizeof(MekikTensor) == 112, "MekikTensor is part of the ABI");
static_assert(sizeof(void *) != 8 || sizeof(MekikBuffer) == 32, "MekikBuffer is part of the ABI");
static_assert(sizeof(void *) != 8 || sizeof(MekikDispatch) == 72, "MekikDispatch is part of the ABI");
static_assert(sizeof(void *) != 8 || sizeof(MekikFunction) == 56, "MekikFunction is part of the ABI");
static_assert(sizeof(void *) != 8 || sizeof(MekikModel) == 120, "MekikModel is part of the ABI");
#endif
#endif
