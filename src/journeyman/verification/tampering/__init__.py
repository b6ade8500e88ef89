"""What a change did to the means by which it is judged: tests, assertions, settings, CI.

Everything here is a comparison of file contents. Nothing of the repository is run, and a finding is shown to
a reviewer: it never fails a change by itself.
"""
