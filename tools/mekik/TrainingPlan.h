// The arithmetic of training a model: operations of a symbol, of the run as configured and of a run of the size that
// the model deserves, and how long they take at a given speed.
#ifndef MEKIK_TOOLS_MEKIK_TRAINING_PLAN_H
#define MEKIK_TOOLS_MEKIK_TRAINING_PLAN_H

#include "runtime/estimate/Machine.h"
#include "tools/mekik/Plan.h"
#include <optional>

namespace mekik::tool {

/// For a parameter count N the rule of thumb is 6 N operations a symbol: 2 N forward and 4 N backward. It leaves out
/// attention, which grows with the context, and counts embeddings that are only looked up; `countedPerSymbol` is what
/// the compiled step does. The other rule of thumb: 20 symbols for each parameter make the best of a given amount of
/// work.
struct TrainingPlan {
  std::string unit; // "symbol" of a model about text, else "example"
  int64_t unitsPerStep = 0;
  int64_t steps = 0; // of the configuration; 0: it has none
  double parameters = 0;
  double rulePerUnit = 0;     // 6 N
  double countedPerUnit = 0;  // operations of train_step / unitsPerStep
  double configuredUnits = 0; // steps * unitsPerStep
  double deservedUnits = 0;   // 20 N; 0 for models that are not about text
  estimate::MachineSpeed speed;
  bool speedIsGiven = false; // by the user, not by measuring

  double configuredOperations() const { return configuredUnits * countedPerUnit; }
  double deservedOperations() const { return deservedUnits * countedPerUnit; }
};

/// The part that needs no machine; empty if the model cannot be trained.
std::optional<TrainingPlan> makeTrainingPlan(const Plan &plan);

std::string trainingForPeople(const TrainingPlan &training);
/// A JSON object.
std::string trainingForPrograms(const TrainingPlan &training);

} // namespace mekik::tool

#endif
