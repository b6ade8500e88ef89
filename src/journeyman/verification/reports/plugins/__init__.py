"""Programs that are loaded into test runners inside the sandbox, never into the server.

They are data to everything else here: written into the sandbox as they are, for the interpreter and the
packages of the project, which may be years older than ours.
"""
