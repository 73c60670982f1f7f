"""The command line: one file a verb, `main` reads what was typed."""
