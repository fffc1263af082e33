// Page template: the built page that is embedded in the program.
#pragma once

#include <string_view>

namespace pleat::report {

/// The content of report/dist/page.html when the program was built.
std::string_view page_template();

}  // namespace pleat::report
