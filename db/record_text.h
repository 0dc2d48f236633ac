#pragma once
// Records as text and bytes: the JSON lines of export and import, the blob of samples.
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"

namespace exotune {

/// A trial with its rank in the context. What of a trial's standing is not in the trial itself: a
/// merge needs it to decide again.
struct RankedTrial {
  TrialRecord trial;
  bool winner = false;
  bool settled = false;  // named by set_winner
};

/// One number that was found out on some machine, with whose it is.
struct NamedFigure {
  FigureKey key;
  std::string name;
  double value = 0;
};

/// Everything a database holds.
struct Contents {
  std::vector<MachineRecord> machines;
  std::vector<std::pair<std::string, std::string>> kernels;  // hash, name
  std::vector<RankedTrial> trials;
  std::vector<NamedFigure> figures;
};

/// One line, without its newline.
/// Every line is one JSON object with a "type"; the header line comes first and names the format.
std::string header_line();
std::string machine_line(const MachineRecord& machine);
std::string kernel_line(const std::string& hash, const std::string& name);
std::string trial_line(const RankedTrial& trial);
std::string figure_line(const NamedFigure& figure);

/// Reads what the functions above wrote. InputError with `name` and the line for anything else.
Contents read_json_lines(std::istream& in, const std::string& name);

/// 8 bytes a sample, little endian.
std::string samples_blob(const std::vector<double>& samples);
/// Nothing when the length is no multiple of 8 or a sample is not finite.
std::optional<std::vector<double>> samples_of_blob(const void* data, size_t bytes);

/// The record as it is stored: valid UTF-8, finite samples, their median.
TrialRecord normalised(TrialRecord trial);
/// Of an even number the mean of the middle two; exact for the largest doubles too.
double median_of_samples(std::vector<double> samples);

/// `text` with every byte that is not part of valid UTF-8, and every NUL, replaced by '?'.
std::string valid_utf8(const std::string& text);

/// Figures of this kind say what the user of this machine named for a run: they never leave the
/// database and never come from another.
inline constexpr const char* kTrustKind = "trusted";

/// True for the status names of the runners.
bool known_status(const std::string& status);

}  // namespace exotune
