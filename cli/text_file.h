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

/// Makes `folder` where it is missing. InputError when it cannot be made or written, so that a long
/// run does not fail at its end.
void require_writable_folder(const std::filesystem::path& folder);

}  // namespace exotune::cli
