"""Read archives from outside in a sandboxed child process with limits on time and memory."""
