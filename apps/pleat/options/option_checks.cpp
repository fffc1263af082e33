// Option checks: a check of CLI11's.
#include "options/option_checks.h"

namespace pleat::program {

void refuse_empty(CLI::App& command, std::initializer_list<const char*> names) {
    const auto check = [](const std::string& text) {
        return text.empty() ? std::string("expected a name, found none") : std::string();
    };
    for (const char* const name : names)
        command.get_option(std::string("--") + name)->check(CLI::Validator(check, ""));
}

CLI::Validator not_standard_output() {
    const auto check = [](const std::string& text) {
        return text == "-" ? std::string(
                                 "results cannot go to standard output; name a file or "
                                 "folder (./- for one that is called -)")
                           : std::string();
    };
    return {check, ""};
}

void add_output(CLI::App& command, std::string& output, const char* kind, const std::string& help) {
    command.add_option("-o,--output", output, help)
        ->type_name(kind)
        ->required()
        ->group("Run")
        ->check(not_standard_output());
    refuse_empty(command, {"output"});
}

}  // namespace pleat::program
