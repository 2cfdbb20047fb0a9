// A compiled model written by hand, so that the runtime is tested without a compiler: a table of logits
// [V, V] (the next symbol given this one), trained by momentum with a little random dropping of updates. It has all
// that a resume could get wrong: optimizer state, use of step and seed, several tiles.
//
// The learning rate is 0.5 until `ExplodeAt` steps have been taken and infinite from there on.
#ifndef MEKIK_TESTS_RUNTIME_TRAINER_BIGRAMMODEL_H
#define MEKIK_TESTS_RUNTIME_TRAINER_BIGRAMMODEL_H

#include "runtime/abi/MekikAbi.h"
#include "runtime/abi/MekikPhilox.h"
#include <cmath>
#include <cstring>
#include <iterator>

namespace mekik::test {

template <int V, int B, int T, int64_t ExplodeAt = -1> struct BigramModel {
  // Arena layout, in bytes; every tensor starts on a multiple of 64.
  static constexpr uint64_t pad(uint64_t bytes) { return (bytes + 63) / 64 * 64; }
  static constexpr uint64_t tableBytes = pad(V * V * 4);
  static constexpr uint64_t tokensAt = 0, nextAt = pad(B * T * 4), stepAt = nextAt + pad(B * T * 4),
                            seedAt = stepAt + 64, lossAt = seedAt + 64, rowLossAt = lossAt + 64,
                            gradientAt = rowLossAt + pad(V * 4), logitsAt = stepAt;
  static constexpr uint64_t workBytes = gradientAt + tableBytes + pad(T * V * 4);

  template <typename Element> static Element *at(void *const *buffers, int i) {
    return static_cast<Element *>(buffers[i]);
  }

  static float logSum(const float *row) {
    float most = row[0];
    for (int i = 1; i < V; ++i)
      most = row[i] > most ? row[i] : most;
    float sum = 0;
    for (int i = 0; i < V; ++i)
      sum += std::exp(row[i] - most);
    return most + std::log(sum);
  }

  static void initKernel(void *const *buffers, void *, int64_t first, int64_t last) {
    auto seed = static_cast<uint64_t>(*at<int64_t>(buffers, 0));
    for (int64_t i = first * V; i < last * V; ++i)
      at<float>(buffers, 1)[i] =
          (mekikUniform(mekikRandomBits(seed, MEKIK_STREAM_INIT, 0, static_cast<uint64_t>(i))) - 0.5f) * 0.2f;
  }

  static void forwardKernel(void *const *buffers, void *, int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t)
      memcpy(at<float>(buffers, 2) + t * V, at<float>(buffers, 1) + at<int32_t>(buffers, 0)[t] * V, V * 4);
  }

  template <int Rows> static void lossKernel(void *const *buffers, void *, int64_t, int64_t) {
    float sum = 0;
    for (int i = 0; i < Rows * T; ++i) {
      const float *row = at<float>(buffers, 2) + at<int32_t>(buffers, 0)[i] * V;
      sum += logSum(row) - row[at<int32_t>(buffers, 1)[i]];
    }
    *at<float>(buffers, 3) = sum / (Rows * T);
  }

  // Tile v owns row v of the gradient, so no two threads add to one place.
  static void gradientKernel(void *const *buffers, void *scratch, int64_t first, int64_t last) {
    auto *chances = static_cast<float *>(scratch);
    for (int64_t v = first; v < last; ++v) {
      const float *row = at<float>(buffers, 2) + v * V;
      float *gradient = at<float>(buffers, 3) + v * V;
      float total = logSum(row), loss = 0;
      for (int u = 0; u < V; ++u) {
        chances[u] = std::exp(row[u] - total);
        gradient[u] = 0;
      }
      for (int i = 0; i < B * T; ++i) {
        if (at<int32_t>(buffers, 0)[i] != v)
          continue;
        int target = at<int32_t>(buffers, 1)[i];
        loss += total - row[target];
        for (int u = 0; u < V; ++u)
          gradient[u] += (chances[u] - (u == target ? 1.0f : 0.0f)) / (B * T);
      }
      at<float>(buffers, 4)[v] = loss;
    }
  }

  static void sumKernel(void *const *buffers, void *, int64_t, int64_t) {
    float sum = 0;
    for (int v = 0; v < V; ++v)
      sum += at<float>(buffers, 0)[v];
    *at<float>(buffers, 1) = sum / (B * T);
  }

  static void updateKernel(void *const *buffers, void *, int64_t first, int64_t last) {
    int64_t step = *at<int64_t>(buffers, 3);
    auto seed = static_cast<uint64_t>(*at<int64_t>(buffers, 4));
    float rate = ExplodeAt >= 0 && step >= ExplodeAt ? INFINITY : 0.5f;
    for (int64_t i = first * V; i < last * V; ++i) {
      float &momentum = at<float>(buffers, 1)[i];
      momentum = 0.9f * momentum + at<float>(buffers, 2)[i];
      uint32_t bits = mekikRandomBits(seed, MEKIK_STREAM_DROP, static_cast<uint64_t>(step), static_cast<uint64_t>(i));
      if (bits % 8 != 0)
        at<float>(buffers, 0)[i] -= rate * momentum;
    }
  }

  static constexpr MekikBuffer read(uint64_t offset, uint64_t bytes, int64_t parts) {
    return {offset, bytes, MEKIK_WORK, 0, parts};
  }
  static constexpr MekikBuffer write(uint64_t offset, uint64_t bytes, int64_t parts) {
    return {offset, bytes, MEKIK_WORK, 1, parts};
  }
  static constexpr uint64_t exactTableBytes = V * V * 4;
  static constexpr MekikBuffer table = {0, exactTableBytes, MEKIK_PARAMETERS, 0, 1},
                               tableByRows = {0, exactTableBytes, MEKIK_PARAMETERS, 0, V},
                               newTable = {0, exactTableBytes, MEKIK_PARAMETERS, 1, V},
                               newMomentum = {0, exactTableBytes, MEKIK_STATE, 1, V};

