// Tests of SHA-256 against the published vectors, and of streaming.
#include "pleat/core/files/hash.h"

#include <gtest/gtest.h>

#include <random>

#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

std::string sha256(const std::string& text) { return Sha256().add(text.data(), text.size()).hex(); }

// The examples of FIPS 180-2, appendix B, and the empty message of the NIST test vectors.
TEST(Sha256, PublishedVectors) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheSame) {
    std::mt19937_64 random(5);
    for (std::size_t length = 0; length < 260; ++length) {
        std::string text(length, '\0');
        for (char& c : text) c = static_cast<char>(random());
        Sha256 hash;
        for (std::size_t at = 0; at < length;) {
            const std::size_t n = std::min<std::size_t>(1 + random() % 90, length - at);
            hash.add(text.data() + at, n);
            (void)hash.hex();
            at += n;
        }
        EXPECT_EQ(hash.hex(), sha256(text)) << length;
    }
}

TEST(Sha256, FieldsAreToldApart) {
    EXPECT_NE(Sha256().field("ab").field("c").hex(), Sha256().field("a").field("bc").hex());
    EXPECT_EQ(Sha256().field(3).hex(), Sha256().field(std::int64_t{3}).hex());
    EXPECT_NE(Sha256().field(3).hex(), Sha256().field(3.0).hex());
    const Array<float, 2> wide(2, 3), tall(3, 2);
    EXPECT_NE(Sha256().field(wide.view()).hex(), Sha256().field(tall.view()).hex());
}

TEST(Sha256, Files) {
    test::TemporaryFolder folder;
    const std::string text(3'000'000, 'x');
    test::spill(folder / "a", text);
    const FileHash hash = hash_file(folder / "a");
    EXPECT_EQ(hash.bytes, 3'000'000);
    EXPECT_EQ(hash.sha256, sha256(text));
    EXPECT_THROW(hash_file(folder / "absent"), InputError);
    EXPECT_THROW(hash_file(folder.path()), InputError);
}

}  // namespace
}  // namespace pleat
