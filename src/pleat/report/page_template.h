// Page template: the built page that the program carries.
#pragma once

#include <string_view>

namespace pleat::report {

/// report/dist/page.html as it was when the program was built.
std::string_view page_template();

}  // namespace pleat::report
