// JSON: depths up to the limit are taken, and deeper ones refused in one line.
#include "pleat/core/files/parse_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

nlohmann::ordered_json parsed(const std::string& text) {
    return parse_json(std::vector<std::uint8_t>(text.begin(), text.end()), "some.json");
}

std::string nested(int depth, const std::string& open, const std::string& close) {
    std::string text;
    for (int n = 0; n < depth; ++n) text += open;
    text += "1";
    for (int n = 0; n < depth; ++n) text += close;
    return text;
}

TEST(ParseJson, TakesWhatIsNotTooDeep) {
    EXPECT_EQ(parsed("{\"b\": [1, 2], \"a\": null}").dump(), "{\"b\":[1,2],\"a\":null}");
    EXPECT_EQ(parsed(nested(100, "[", "]")).dump(), nested(100, "[", "]"));
    for (const char* text : {"", "[", "{\"a\"", "[1] 2", "\xff"})
        EXPECT_TRUE(parsed(text).is_discarded()) << text;
}

TEST(ParseJson, RefusesWhatIsTooDeep) {
    for (const auto& text :
         {nested(101, "[", "]"), nested(101, "{\"a\":", "}"), nested(200000, "[", "]"),
          std::string(200000, '['), nested(100000, "[{\"a\":", "}]")})
        EXPECT_EQ(test::error_text<InputError>([&] { parsed(text); }),
                  "some.json: expected JSON at most 100 lists or objects deep, found more");
}

TEST(RequireJson, SaysWhereTheTextIsNoJson) {
    const auto complaint = [](const std::string& text) {
        return test::error_text<InputError>([&] {
            require_json(std::vector<std::uint8_t>(text.begin(), text.end()), "some.json");
        });
    };
    const std::string finite = "expected JSON, which allows no NaN or Infinity, found ";
    EXPECT_EQ(complaint("{\"a\": 1,\n \"b\": NaN}"),
              "some.json:2: " + finite + "'NaN' at character 7 of the line");
    EXPECT_EQ(complaint("[1,\n\n-Infinity]"),
              "some.json:3: " + finite + "'-Infinity' at character 1 of the line");
    EXPECT_EQ(complaint("[nan, 1]"), "some.json:1: " + finite + "'nan' at character 2 of the line");
    EXPECT_EQ(complaint("[Nancy]"), "some.json:1: expected JSON, found 'Nancy'");
    EXPECT_EQ(complaint("[1] 2"), "some.json:1: expected JSON, found '2'");
    EXPECT_EQ(complaint("a\tb"), "some.json:1: expected JSON, found 'a'");
    EXPECT_EQ(complaint("[1e3080]"),
              "some.json: expected numbers below 1e308 in JSON, found a larger one");
    for (const char* text : {"", "[", "{\"a\""})
        EXPECT_EQ(complaint(text),
                  "some.json:1: expected JSON, found the end of the file too early")
            << text;
}

}  // namespace
}  // namespace pleat
