# cmake -DOUTPUT=F.cc -DFUNCTION=ns::f -DFILES=a;b -P embed.cmake: text files as a C++ source.
#
# Each becomes a raw string, so that the source can be read and a debugger shows what is served.
string(REGEX REPLACE "::[^:]*$" "" namespace "${FUNCTION}")
string(REGEX REPLACE "^.*::" "" function "${FUNCTION}")

set(rows "")
foreach(path IN LISTS FILES)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" text)
  file(SIZE "${path}" bytes)
  file(SHA256 "${path}" digest)
  string(LENGTH "${text}" length)  # in bytes, for CMake
  if(NOT length EQUAL bytes OR text MATCHES "\\)embedded\"")
    message(FATAL_ERROR "${path} is not text, or holds the end of a raw string")
  endif()
  string(APPEND rows "    {\"${name}\", \"${digest}\",\n     R\"embedded(${text})embedded\"},\n")
endforeach()

file(WRITE "${OUTPUT}" "// Made by cmake/embed.cmake.
#include \"leat/base/embedded_file.h\"

namespace ${namespace} {

std::span<const leat::EmbeddedFile> ${function}() noexcept;

std::span<const leat::EmbeddedFile> ${function}() noexcept {
  static constexpr leat::EmbeddedFile kFiles[] = {
${rows}  };
  return kFiles;
}

}  // namespace ${namespace}
")
