"""How fast, and on what?"""
