"""From source to something that runs, one file a way."""
