// Buffers in one arena: what lives at the same time never overlaps, everything is aligned, and what is over makes room.
#include "compiler/memory/ArenaPlanner.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using mekik::memory::ArenaSize;
using mekik::memory::Lifetime;
using mekik::memory::placeInArena;

namespace {

constexpr int64_t kAlignment = 64;

TEST(Arena, NothingThatLivesAtTheSameTimeOverlaps) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Lifetime> buffers(1 + random() % 30);
    for (Lifetime &buffer : buffers) {
      buffer.bytes = 1 + random() % 300;
      buffer.first = int64_t(random() % 20) - 1; // -1: there before the first dispatch
      buffer.last = buffer.first + random() % 6;
    }
    const std::vector<Lifetime> wanted = buffers;
    ArenaSize size = placeInArena(buffers, kAlignment);
    for (size_t i = 0; i < buffers.size(); ++i) {
      const Lifetime &one = buffers[i];
      ASSERT_TRUE(one.bytes == wanted[i].bytes && one.first == wanted[i].first && one.last == wanted[i].last);
      ASSERT_GE(one.offset, 0);
      ASSERT_EQ(one.offset % kAlignment, 0);
      ASSERT_LE(one.offset + one.bytes, size.bytes);
      for (size_t j = 0; j < i; ++j) {
        const Lifetime &other = buffers[j];
        bool together = one.first <= other.last && other.first <= one.last;
        bool overlap = one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes;
        ASSERT_FALSE(together && overlap)
            << "round " << round << ": buffer " << i << ", " << one.bytes << " bytes at " << one.offset << ", and buffer "
            << j << ", " << other.bytes << " bytes at " << other.offset;
      }
    }
    ASSERT_GE(size.bytes, size.lowerBound);
  }
}

TEST(Arena, ABufferThatIsReadByTheDispatchThatWritesAnotherLivesBesideIt) {
  std::vector<Lifetime> buffers = {{64, 0, 1}, {64, 1, 2}};
  EXPECT_EQ(placeInArena(buffers, kAlignment).bytes, 128);
  EXPECT_NE(buffers[0].offset, buffers[1].offset);
}

TEST(Arena, WhatIsOverMakesRoom) {
  // A chain in which each value is read by the next dispatch alone: two places, taken in turn.
  std::vector<Lifetime> chain;
  for (int64_t i = 0; i < 10; ++i)
    chain.push_back({100, i, i + 1});
  ArenaSize size = placeInArena(chain, kAlignment);
  EXPECT_EQ(size.bytes, 256);
  EXPECT_EQ(size.lowerBound, 256);
  // A small buffer lies in the gap between two large ones that it never meets, or below.
  std::vector<Lifetime> gap = {{256, 0, 3}, {128, 0, 1}, {64, 2, 3}, {64, 2, 3}};
  EXPECT_EQ(placeInArena(gap, kAlignment).bytes, 384);
  std::vector<Lifetime> none;
  EXPECT_EQ(placeInArena(none, kAlignment).bytes, 0);
}

TEST(Arena, PlacesDependOnSizesAndTimesAlone) {
  std::vector<Lifetime> buffers;
  for (int64_t i = 0; i < 200; ++i)
    buffers.push_back({64 + 64 * (i % 3), i % 17, i % 17 + i % 4});
  std::vector<std::vector<Lifetime>> copies(8, buffers);
  for (std::vector<Lifetime> &copy : copies)
    placeInArena(copy, kAlignment);
  for (const std::vector<Lifetime> &copy : copies)
    for (size_t i = 0; i < copy.size(); ++i)
      ASSERT_EQ(copy[i].offset, copies[0][i].offset) << "buffer " << i;
}

} // namespace
