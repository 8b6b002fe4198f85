// Makes the kernel refuse a system call, as the seccomp profile of a container does.
//
// It cannot be undone: for a child process that ends soon, such as that of a death test.
#pragma once

namespace leat {

// From now on system call `number` fails with `posix_errno` in this process. False when the kernel
// does not let us.
bool refuse_system_call(long number, int posix_errno);

}  // namespace leat
