"""Published snapshots: their files, and the pointer to the newest complete snapshot.

Files are written deterministically: equal rows give equal bytes.
"""
