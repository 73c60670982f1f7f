"""Runs code that nobody trusts, each role in a process of its own."""
