"""The HTTP API: one router per noun, errors as problem+json, and the files of the web UI."""
