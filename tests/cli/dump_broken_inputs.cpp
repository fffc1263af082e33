// Writes every broken alignment of the readers' tests into a folder, with expected.json beside
// them.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "pleat/bio/tests/broken_inputs.h"

int main(int count, char** values) {
    if (count != 2) {
        std::cerr << "usage: dump_broken_inputs FOLDER\n";
        return 2;
    }
    const std::string folder = values[1];
    nlohmann::json expected = nlohmann::json::array();
    for (const pleat::testing::BrokenInput& one : pleat::testing::broken_inputs()) {
        std::ofstream file(folder + "/" + one.name, std::ios::binary);
        file.write(one.bytes.data(), static_cast<std::streamsize>(one.bytes.size()));
        if (!file.flush()) return 1;
        expected.push_back({{"name", one.name},
                            {"format", one.format},
                            {"alphabet", one.alphabet},
                            {"refusal", one.refusal(one.name)}});
    }
    std::ofstream(folder + "/expected.json") << expected.dump(1) << '\n';
    return 0;
}
