#pragma once
// Files as the user names them: reading a source, and publishing results by rename so that nobody
// ever sees half of one.
#include <filesystem>
#include <string>

namespace exotune::cli {

/// The whole file. InputError when it is missing, a folder, or unreadable; the hint names the
/// nearest file beside it.
std::string read_text_file(const std::filesystem::path& path);

/// Writes `text` to a temporary file beside `path` and renames it there; makes missing folders.
/// InputError when the place cannot be written.
void write_text_file(const std::filesystem::path& path, const std::string& text);

}  // namespace exotune::cli
