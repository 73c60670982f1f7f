"""Whoever acts: one interface, one file an agent."""
