// The picture of a training run: training and validation loss over steps, as SVG that any browser shows.
#ifndef MEKIK_RUNTIME_TRAIN_LOSSCURVE_H
#define MEKIK_RUNTIME_TRAIN_LOSSCURVE_H

#include "runtime/train/RunState.h"
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mekik::train {

/// Points that are not finite, or beyond a billion, are left out. `best`, if given, is marked.
std::string lossCurveSvg(std::span<const Evaluation> history, const std::optional<Evaluation> &best,
                         std::string_view title);

} // namespace mekik::train

#endif
