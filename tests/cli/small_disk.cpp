// Small disk: a library to preload, with which a program finds 1000 bytes of disk space everywhere.
#include <sys/statvfs.h>

namespace {
constexpr unsigned long kFree = 1000;
}

extern "C" int statvfs(const char* /*path*/, struct statvfs* disk) noexcept {
    *disk = {};
    disk->f_bavail = kFree;
    disk->f_frsize = 1;
    return 0;
}
