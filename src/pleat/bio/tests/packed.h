// Packed: gzip and Zstandard made in memory, for tests.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <zlib.h>
#include <zstd.h>

namespace pleat::testing {

/// One gzip member that holds `bytes`; level 0 stores them as they are.
inline std::string gzipped(std::string_view bytes, int level = 9) {
    z_stream stream = {};
    constexpr int kGzipOnly = 16, kMemory = 8;
    if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + kGzipOnly, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::runtime_error("deflateInit2");
    }
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int status = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (status != Z_STREAM_END) throw std::runtime_error("deflate");
    return packed;
}

/// One Zstandard frame, with its checksum, that holds `bytes`.
inline std::string zstandard(std::string_view bytes) {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    std::string packed(ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t size =
        ZSTD_compress2(context, packed.data(), packed.size(), bytes.data(), bytes.size());
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size)) throw std::runtime_error(ZSTD_getErrorName(size));
    packed.resize(size);
    return packed;
}

}  // namespace pleat::testing
