"""Read untrusted archives in a sandboxed child process with limits on time and memory."""
