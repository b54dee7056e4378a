"""Notices of a refusal, the lender's letter, and the register of both.

`form` reads the blocks of a notice, `lender` reads the sender, `notice` makes a document of both and a plan, `register`
records each notice.
"""
