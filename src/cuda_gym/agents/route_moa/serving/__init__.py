"""A mixture behind OpenAI's chat completions, on this machine's loopback address.

opening     the mixture of one request, from a roster
experience  what answers tell of the models
request     what is asked
reply       what is answered
work        an answer in the making, in a thread of its own
stoppable   models whose calls end when nobody waits for them
handler     one connection: which requests are let in, what is sent
server      connections, and the end of all of them
"""
