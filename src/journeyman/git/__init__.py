"""Git as the platform uses it: mirrors, workspaces, commits, snapshots and pushes.

Every git directory here is ours. An agent writes files and never a git directory, so nothing it writes
can configure, hook or redirect the git that runs outside its sandbox.
"""
