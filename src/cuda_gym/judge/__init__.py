"""Turns a Task and a Submission into a Verdict; `judge.py` is the only door to one."""
