// Given text: a check of CLI11's.
#include "given_text.h"

namespace pleat::program {

void refuse_empty(CLI::App& command, std::initializer_list<const char*> names) {
    const auto check = [](const std::string& text) {
        return text.empty() ? std::string("expected a name, found none") : std::string();
    };
    for (const char* const name : names)
        command.get_option(std::string("--") + name)->check(CLI::Validator(check, ""));
}

void add_output(CLI::App& command, std::string& output, const char* kind, const std::string& help) {
    command.add_option("-o,--output", output, help)->type_name(kind)->required()->group("Run");
    refuse_empty(command, {"output"});
}

}  // namespace pleat::program
