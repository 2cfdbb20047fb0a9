// Attention weights as a picture: one square a head, the darker the more weight, symbols along both sides.
#ifndef MEKIK_RUNTIME_APP_HEATMAP_H
#define MEKIK_RUNTIME_APP_HEATMAP_H

#include "runtime/sample/Attention.h"
#include <string>

namespace mekik::app {

/// "layer.0.attention.weights, head 2" for models of several heads.
std::string headTitle(const sample::AttentionHead &head);

/// An SVG document that needs nothing from outside. The heads of a probe stand in a row, at most six beside each other.
std::string heatMapSvg(const sample::Attention &attention, std::string_view title);

} // namespace mekik::app

#endif
