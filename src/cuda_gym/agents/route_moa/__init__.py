"""RouteMoA: a mixture of language models that is routed before any of them is called.

    roster         which models there are, at what price and speed
    scorer         how likely each answers a query right, from the query alone
    judges         what the answers that exist anyway tell about that
    ranking        performance, cost and latency in one number
    layers         route, propose, assess, exit or go on, aggregate
    mixture_model  the same as one Model: messages in, text and cost out
    bill           every token of every call
    calls          models asked side by side, in time and within a budget
    baselines      what a mixture has to beat, in the same code
    serving        a mixture behind OpenAI's chat completions

Follows arXiv 2601.18130; where its published code falls short, docs/route_moa.md says what is done instead.
"""
