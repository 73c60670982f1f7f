"""The world an agent acts in."""
