# The four kinds of targets, so that a folder's CMakeLists.txt is a list of files and nothing else.

add_library(leat_options INTERFACE)
target_compile_options(leat_options INTERFACE -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor
                                              -fvisibility=hidden -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlaps in std::string that are not there (GCC bug 105651), and where the library was
  # precompiled it does not hold back what it thinks of the library's own loops. The sanitizers know.
  target_compile_options(leat_options INTERFACE
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
  if(LEAT_SANITIZE)
    # Instrumented code confuses this analysis; the sanitizers and the release build see the truth.
    target_compile_options(leat_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(leat_options INTERFACE -Wthread-safety)
endif()
if(LEAT_SANITIZE)
  # Without no-recover undefined behaviour is only printed, and the test passes.
  target_compile_options(leat_options INTERFACE -fsanitize=${LEAT_SANITIZE}
                                                -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(leat_options INTERFACE -fsanitize=${LEAT_SANITIZE})
endif()
target_include_directories(leat_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(leat_options INTERFACE fmt::fmt Threads::Threads)

# leat_precompile(NAME FIRST HEADER…): the target NAME parses these headers once for all its files, or
# takes what the target FIRST, of the same kind, has parsed. It only saves time: every file includes
# what it uses. Clang's hold the place of the clone, so that ccache would know nothing of another one:
# it goes without, and finds the file that does not include what it uses.
function(leat_precompile NAME FIRST)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(TARGET ${FIRST} AND NOT NAME STREQUAL FIRST)
    target_precompile_headers(${NAME} REUSE_FROM ${FIRST})
  else()
    target_precompile_headers(${NAME} PRIVATE ${ARGN})
  endif()
endfunction()
set(LEAT_COMMON_HEADERS <algorithm> <array> <chrono> <cstdint> <fmt/format.h> <functional> <map> <memory>
                        <optional> <span> <string> <string_view> <vector>)

# leat_library(NAME SOURCES … DEPENDS …): one folder of the engine.
function(leat_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC leat_options ${ARG_DEPENDS})
  if(LEAT_FUZZ)
    # A fuzzer steers by what it reaches in the engine; in the tests themselves nobody asks.
    target_compile_options(${NAME} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  leat_precompile(${NAME} leat_base ${LEAT_COMMON_HEADERS})
endfunction()

# leat_embed(SOURCE NAMESPACE::FUNCTION FILE…): sets SOURCE to a source that is made of text files and
# defines std::span<const leat::EmbeddedFile> NAMESPACE::FUNCTION() noexcept.
function(leat_embed SOURCE FUNCTION)
  string(REGEX REPLACE "^.*::" "" name ${FUNCTION})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DFUNCTION=${FUNCTION}" "-DFILES=${files}" -P ${script}
    DEPENDS ${files} ${script} VERBATIM)
  set(${SOURCE} ${output} PARENT_SCOPE)
endfunction()

# The tests labelled "concurrent", which the tsan stage of scripts/test-deep.sh builds and runs.
add_custom_target(concurrent_tests)

# leat_test(NAME SOURCES … DEPENDS … [LABELS …] [TIMEOUT S]): one test program of a folder.
function(leat_test NAME)
  if(NOT LEAT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  # The engine beneath is optimised as users get it; its tests need half the time to build so.
  target_compile_options(${NAME} PRIVATE -O1)
  leat_precompile(${NAME} leat_base_test ${LEAT_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  add_test(NAME ${NAME} COMMAND ${NAME} --gtest_brief=1)
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  if("concurrent" IN_LIST ARG_LABELS)
    add_dependencies(concurrent_tests ${NAME})
  endif()
endfunction()

# leat_fuzzer(NAME SOURCES … DEPENDS …): one libFuzzer program, with its seeds in fuzz/seeds/NAME.
function(leat_fuzzer NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPENDS})
  target_link_options(${NAME} PRIVATE -fsanitize=fuzzer)
  add_test(NAME ${NAME} COMMAND ${PROJECT_SOURCE_DIR}/scripts/fuzz.sh $<TARGET_FILE:${NAME}>)
  # FUZZ_SECONDS ends it; ctest's own limit must not.
  set_tests_properties(${NAME} PROPERTIES LABELS fuzz TIMEOUT 1000000)
endfunction()
