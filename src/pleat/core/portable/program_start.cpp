// The program's first call, by the linker's --wrap. From 2.34 on, glibc itself calls the
// constructors of a program's globals, and crt1.o no longer tells it how; an older glibc expects to
// be told.
#include <cstddef>

extern "C" {
using Main = int(int, char**, char**);

int __real___libc_start_main(Main* main, int count, char** words, Main* before, void (*after)(),
                             void (*at_exit)(), void* stack);

#pragma GCC visibility push(hidden)
extern void (*const __init_array_start[])(int, char**, char**);
extern void (*const __init_array_end[])(int, char**, char**);

int __wrap___libc_start_main(Main* main, int count, char** words, Main*, void (*after)(),
                             void (*at_exit)(), void* stack) {
    const auto construct = [](int given, char** arguments, char** environment) {
        for (auto* one = __init_array_start; one != __init_array_end; ++one) {
            (*one)(given, arguments, environment);
        }
        return 0;
    };
    return __real___libc_start_main(main, count, words, construct, after, at_exit, stack);
}
#pragma GCC visibility pop
}  // extern "C"
