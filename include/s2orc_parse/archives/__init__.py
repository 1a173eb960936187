"""Archives from outside are read in a child process of its own: sandboxed, with limits on time and memory."""
