"""Is it right, and is it honest?"""