  static constexpr MekikBuffer initBuffers[] = {read(seedAt, 8, 1), newTable};
  static constexpr MekikBuffer forwardBuffers[] = {read(tokensAt, T * 4, T), table, write(logitsAt, T * V * 4, T)};
  static constexpr MekikBuffer lossBuffers[] = {read(tokensAt, T * 4, 1), read(nextAt, T * 4, 1), table,
                                                write(lossAt, 4, 1)};
  static constexpr MekikBuffer gradientBuffers[] = {read(tokensAt, B * T * 4, 1), read(nextAt, B * T * 4, 1),
                                                    tableByRows, write(gradientAt, exactTableBytes, V),
                                                    write(rowLossAt, V * 4, V)};
  static constexpr MekikBuffer sumBuffers[] = {read(rowLossAt, V * 4, 1), write(lossAt, 4, 1)};
  static constexpr MekikBuffer updateBuffers[] = {newTable, newMomentum, read(gradientAt, exactTableBytes, V),
                                                  read(stepAt, 8, 1), read(seedAt, 8, 1)};

  template <size_t N>
  static constexpr MekikDispatch dispatch(MekikKernel kernel, const char *name, const MekikBuffer (&buffers)[N],
                                          int64_t tiles) {
    return {kernel, name, buffers, tiles, static_cast<int32_t>(N), 0, 1e6, {1e5, 1e4, 0}};
  }
  static constexpr MekikDispatch initDispatches[] = {dispatch(initKernel, "init", initBuffers, V)};
  static constexpr MekikDispatch forwardDispatches[] = {dispatch(forwardKernel, "rows", forwardBuffers, T)};
  static constexpr MekikDispatch lossDispatches[] = {dispatch(lossKernel<1>, "loss", lossBuffers, 1)};
  static constexpr MekikDispatch stepDispatches[] = {dispatch(gradientKernel, "gradient", gradientBuffers, V),
                                                     dispatch(sumKernel, "sum", sumBuffers, 1),
                                                     dispatch(updateKernel, "update", updateBuffers, V)};

  static constexpr MekikTensor ids(const char *name, MekikRole role, int64_t rows, uint64_t offset) {
    return {name, role, MEKIK_I32, MEKIK_WORK, 2, {rows, T}, offset, static_cast<uint64_t>(rows * T * 4), V};
  }
  static constexpr MekikTensor scalar(const char *name, MekikRole role, MekikElementType type, uint64_t bytes,
                                      uint64_t offset) {
    return {name, role, type, MEKIK_WORK, 0, {}, offset, bytes, 0};
  }
  static constexpr MekikTensor initTensors[] = {scalar("seed", MEKIK_SEED, MEKIK_I64, 8, seedAt)};
  static constexpr MekikTensor forwardTensors[] = {
      ids("tokens", MEKIK_INPUT, 1, tokensAt),
      {"logits", MEKIK_OUTPUT, MEKIK_F32, MEKIK_WORK, 3, {1, T, V}, logitsAt, T * V * 4, 0}};
  static constexpr MekikTensor lossTensors[] = {ids("tokens", MEKIK_INPUT, 1, tokensAt),
                                                ids("next", MEKIK_TARGET, 1, nextAt),
                                                scalar("loss", MEKIK_LOSS, MEKIK_F32, 4, lossAt)};
  static constexpr MekikTensor stepTensors[] = {
      ids("tokens", MEKIK_INPUT, B, tokensAt), ids("next", MEKIK_TARGET, B, nextAt),
      scalar("step", MEKIK_STEP, MEKIK_I64, 8, stepAt), scalar("seed", MEKIK_SEED, MEKIK_I64, 8, seedAt),
      scalar("loss", MEKIK_LOSS, MEKIK_F32, 4, lossAt)};

  template <size_t N, size_t M>
  static constexpr MekikFunction function(const char *name, const MekikTensor (&tensors)[N],
                                          const MekikDispatch (&dispatches)[M]) {
    return {name, tensors, dispatches, N, M, workBytes, pad(V * 4)};
  }
  static constexpr MekikFunction functions[] = {
      function("init", initTensors, initDispatches), function("forward", forwardTensors, forwardDispatches),
      function("loss", lossTensors, lossDispatches), function("train_step", stepTensors, stepDispatches)};
  static constexpr MekikTensor tensors[] = {
      {"table", MEKIK_PARAMETER, MEKIK_F32, MEKIK_PARAMETERS, 2, {V, V}, 0, V * V * 4, 0},
      {"table", MEKIK_OPTIMIZER_STATE, MEKIK_F32, MEKIK_STATE, 2, {V, V}, 0, V * V * 4, 0}};

  static constexpr MekikModel model = {MEKIK_ABI_MAGIC,
                                       MEKIK_ABI_VERSION,
                                       sizeof(MekikModel),
                                       "bigram",
                                       "00000000000000000000000000000000000000000000000000000000b16ea300",
                                       "0.1.0",
                                       "hand-written",
                                       "{\"vocab\":5,\"batch\":4,\"context\":6,\"steps\":40}",
                                       tensors,
                                       functions,
                                       std::size(tensors),
                                       std::size(functions),
                                       tableBytes,
                                       tableBytes,
                                       workBytes,
                                       pad(V * 4)};
};

} // namespace mekik::test

#endif
