"""The command line: an HTTP client of the server, and the commands that start and check one."""
