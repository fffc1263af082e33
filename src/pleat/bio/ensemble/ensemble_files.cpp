// Ensemble files: looking into folders and lists.
#include "pleat/bio/ensemble/ensemble_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

namespace fs = std::filesystem;

bool is_list(const std::string& source) { return source.size() > 1 && source.front() == '@'; }

void add_files(const std::vector<std::string>& paths, EnsembleFiles& files) {
    for (const std::string& path : paths) {
        files.paths.push_back(path);
        files.names.push_back(name_without_endings(path));
        files.folders.push_back(-1);
    }
}

/// Returns a subfolder or other input that the user could give instead of a folder without
/// coordinate files; empty if there is none.
std::string folder_within(const fs::path& folder, Relaxation wanted) {
    for (const fs::directory_entry& entry : entries_of(folder)) {
        std::error_code ignored;
        if (!entry.is_directory(ignored)) continue;
        try {
            if (const auto models = find_models(entry.path(), wanted))
                return fmt::format("; its folder {} has models of {}",
                                   entry.path().filename().string(), name_of(models->program));
        } catch (const InputError&) {
            continue;  // it is no folder to recommend
        }
    }
    return {};
}

void add_folder(const std::string& folder, Relaxation wanted, EnsembleFiles& files) {
    std::optional<ModelFolder> found = find_models(folder, wanted);
    if (!found) {
        const std::vector<std::string> paths = coordinate_files(folder);
        if (paths.empty())
            throw InputError(folder, 0,
                             fmt::format("expected a folder with coordinate files (.pdb, .cif, "
                                         ".dcd, .xtc, ...), found none{}",
                                         folder_within(folder, wanted)));
        if (wanted == Relaxation::relaxed)
            throw InputError(folder, 0,
                             "expected models of AlphaFold 2 or ColabFold for --relaxed, found "
                             "other files; leave --relaxed out");
        return add_files(paths, files);
    }
    for (const PredictedModel& model : found->models) {
        files.paths.push_back(model.file);
        files.names.push_back(model.name);
        files.folders.push_back(std::ssize(files.models));
    }
    files.notes.push_back(
        {NoteKind::format,
         fmt::format("{}: {} model{} of {}{}", folder, found->models.size(),
                     found->models.size() == 1 ? "" : "s", name_of(found->program),
                     found->is_ranked ? ", the best first" : ", in the order of their names")});
    files.notes.insert(files.notes.end(), found->notes.begin(), found->notes.end());
    files.models.push_back(std::move(*found));
}

}  // namespace

EnsembleFiles list_ensemble_files(const std::vector<std::string>& sources, Relaxation wanted) {
    EnsembleFiles files;
    for (const std::string& source : sources) {
        if (is_list(source)) {
            const std::string list = source.substr(1);
            const std::vector<std::uint8_t> text = read_file(list, kMaxListBytes);
            add_files(
                parse_path_list(list, std::string_view(reinterpret_cast<const char*>(text.data()),
                                                       text.size())),
                files);
        } else if (source != "-" && is_folder(source)) {
            add_folder(source, wanted, files);
        } else {
            add_files({source}, files);
        }
    }
    if (files.paths.empty()) throw UsageError("expected files of coordinates, found none");
    if (wanted == Relaxation::relaxed && files.models.empty())
        throw UsageError(
            "--relaxed chooses among the models in a folder of AlphaFold 2 or ColabFold; give the "
            "folder, or leave --relaxed out");
    return files;
}

std::vector<std::string> ensemble_files(const std::vector<std::string>& sources,
                                        Relaxation wanted) {
    return list_ensemble_files(sources, wanted).paths;
}

void check_ensemble_files(const std::vector<std::string>& sources) {
    for (const std::string& source : sources)
        if (!is_list(source) || !is_read_once(source.substr(1)))
            check_readable(ensemble_files({source}));
}

void refuse_ensemble_pipes(const std::vector<std::string>& sources, std::string_view reason) {
    for (const std::string& source : sources) {
        refuse_pipes({is_list(source) ? source.substr(1) : source}, reason);
        if (is_list(source)) refuse_pipes(ensemble_files({source}), reason);
    }
}

}  // namespace pleat
