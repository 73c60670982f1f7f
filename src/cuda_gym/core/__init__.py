"""The nouns of this project. Standard library only; plain numbers and strings, no arrays.

    device    Device                                    where kernels run
    task      Task, Submission                          what is to be computed, what an agent handed in
    findings  Findings, Build, Diagnostic, ...          what compile and verify saw
    verdict   Verdict, Timing, Profile, ...             a timed judgement: only it pays
    episode   Action, Observation, Turn, Episode        what goes between an agent and an environment
    plain     as_plain                                  any of them as plain data

All are frozen and compare by value. "Not there" is None. Units stand in the names.
"""
