// pleat: the program.
#include "commands.h"

int main(int count, char** values) { return pleat::program::run_program(count, values); }
