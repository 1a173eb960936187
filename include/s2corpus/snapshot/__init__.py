"""Published snapshots: their files, and the pointer to the newest complete snapshot.

The bytes of a file depend only on its content.
"""
