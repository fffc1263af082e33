# Writes OUTPUT from INPUT with the commit of the sources in SOURCE; leaves it alone if nothing changes.
# git says which commit it is; archives of the sources have it in commit.txt.
cmake_minimum_required(VERSION 3.25)

if(EXISTS ${SOURCE}/.git)
  # The folder may belong to another user than the one who builds.
  execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} describe --always --dirty
      --exclude=* --abbrev=12
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
else()
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/commit.txt COMMIT LIMIT_COUNT 1)
endif()
if(NOT COMMIT MATCHES "^[0-9a-f]+(-dirty)?$")
  set(COMMIT "")
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)
