"""What each tool says, one page a tool: the conclusion, the evidence in the order of its use, what to do next.

Not covered: how long a text may be; `observation` cuts it.
"""
